"""The check of secrets must see what it is for: python3 tests/lint/secrets_compared_test.py"""

import pathlib
import unittest

import secrets_compared
from tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[2]


def problems(**texts):
    files = {f"src/{name.replace('__', '/')}.hpp": text for name, text in texts.items()}
    return list(secrets_compared.check(Tree(files, files.__getitem__)))


class Check(unittest.TestCase):
    def test_a_comparison_of_the_text_is_reported(self):
        for code in ("given == token.reveal()", "token.reveal() != given", "a.reveal() == b.reveal()",
                     "given == options->token.reveal()", "token.reveal().compare(given)", "token.reveal() <=> given",
                     "std::memcmp(given.data(), token.reveal().data(), 5)", "std::ranges::equal(given, token.reveal())"):
            with self.subTest(code):
                self.assertEqual(problems(admin__endpoints=f"// Of a token.\nbool is = {code};\n"),
                                 ["src/admin/endpoints.hpp:2: compares the text of a secret; use Secret::equals"])

    def test_other_uses_are_fine(self):
        for code in ("token.equals(given)", "send(token.reveal())", "token.reveal().size() < 8", "one == other"):
            with self.subTest(code):
                self.assertEqual(problems(admin__endpoints=f"bool is = {code};  // not token.reveal() == given\n"), [])

    def test_the_type_itself_compares_the_whole_text(self):
        real = (ROOT / secrets_compared.TYPE).read_text(encoding="utf-8")
        self.assertEqual(problems(base__secret=real), [])
        for old, new in (("return one.equals(other.text_);", "return one.text_ == other.text_;"),
                         ("return difference == 0;", "return given == text_;")):
            self.assertIn(old, real)
            self.assertEqual(len(problems(base__secret=real.replace(old, new))), 1)
        default = "friend bool operator==(const Secret&, const Secret&) = default;\n"
        self.assertEqual(len(problems(base__secret=real.replace(" private:", default + " private:"))), 1)


if __name__ == "__main__":
    unittest.main()
