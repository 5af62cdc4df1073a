"""The check of units must see what it is for: python3 tests/lint/units_test.py"""

import unittest

import units
from tree import Tree


class Check(unittest.TestCase):
    def of(self, *names, **options):
        texts = options.get("texts", {})
        return list(units.check(Tree([*names, *texts], lambda name: texts.get(name, "")), options.get("exceptions", {})))

    def test_a_unit_with_a_test_is_fine(self):
        self.assertEqual(self.of("src/jwt/key.cpp", "src/jwt/key.hpp", "tests/unit/jwt/key_test.cpp"), [])

    def test_a_unit_without_a_test_is_reported(self):
        self.assertEqual(self.of("src/jwt/key.cpp", "tests/unit/jwt/key_set_test.cpp", "tests/unit/rules/key_test.cpp"),
                         ["src/jwt/key.cpp:1: has no test of its own; write tests/unit/jwt/key_test.cpp"])

    def test_headers_of_types_and_other_rooms_need_no_test(self):
        self.assertEqual(self.of("src/json/read.hpp", "src/loop/stream.cpp", "src/main.cpp"), [])

    def test_a_header_that_decides_needs_a_test_unless_it_has_a_source_file(self):
        for code in ("  if (a) b();", "  for (;;) {", "  } while (a);", "  switch (a) {", "  return a ? b : c;",
                     "  return (a) ? b : c;"):
            with self.subTest(code):
                texts = {"src/jwt/key.hpp": f"// A key.\n{code}\n"}
                self.assertEqual(self.of(texts=texts),
                                 ["src/jwt/key.hpp:1: has no test of its own; write tests/unit/jwt/key_test.cpp"])
                self.assertEqual(self.of("tests/unit/jwt/key_test.cpp", texts=texts), [])
                self.assertEqual(self.of("src/jwt/key.cpp", "tests/unit/jwt/key_test.cpp", texts=texts), [])

    def test_what_a_comment_says_decides_nothing(self):
        self.assertEqual(self.of(texts={"src/jwt/key.hpp": "// Null if (and only if) it is empty.\nstruct Key {\n"
                                                           "  int number = 0;  ///< for (the) log\n};\n"}), [])

    def test_an_exception_needs_no_test(self):
        self.assertEqual(self.of("src/base/time.cpp", exceptions={"src/base/time.cpp": "reason"}), [])

    def test_an_exception_that_is_not_needed_is_reported(self):
        self.assertEqual(
            self.of("src/base/time.cpp", "tests/unit/base/time_test.cpp",
                    exceptions={"src/base/time.cpp": "reason", "src/base/gone.cpp": "reason"}),
            [f"tests/lint/units.py:1: {name} is an exception, but has a test or does not exist; remove it"
             for name in ("src/base/gone.cpp", "src/base/time.cpp")])


if __name__ == "__main__":
    unittest.main()
