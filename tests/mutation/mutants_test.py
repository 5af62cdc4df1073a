"""Which mutants are made of a source: python3 tests/mutation/mutants_test.py"""

import unittest

from mutants import Mutant, mutants_of, shuffled


def changes(source):
    return [(mutant.before, mutant.after) for mutant in mutants_of("a.cpp", source)]


class Mutants(unittest.TestCase):
    def test_change_operators(self):
        for source, expected in (
            ("a < b", [("<", "<=")]),
            ("a <= b", [("<=", "<")]),
            ("a > b", [(">", ">=")]),
            ("a >= b", [(">=", ">")]),
            ("a == b", [("==", "!=")]),
            ("a != b", [("!=", "==")]),
            ("a && b", [("&&", "||")]),
            ("a ||\n    b", [("||", "&&")]),
            ("a + b - c", [("+", "-"), ("-", "+")]),
            ("a * b / c", [("*", "/"), ("/", "*")]),
            ("a += b", [("+=", "-=")]),
            ("a << b | c", [("<<", ">>"), ("|", "&")]),
            ("++a; b--;", [("++", "--"), ("--", "++")]),
            ("!a", [("!", "")]),
            ("f(true, false)", [("true", "false"), ("false", "true")]),
        ):
            with self.subTest(source=source):
                self.assertEqual(changes(source), expected)

    def test_change_constants(self):
        for source, expected in (
            ("0", [("0", "1")]),
            ("1U", [("1U", "0U")]),
            ("1'000", [("1'000", "1001")]),
            ("0x1fU", [("0x1fU", "32U")]),
            ("16s", [("16s", "17s")]),
            ("'a'", [("'a'", "'b'")]),
            ("'&'", [("'&'", "'a'")]),
            ("'['", [("'['", "'\\\\'")]),
            (r"'\\'", [(r"'\\'", "' '")]),
            (r"'\x7f'", [(r"'\x7f'", "' '")]),
            ("0.5", []),
        ):
            with self.subTest(source=source):
                self.assertEqual(changes(source), expected)

    def test_delete_early_returns(self):
        self.assertEqual(changes("if (a) return f([] { return; });\nreturn b;"),
                         [("return f([] { return; });", "{}")])

    def test_leave_everything_else(self):
        for source in (
            "std::vector<const T*> f(T&& a, const U& b, V* c)",
            "template <class T>",
            "a->b; *c; -d; &e;",
            "int8_t a2;",
            "// a < 1",
            "/* a < 1\n b == 2 */",
            "#if A > 1",
            "#define A \\\n  1",
            "static_assert(sizeof(int) == 4);",
            "bool operator==(const A&) const;",
            "auto operator<=>(const A&) const;",
            '"a < 1 \\" + 2"',
            'R"(a < "1" + 2)"',
        ):
            with self.subTest(source=source):
                self.assertEqual(changes(source), [])

    def test_after_skipped_text_are_found(self):
        self.assertEqual(changes('f("//") + 1; // 2\n3'), [("+", "-"), ("1", "0"), ("3", "4")])


class Applied(unittest.TestCase):
    source = "int a;\nif (b < c) return 1;\n"

    def test_changes_one_place(self):
        self.assertEqual([mutant.applied(self.source) for mutant in mutants_of("a.cpp", self.source)],
                         ["int a;\nif (b <= c) return 1;\n", "int a;\nif (b < c) {}\n",
                          "int a;\nif (b < c) return 0;\n"])

    def test_refuses_another_source(self):
        with self.assertRaisesRegex(ValueError, "a.cpp: no '<' at offset 2"):
            Mutant("a.cpp", 2, "<", "<=").applied(self.source)

    def test_place_counts_lines_and_columns_from_one(self):
        self.assertEqual([mutant.place(self.source) for mutant in mutants_of("a.cpp", self.source)],
                         ["a.cpp:2:7", "a.cpp:2:12", "a.cpp:2:19"])


class Shuffled(unittest.TestCase):
    sources = {"b.cpp": "1 + 2 + 3", "a.cpp": "4 * 5"}

    def test_has_every_mutant_once(self):
        found = shuffled(self.sources, "7")
        self.assertEqual(len(set(found)), len(found))
        self.assertEqual(sorted(mutant.path for mutant in found), ["a.cpp"] * 3 + ["b.cpp"] * 5)

    def test_depends_on_the_seed_and_not_on_the_order_of_the_files(self):
        other_order = dict(reversed(self.sources.items()))
        self.assertEqual(shuffled(self.sources, "7"), shuffled(other_order, "7"))
        self.assertNotEqual(shuffled(self.sources, "7"), shuffled(self.sources, "8"))


if __name__ == "__main__":
    unittest.main()
