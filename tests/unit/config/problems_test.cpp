// The table of problems.txt: every rule that rejects a configuration, with the position and the
// words of its message.
#include <fstream>

#include "catch.hpp"
#include "source_directory.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

struct TableCase {
  int line = 0;  ///< of problems.txt
  std::string yaml;
  std::vector<std::string> problems;
};

/// Removes the mark, such as "> ", from the line; returns false if the line has none.
bool take(std::string_view mark, std::string& line) {
  const bool has_mark = line.starts_with(mark);
  if (has_mark) line.erase(0, mark.size());
  return has_mark;
}

std::vector<TableCase> read_cases() {
  std::ifstream file(WEIR_SOURCE_DIR "/tests/unit/config/problems.txt");
  std::vector<TableCase> cases;
  std::string before;
  std::string after;
  TableCase next;
  int number = 0;
  const auto finish = [&] {
    if (next.problems.empty()) return;
    next.yaml = before + next.yaml + after;
    cases.push_back(std::exchange(next, {}));
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (take("> ", line)) {
      next.problems.push_back(line);
      if (next.line == 0) next.line = number;
      continue;
    }
    finish();
    if (line.starts_with("## ")) {
      before.clear();
      after.clear();
    } else if (take("<< ", line)) {
      before += line + "\n";
    } else if (take(">> ", line)) {
      after += line + "\n";
    } else if (!line.empty()) {
      next.yaml += line + "\n";
    }
  }
  finish();
  return cases;
}

/// True if `text` begins with the first part of `pattern`, and has the other ones after it: parts
/// are separated by " ... ".
bool matches(std::string_view text, std::string_view pattern) {
  constexpr std::string_view gap = " ... ";
  for (bool is_first = true;; is_first = false) {
    const std::size_t end = pattern.find(gap);
    const std::string_view part = pattern.substr(0, end);
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos || (is_first && at != 0)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(end + gap.size());
  }
}

std::string shown(const Diagnostic& one, std::string_view kind) {
  std::string text = one.to_string();
  const std::size_t end = one.line == 0 ? 0 : text.find(": ") + 2;
  return text.insert(end, kind);
}

/// The problems of a text; if it loads, its warnings.
std::vector<std::string> reported_about(const std::string& yaml) {
  const Loaded loaded = load_text(yaml, test::environment({{"SPACE", "a b"}}));
  std::vector<std::string> all;
  for (const Diagnostic& one : loaded ? (*loaded)->presentation.warnings : loaded.error())
    all.push_back(shown(one, loaded ? "warning: " : ""));
  return all;
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts)
    lines += "> " + text + "\n";
  return lines;
}

/// The secrets of the table begin with 0123456789abcdef and are never shown.
TEST_CASE("every rule reports its position, what is wrong, and what to write") {
  const std::vector<TableCase> cases = read_cases();
  REQUIRE(cases.size() > 300);
  for (const TableCase& one : cases) {
    const std::vector<std::string> found = reported_about(one.yaml);
    INFO("problems.txt:" << one.line << ", found:\n" << lines_of(found));
    const bool is_warning = one.problems.front().find(": warning: ") != std::string::npos;
    for (std::size_t i = 0; i < one.problems.size(); ++i) {
      const auto is_it = [&](const std::string& text) { return matches(text, one.problems[i]); };
      CAPTURE(one.problems[i]);
      const bool is_there =
          is_warning ? std::ranges::any_of(found, is_it) : i < found.size() && is_it(found[i]);
      CHECK(is_there);
    }
    if (!is_warning) CHECK(found.size() == one.problems.size());
    CHECK(lines_of(found).find("0123456789abcdef") == std::string::npos);
  }
}

TEST_CASE("all problems are reported at once, in the order of the file, and none twice") {
  CHECK(test::problems_of(R"(listn: []
workers: none
policies:
  a: {rate: 10/1s, brst: 20, anchor: clock, queue: 4}
  a: {}
  broken: {rate: often}
routes:
  - limits: [{policy: broken}, {policy: b, key: clint}]
)") == R"(1:1: listn: unknown key "listn"; did you mean "listen"?
2:10: workers: expected auto or a whole number from 1 to 256 (here "none")
4:20: policies.a.brst: unknown key "brst"; did you mean "burst"?
4:38: policies.a.anchor: anchor has no meaning for gcra: remove it, or use fixed_window or attributed_window
4:52: policies.a.queue: queue has no meaning for gcra: remove it, or use leaky_bucket
5:3: policies: duplicate key "a"; it is already on line 4; keep one, with all that belongs to it
6:18: policies.broken.rate: expected a rate: COUNT/DURATION, such as 100/1m or 5/s (here "often")
8:5: routes[0]: expected exactly one of upstream, respond and decide; write one, such as upstream: NAME
8:41: routes[0].limits[1].policy: no policy is called "b"; known here: a, broken
8:49: routes[0].limits[1].key: no identity is called "clint"; did you mean "client"?
)");
}

TEST_CASE("lists and values have bounds") {
  const auto has = [](const std::string& yaml, const char* problem) {
    return test::problems_of(yaml).find(problem) != std::string::npos;
  };
  std::string many = "policies: {p: {rate: 10/s}}\nroutes: [{respond: {}, limits: [";
  for (std::size_t i = 0; i <= limiter::limits_per_route; ++i)
    many += "{policy: p},";
  CHECK(has(many + "]}]", "routes[0].limits: more than 16 entries"));
  CHECK(has("denied: {headers: {x: " + std::string(4097, 'a') + "}}\n" + test::route_tail,
            "denied.headers.x: the value is longer than 4096 bytes"));
}

TEST_CASE("of a file with many mistakes the first hundred are reported") {
  std::string yaml = test::route_tail;
  for (int i = 0; i < 500; ++i)
    yaml += "key" + std::to_string(i) + ": 1\n";
  const std::string problems = test::problems_of(yaml);
  CHECK(std::count(problems.begin(), problems.end(), '\n') == 101);
  CHECK(problems.ends_with("\nand 400 more\n"));
}

}  // namespace
}  // namespace weir::config
