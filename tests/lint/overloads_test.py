"""The check of overloads must see what it is for: python3 tests/lint/overloads_test.py"""

import unittest

import overloads
from tree import Tree


def complaints(**files):
    texts = {f"src/room/{name.replace('_', '.')}": text for name, text in files.items()}
    return list(overloads.check(Tree(texts, texts.get)))


LOCAL = "namespace weir {\nnamespace {\nvoid check(int) {}\n}\n}"


class Overloads(unittest.TestCase):
    def test_a_local_function_with_the_name_of_another_is_found(self):
        for other in ("void check(const char*);", "namespace weir { template <class T> bool check(T) { return {}; } }",
                      "static int check();"):
            with self.subTest(other=other):
                self.assertEqual(complaints(a_cpp=LOCAL, b_hpp=other), [
                    "src/room/a.cpp:3: check is local to this file and also declared in src/room/b.hpp:1; rename it"])
        self.assertEqual(complaints(a_cpp="static void check() {}", b_cpp=LOCAL), [
            "src/room/b.cpp:3: check is local to this file and also declared in src/room/a.cpp:1; rename it"])

    def test_other_uses_of_a_name_are_none(self):
        for other in ("struct Box { void check(); };", "void Box::check() {}", "int n = check(1);", "// void check();",
                      "void run() { check(1); }", "class Box {\n  friend void check();\n};", "void recheck();"):
            with self.subTest(other=other):
                self.assertEqual(complaints(a_cpp=LOCAL, b_hpp=other), [])

    def test_overloads_of_one_file_and_shared_ones_are_none(self):
        self.assertEqual(complaints(a_cpp=LOCAL + "namespace { void check(int, int); }"), [])
        self.assertEqual(complaints(a_cpp="void check() {}", a_hpp="void check();", b_cpp="void check(int) {}"), [])
        texts = {"src/one/a.cpp": LOCAL, "src/two/a.cpp": LOCAL}
        self.assertEqual(list(overloads.check(Tree(texts, texts.get))), [])


if __name__ == "__main__":
    unittest.main()
