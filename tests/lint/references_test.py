"""The check of references must see what it is for: python3 tests/lint/references_test.py"""

import unittest

import references
from tree import Tree

FILES = {
    "CMakeLists.txt": "set(header /generated/store/parts.hpp)\nadd_executable(weir src/main.cpp)\n",
    "docs/a.md": "# A page\n",
    "docs/adr/0001-x.md": "# 0001: X\n",
    "lua/gcra.lua": "-- As in src/rules/gcra.cpp.\n",
    "script/test": "",
    "src/main.cpp": "// Made from store/parts.hpp by cmake.\n#include \"gone/away.hpp\"\n",
    "src/http/fields.hpp": "enum class FieldId { a };\n// a \"RateLimit\" field\n",
    "src/rules/gcra.cpp": "// See rules/gcra.hpp and docs/a.md.\n",
    "src/rules/gcra.hpp": "struct GcraState;\nstruct [[nodiscard]] Level { int remaining; };\nint ceil_div(int a);\n",
    "src/rules/policy.hpp": "enum class Algorithm { gcra };\nclass alignas(64) Shard {};\nusing TierCounters = int;\n",
    "src/store/store.hpp": "class Store { void acquire(rules::Level, other::Result); };\nrules::ceil_div(1);\n",
    "tests/unit/rules/gcra_test.cpp": "// With unit/rules/model.hpp.\n",
    "tests/unit/rules/model.hpp": "",
}


def tree_with(**files):
    names = {"md": "docs/t.md", "lua": "lua/gcra.lua", "cmake": "CMakeLists.txt", "cpp": "src/main.cpp"}
    every = dict(FILES, **{names[key]: text for key, text in files.items()})
    return Tree(every, every.get)


class References(unittest.TestCase):
    def assert_fine(self, check, *texts):
        for text in texts:
            with self.subTest(text=text):
                self.assertEqual(list(check(tree_with(md=text))), [])

    def assert_found(self, check, *texts):
        """Each text has one problem, in its second line."""
        for text in texts:
            with self.subTest(text=text):
                found = list(check(tree_with(md="Text:\n" + text)))
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("docs/t.md:2: "), found[0])

    def test_all_checks_are_called(self):
        found = list(references.check(tree_with(md="`src/gone.cpp` `rules::Gone` [x](gone.md)")))
        self.assertEqual(found, ["docs/t.md:1: src/gone.cpp does not exist",
                                 "docs/t.md:1: rules::Gone is not in the tree",
                                 "docs/t.md:1: the link gone.md leads to no file"])


class Paths(References):
    def test_that_exist(self):
        self.assert_fine(references.check_paths, "`src/rules/gcra.cpp`", "`src/rules`", "`rules/gcra.hpp`",
                         "`rules/gcra.*`", "`rules/gcra`", "`script/test --all`", "`tests/unit/ROOM/NAME_test.cpp`",
                         "`tests/unit/ROOM`", "`gcra.hpp`", "`src/`", "`adr/0001-x.md`", "`*_test.cpp`")

    def test_that_are_not_of_the_tree(self):
        self.assert_fine(references.check_paths, "`text/plain`", "`/etc/weir/weir.yaml`", "`100/1m`", "`http/1.1`",
                         "`a.example`", "src/gone.cpp", "```\n`src/gone.cpp`\n```")

    def test_that_do_not_exist(self):
        self.assert_found(references.check_paths, "`src/rules/gone.cpp`", "`rules/gone.hpp`", "`gone/gcra.hpp`",
                          "`lua/gone.lua`", "`rules/gone.*`", "`script/gone --all`", "`gone.hpp`", "`tests/it/ROOM`",
                          "`docs/gone.md`", "[text](`src/gone.cpp`) and `src/rules/gcra.cpp`",
                          "`src/main.cpp` `src/gone`")

    def test_in_comments(self):
        self.assertEqual(list(references.check_paths(tree_with())), [])
        for file, text in (("lua", "-- src/rules/gone.cpp"), ("cpp", "int i;  // see rules/gone.hpp"),
                           ("cpp", "// docs/gone.md"), ("cmake", "set_source_files_properties(src/gone/main.cpp)")):
            with self.subTest(text=text):
                found = list(references.check_paths(tree_with(**{file: "\n" + text})))
                self.assertEqual(len(found), 1 if file != "cmake" else 2, found)
                self.assertRegex(found[0], r"^[\w./]+:[12]: [\w./]+ does not exist$")
        for text in ("// etc/gone.hpp", "// ../gone/main.cpp", "// https://a.example/src/gone.cpp"):
            with self.subTest(text=text):
                self.assertEqual(list(references.check_paths(tree_with(cpp=text))), [])


class Names(References):
    def test_that_exist(self):
        self.assert_fine(references.check_names, "`rules::Level`", "`weir::rules::Level`", "`Level::remaining`",
                         "`rules::Level::remaining`", "`rules::ceil_div`", "`rules::ceil_div()`", "`rules::Algorithm`",
                         "`rules::Shard`", "`TierCounters`", "`Store::acquire`", "`ceil_div`", "`RateLimit`")

    def test_that_are_not_of_the_tree(self):
        self.assert_fine(references.check_names, "`std::function`", "`asio::post`", "`Connection`", "`max`",
                         "`used_memory`", "`weir::ROOM`", "```\nrules::Gone\n```")

    def test_that_do_not_exist(self):
        self.assert_found(references.check_names, "`rules::Gone`", "`Level::gone`", "`rules::Level::gone`",
                          "`GoneAway`", "`gone_away`", "`gone_away()`", "`rules::gone()`", "`Gone::remaining`")

    def test_are_defined_in_their_room(self):
        self.assert_found(references.check_names, "`store::Level`", "`store::ceil_div`", "`http::Store`",
                          "`store::Result`")

    def test_need_more_than_a_declaration(self):
        self.assert_found(references.check_names, "`rules::GcraState`")


class Links(References):
    PAGE = "# Title\n## What `code` is, and [why](a.md)\n## Twice\n## Twice\n```\n# no heading\n```\n"

    def test_that_lead_somewhere(self):
        for link in ("a.md", "../docs/a.md", "adr/", "#title", "a.md#a-page", "#what-code-is-and-why", "#twice",
                     "#twice-1", "https://a.example/gone", "mailto:a@example"):
            with self.subTest(link=link):
                self.assertEqual(list(references.check_links(tree_with(md=f"{self.PAGE}[x]({link})"))), [])
        self.assert_fine(references.check_links, "`[x](gone.md)`", "```\n[x](gone.md)\n```")

    def test_that_lead_nowhere(self):
        self.assert_found(references.check_links, "[x](gone.md)", "[x](docs/a.md)", "[x](#gone)", "[x](a.md#gone)",
                          "[x](../lua/gone.lua)")
        for anchor in ("#no-heading", "#twice-2", "#What-code"):
            with self.subTest(anchor=anchor):
                self.assertEqual(len(list(references.check_links(tree_with(md=f"{self.PAGE}[x]({anchor})")))), 1)


if __name__ == "__main__":
    unittest.main()
