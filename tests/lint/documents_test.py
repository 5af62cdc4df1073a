"""The comparison of documents with the tree must see what it is for: python3 tests/lint/documents_test.py"""

import unittest

import documents
from tree import Tree

CMAKE = """
weir_room(base)
weir_room(rules USES base)
weir_room(store USES base rules)
weir_room(app USES base store)
"""

CONTRIBUTING = """# Contributing

| room | content | uses |
|---|---|---|
| `base` | time | |
| `rules` | arithmetic | `base` |
| `store` | states | `rules` |
| `app` | the process | `store` |

`base` and `rules` are pure: no I/O.

## Adding an algorithm
The lint reads this.

1. `src/rules/NAME.hpp`, `src/rules/NAME.cpp`: a state. `src/rules/unchecked.cpp` is no place.
2. `docs/algorithms.md`,
   `lua/parts.lua`: a section.
3. Tests: whatever there is.

## Adding an identity source
1. `src/identity/identity.cpp`: how it is read.

## License
1. `no/place.cpp`: not a recipe.
"""

EXCHANGE = """
| phase | `Phase` | limited by |
|---|---|---|
| read head | `idle`, then `head` | `head_timeout` |

| `Failure` | fault | answer |
|---|---|---|
| `head_malformed` | client | 400 |
| `target_too_long` | client | 414 |
| `client_gone` | client | none; logged as 499 |
| `upstream_broken` | upstream | 502 |
| `overloaded` | Weir | 503 |
"""

OPERATIONS = """
| name | type | labels | |
|---|---|---|---|
| `weir_requests_total` | counter | `outcome` | `answered`, or `broken` |
| `weir_connections` | gauge | | open |
| `weir_store_errors_total` | counter | `kind` | Kinds: `timeout`, `other` |

## Access log
| field | |
|---|---|
| `time` | start |
| `status`, `route` | of the response |
| `decision` | `allowed` (at once), null |
"""

FILES = {
    "CMakeLists.txt": CMAKE,
    "CONTRIBUTING.md": CONTRIBUTING,
    "docs/README.md": "[a](algorithms.md) [b](fuzzing.md) [c](glossary.md) [d](reference-exchange.md) "
                      "[e](operations.md) [f](performance.md)",
    "README.md": "Two algorithms.",
    "bench/instructions.json": '{"rows": {"plain": 12345, "log": 8}}',
    "docs/adr/0001-the-store-owns-the-clock.md": "# 0001: One\n`base` and\n`rules` must not read a clock.",
    "docs/adr/0002-b.md": "# 0002: Two\n",
    "docs/adr/README.md": "| | |\n|---|---|\n| [0001](0001-the-store-owns-the-clock.md) | One |\n"
                          "| [0002](0002-b.md) | Two |\n",
    "docs/algorithms.md": "The two algorithms: `gcra`, `leaky_bucket`",
    "docs/fuzzing.md": "| target | input |\n|---|---|\n| `head` | bytes |\n",
    "docs/glossary.md": "| **pure room** | one without I/O: `base`, `rules` | layers.py |\n",
    "docs/reference-exchange.md": EXCHANGE,
    "docs/operations.md": OPERATIONS,
    "docs/performance.md": "| work | instructions/request |\n|---|---:|\n| no limits | 12,345 |\n| a log | 8 |\n",
    "lua/parts.lua": "gcra LeakyBucketState",
    "src/admin/metrics.cpp": 'outcomes{{\n  {"answered", &C::a},\n  {"broken", &C::b},\n}};\n'
                             'out.family("weir_requests_total", "counter", "Requests.");\n'
                             'out.family(\n    "weir_connections",\n "gauge", "Open.");\n'
                             'counter("weir_store_errors_total", "Errors.", [] {});\n',
    "src/http/failure.hpp": """
enum class Failure : std::uint8_t {
  none,
  // the client's
  head_malformed,  ///< not HTTP, says the parser
  target_too_long,
  client_gone,
  // the upstream's
  upstream_broken,  ///< closed
  // ours
  overloaded,
};
""",
    "src/http/failure.cpp": """
constexpr std::array<Refusal, 6> answers{{
    {0, ""},
    {400, "the request head, which is malformed"},
    http::target_too_long,
    {0, ""},
    {502, "broken"},
    {503, "overloaded"},
}};
""",
    "src/http/target.hpp": 'inline constexpr Refusal target_too_long{414, "too long"};\n',
    "src/identity/identity.cpp": "FromHeader any_of",
    "src/identity/identity.hpp": "struct Source {\n  std::variant<FromHeader, AnyOf> from;\n};\n",
    "src/log/access_log.cpp": 'Line(text).time(R"({"time":)", a).number(R"(,"status":)", b).text(R"(,"route":)", c)'
                              '.word(R"(,"decision":)", d);\n',
    "src/log/access_log.hpp": "enum class AccessDecision : std::uint8_t { none, allowed };\n",
    "src/loop/watchdog.hpp": "enum class Phase : std::uint8_t { idle, head };\n",
    "src/rules/gcra.cpp": "",
    "src/rules/gcra.hpp": "",
    "src/rules/leaky_bucket.cpp": "",
    "src/rules/leaky_bucket.hpp": "",
    "src/rules/policy.hpp": "enum class Algorithm : std::uint8_t {\n  gcra,\n  leaky_bucket,\n};\n",
    "src/store/error.hpp": "enum class Error : std::uint8_t { none, timeout, other };\n",
    "tests/fuzz/head_fuzz.cpp": "",
    "tests/unit/rules/gcra_test.cpp": "",
}


def complaints(check, **changes):
    """Of the check, after changes of FILES; None removes a file. A name is given without its punctuation."""
    names = {name.translate(str.maketrans("/.-", "___")): name for name in FILES}
    files = dict(FILES)
    for key, text in changes.items():
        if text is None:
            del files[names[key]]
        else:
            files[names.get(key, key)] = text
    return list(check(Tree(files, files.get)))


def pure_rooms(tree):
    return documents.check_pure_rooms(tree, ("base", "rules"))


class DocumentsCase(unittest.TestCase):
    def assert_found(self, check, *expected, **changes):
        self.assertEqual(complaints(check, **changes), list(expected))


class Everything(DocumentsCase):
    def test_is_fine_in_a_tree_that_agrees(self):
        for check in documents.CHECKS:
            if check is not documents.check_pure_rooms:
                with self.subTest(check=check.__name__):
                    self.assert_found(check)
        self.assert_found(pure_rooms)

    def test_is_called(self):
        named = {function for name, function in vars(documents).items() if name.startswith("check_")}
        self.assertEqual(named, set(documents.CHECKS))
        files = dict(FILES, **{"docs/README.md": "", "docs/fuzzing.md": ""})
        found = list(documents.check(Tree(files, files.get)))
        self.assertIn("docs/README.md:1: does not link to docs/algorithms.md", found)
        self.assertIn("docs/fuzzing.md:1: table of targets: head missing (see tests/fuzz)", found)


class Decisions(DocumentsCase):
    INDEX = FILES["docs/adr/README.md"]

    def test_a_page_without_a_line(self):
        self.assert_found(documents.check_decisions,
                          "docs/adr/README.md:1: the line '| [0002](0002-b.md) | Two |' is missing",
                          docs_adr_README_md=self.INDEX.replace("| [0002](0002-b.md) | Two |\n", ""))

    def test_a_line_without_a_page(self):
        self.assert_found(documents.check_decisions,
                          "docs/adr/README.md:4: no page of docs/adr has the number 0002, the file 0002-b.md and the "
                          "title 'Two'", docs_adr_0002_b_md=None)

    def test_another_title(self):
        found = complaints(documents.check_decisions, docs_adr_0001_the_store_owns_the_clock_md="# 0001: Uno\n")
        self.assertEqual(len(found), 2)
        self.assertIn("| [0001](0001-the-store-owns-the-clock.md) | Uno |", found[1])

    def test_a_heading_without_its_number(self):
        found = complaints(documents.check_decisions, docs_adr_0001_the_store_owns_the_clock_md="# One\n")
        self.assertEqual(found[0], "docs/adr/0001-the-store-owns-the-clock.md:1: the first line is not '# 0001: TITLE'")

    def test_a_gap(self):
        files = dict(FILES, **{"docs/adr/0004-d.md": "# 0004: Four\n",
                               "docs/adr/README.md": self.INDEX + "| [0004](0004-d.md) | Four |\n"})
        self.assertEqual(list(documents.check_decisions(Tree(files, files.get))),
                         ["docs/adr/0004-d.md:1: has the number 0004; write 0003, so that there are no gaps"])

    def test_the_order_and_a_line_twice(self):
        lines = self.INDEX.splitlines(keepends=True)
        for order in ((0, 1, 3, 2), (0, 1, 2, 3, 3)):
            with self.subTest(order=order):
                self.assert_found(documents.check_decisions,
                                  "docs/adr/README.md:1: the lines are not in the order of their numbers, each once",
                                  docs_adr_README_md="".join(lines[i] for i in order))


class Rooms(DocumentsCase):
    def test_a_new_room(self):
        self.assert_found(documents.check_room_table,
                          "CONTRIBUTING.md:5: table of rooms: loop missing (see CMakeLists.txt)",
                          CMakeLists_txt=CMAKE + "weir_room(loop USES base)\n")

    def test_a_removed_room(self):
        without_app = CMAKE.replace("weir_room(app USES base store)", "")
        found = complaints(documents.check_room_table, CMakeLists_txt=without_app)
        self.assertEqual(found[0], "CONTRIBUTING.md:5: table of rooms: app not in the tree (see CMakeLists.txt)")

    def test_another_order(self):
        swapped = CMAKE.replace("weir_room(base)\nweir_room(rules USES base)", "weir_room(rules)\nweir_room(base)")
        found = complaints(documents.check_room_table, CMakeLists_txt=swapped)
        self.assertIn("write rules, base, store, app", found[0])

    def test_uses_lists_the_nearest_rooms_only(self):
        for uses in ("`base`", "`rules`, `base`", "`store`", ""):
            with self.subTest(uses=uses):
                row = "| `store` | states | `rules` |"
                self.assert_found(documents.check_room_table,
                                  "CONTRIBUTING.md:7: the nearest rooms that store uses are rules",
                                  CONTRIBUTING_md=CONTRIBUTING.replace(row, f"| `store` | states | {uses} |"))

    def test_the_pure_rooms_are_the_same_everywhere(self):
        without_rules = CONTRIBUTING.replace("`base` and `rules` are", "`base` are")
        self.assert_found(pure_rooms, "CONTRIBUTING.md:10: the pure rooms are base, rules (PURE_ROOMS of "
                          "tests/lint/layers.py)", CONTRIBUTING_md=without_rules)
        self.assert_found(pure_rooms, "docs/glossary.md:1: does not list the pure rooms (base, rules)",
                          docs_glossary_md="nothing")
        self.assert_found(pure_rooms, "tests/lint/layers.py:1: the pure room rules has no weir_room() line in "
                          "CMakeLists.txt", CMakeLists_txt=CMAKE.replace("weir_room(rules USES base)", ""))

    def test_unit_tests_of_no_room(self):
        self.assert_found(documents.check_room_tests,
                          "tests/unit/rules:1: is not a room, so its tests are not built",
                          CMakeLists_txt=CMAKE.replace("weir_room(rules USES base)", ""))


class Failures(DocumentsCase):
    def test_a_failure_without_a_line_and_a_line_without_a_failure(self):
        row = "| `overloaded` | Weir | 503 |\n"
        self.assert_found(documents.check_failures,
                          "docs/reference-exchange.md:8: table of failures: overloaded missing (see "
                          "src/http/failure.hpp)",
                          docs_reference_exchange_md=EXCHANGE.replace(row, ""))
        self.assert_found(documents.check_failures,
                          "docs/reference-exchange.md:8: table of failures: gone not in the tree (see "
                          "src/http/failure.hpp)", docs_reference_exchange_md=EXCHANGE + "| `gone` | Weir | 503 |\n")

    def test_another_status(self):
        for before, after, expected in (("client | 400", "client | 401", "head_malformed with 400"),
                                        ("client | 414", "client | 41", "target_too_long with 414"),
                                        ("client | none; logged as", "client |", "client_gone with none")):
            with self.subTest(expected=expected):
                found = complaints(documents.check_failures, docs_reference_exchange_md=EXCHANGE.replace(before, after))
                self.assertEqual(len(found), 1)
                self.assertIn(f"src/http/failure.cpp answers {expected}", found[0])

    def test_another_fault(self):
        self.assert_found(documents.check_failures,
                          "docs/reference-exchange.md:11: src/http/failure.hpp lists upstream_broken as a failure of "
                          "'upstream'", docs_reference_exchange_md=EXCHANGE.replace("upstream | 502", "Weir | 502"))

    def test_what_cannot_be_compared(self):
        text = FILES["src/http/failure.cpp"].replace('    {502, "broken"},\n', "")
        self.assert_found(documents.check_failures,
                          "src/http/failure.cpp:1: cannot compare failures: 6 enumerators of Failure, 5 entries of "
                          "'answers' in the .cpp beside it", src_http_failure_cpp=text)
        self.assertEqual(len(complaints(documents.check_failures, src_http_failure_hpp=None)), 1)

    def test_phases(self):
        for phases, expected in (("idle, head, body", "body missing"), ("idle", "head not in the tree")):
            with self.subTest(phases=phases):
                self.assert_found(documents.check_phases, "docs/reference-exchange.md:4: table of timeouts: "
                                  f"{expected} (see src/loop/watchdog.hpp)",
                                  src_loop_watchdog_hpp=f"enum class Phase : std::uint8_t {{ {phases} }};\n")


class Operations(DocumentsCase):
    def test_metrics(self):
        text = FILES["src/admin/metrics.cpp"]
        self.assert_found(documents.check_metrics,
                          "docs/operations.md:1: table of metrics: weir_new_total missing (see src/admin)",
                          src_admin_metrics_cpp=text + 'counter("weir_new_total", "New.", [] {});\n')
        self.assert_found(documents.check_metrics,
                          "docs/operations.md:1: table of metrics: weir_connections not in the tree (see src/admin)",
                          src_admin_metrics_cpp=text.replace('"weir_connections"', "name_of_connections"))
        self.assert_found(documents.check_metrics, "docs/operations.md:5: weir_connections is a histogram",
                          src_admin_metrics_cpp=text.replace("gauge", "histogram"))

    def test_names_of_metrics_in_every_document(self):
        message = "docs/fuzzing.md:2: no metric has the name {} (see src/admin)"
        written = FILES["src/admin/metrics.cpp"] + 'family("weir_took_seconds", "histogram", "Took.");'
        for text, expected in (
                ("- expr: weir_request_total{outcome='broken'} > 0", "weir_request_total"),
                ("rate(weir_requests_total_count[5m])", "weir_requests_total_count"),
                ("`weir_took_seconds_buckets`", "weir_took_seconds_buckets"),
                ("`weir_connections2`", "weir_connections2"),
                ("rate(weir_requests_total[5m]), weir_connections, weir_took_seconds_bucket{le='1'}", None),
                ("weir_took_seconds_sum / weir_took_seconds_count", None),
                ("/run/secrets/weir_token, `weir_room()`, a `weir_` prefix", None)):
            with self.subTest(text=text):
                self.assert_found(documents.check_metric_names, *([message.format(expected)] if expected else []),
                                  src_admin_metrics_cpp=written, docs_fuzzing_md="# Fuzzing\n" + text)

    def test_kinds_of_errors(self):
        self.assert_found(documents.check_error_kinds,
                          "docs/operations.md:6: kinds: loading missing (see src/store/error.hpp)",
                          src_store_error_hpp="enum class Error { none, timeout, loading, other };\n")

    def test_outcomes(self):
        self.assert_found(documents.check_outcomes, "docs/operations.md:4: weir_requests_total can be broken",
                          docs_operations_md=OPERATIONS.replace("`broken`", "broken"))
        self.assert_found(documents.check_outcomes, "docs/operations.md:13: decision can be denied, error",
                          src_log_access_log_hpp="enum class AccessDecision { none, allowed, denied, error };\n")
        self.assert_found(documents.check_outcomes, "docs/operations.md:14: upstream_error can be reset",
                          docs_operations_md=OPERATIONS + "| `upstream_error` | `closed` |\n",
                          src_log_access_log_hpp="enum class UpstreamError { none, closed, reset };\n")

    def test_fields_of_the_access_log_in_their_order(self):
        text = FILES["src/log/access_log.cpp"]
        prefix = "docs/operations.md:8: table of access log fields: "
        self.assert_found(documents.check_access_log, prefix + "cost missing (see src/log/access_log.cpp)",
                          src_log_access_log_cpp=text + 'R"(,"cost":)"')
        swapped = text.replace("status", "x").replace("route", "status").replace("x", "route")
        self.assert_found(documents.check_access_log,
                          prefix + "the order is time, status, route, decision; write time, route, status, "
                          "decision (see src/log/access_log.cpp)", src_log_access_log_cpp=swapped)
        self.assert_found(documents.check_access_log,
                          prefix + "time, status, route, decision not in the tree (see access_log.cpp)",
                          src_log_access_log_cpp=None)


class Recipes(DocumentsCase):
    def test_a_new_algorithm_is_missing_everywhere(self):
        self.assert_found(
            documents.check_recipes,
            "CONTRIBUTING.md:15: 'Adding an algorithm' names src/rules/NAME.hpp: src/rules/new_one.hpp does not exist",
            "CONTRIBUTING.md:15: 'Adding an algorithm' names src/rules/NAME.cpp: src/rules/new_one.cpp does not exist",
            "CONTRIBUTING.md:16: 'Adding an algorithm' names docs/algorithms.md, which does not mention new_one",
            "CONTRIBUTING.md:16: 'Adding an algorithm' names lua/parts.lua, which does not mention new_one",
            src_rules_policy_hpp="enum class Algorithm { gcra, leaky_bucket, new_one };\n")

    def test_a_file_that_is_gone(self):
        self.assert_found(documents.check_recipes,
                          "CONTRIBUTING.md:16: 'Adding an algorithm' names lua/parts.lua: lua/parts.lua does not exist",
                          lua_parts_lua=None)

    def test_a_name_within_another_word_is_no_mention(self):
        for text in ("leaky_buckets", "leaky_bucket_old", "sneaky_leaky_bucket", "ALeakyBucket"):
            with self.subTest(text=text):
                self.assertEqual(len(complaints(documents.check_recipes, lua_parts_lua="gcra " + text)), 1)

    def test_an_identity_source_under_its_key_or_its_type(self):
        other = FILES["src/identity/identity.hpp"].replace("FromHeader", "FromClientAddress")
        self.assert_found(documents.check_recipes,
                          "CONTRIBUTING.md:21: 'Adding an identity source' names src/identity/identity.cpp, which does "
                          "not mention client_address", src_identity_identity_hpp=other)

    def test_a_recipe_that_is_gone_or_has_nothing_to_compare(self):
        self.assert_found(documents.check_recipes,
                          "CONTRIBUTING.md:1: 'Adding an algorithm': 0 places and 2 names to compare",
                          CONTRIBUTING_md=CONTRIBUTING.replace("## Adding an algorithm", "## Algorithms"))
        self.assert_found(documents.check_recipes,
                          "CONTRIBUTING.md:12: 'Adding an algorithm': 4 places and 0 names to compare",
                          src_rules_policy_hpp="")


class NumberOfAlgorithms(DocumentsCase):
    def test_is_the_same_everywhere(self):
        self.assert_found(documents.check_number_of_algorithms, "README.md:2: there are 2 algorithms",
                          README_md="One of\nthree algorithms.")
        self.assert_found(documents.check_number_of_algorithms, "README.md:1: there are 1 algorithms",
                          "docs/algorithms.md:1: there are 1 algorithms",
                          src_rules_policy_hpp="enum class Algorithm { gcra };")


class Instructions(DocumentsCase):
    def test_a_value_that_was_recorded_again(self):
        self.assert_found(documents.check_instructions,
                          "docs/performance.md:3: table of instructions: write 12,345; 9 (see bench/instructions.json)",
                          bench_instructions_json='{"rows": {"plain": 12345, "log": 9}}')
        self.assertEqual(len(complaints(documents.check_instructions, docs_performance_md="# Performance")), 1)


class Lists(DocumentsCase):
    def test_a_document_that_is_not_in_the_index(self):
        self.assert_found(documents.check_index, "docs/README.md:1: does not link to docs/algorithms.md",
                          docs_README_md=FILES["docs/README.md"].replace("[a](algorithms.md)", "algorithms.md"))

    def test_fuzz_targets(self):
        self.assert_found(documents.check_fuzz_targets,
                          "docs/fuzzing.md:3: table of targets: head not in the tree (see tests/fuzz)",
                          tests_fuzz_head_fuzz_cpp=None)


if __name__ == "__main__":
    unittest.main()
