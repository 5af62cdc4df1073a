// Scalars of YAML 1.1, merge keys and JSON.
#include "config/yaml11.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

/// The value of `a` in a file.
Node value_of(const std::string& text) {
  std::vector<Diagnostic> problems;
  return parse_document("a: " + text, problems).value().find("a")->value;
}

std::string json_of(const std::string& text) {
  std::vector<Diagnostic> problems;
  const std::string json = json_of_yaml11(value_of(text), problems);
  return problems.empty() ? json : problems.front().to_string();
}

TEST_CASE("scalars have the values of YAML 1.1") {
  struct Row {
    const char* text;
    const char* json;
  };
  const Row rows[] = {
      // Nothing, and flags.
      {"", "null"},
      {"~", "null"},
      {"null", "null"},
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"FALSE", "false"},
      {"off", "false"},
      {"yEs", R"("yEs")"},
      // Whole numbers.
      {"0", "0"},
      {"-12", "-12"},
      {"+12", "12"},
      {"1_000", "1000"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"0o17", "15"},
      {"017", "15"},
      {"-0x10", "-16"},
      {"9223372036854775807", "9223372036854775807"},
      // Others.
      {"9223372036854775808", "9223372036854775808"},
      {"1.50", "1.5"},
      {".5", "0.5"},
      {"1e+3", "1000"},
      {"08", "8"},
      // Texts.
      {"1.", R"("1.")"},
      {"1e3", R"("1e3")"},
      {"0x", R"("0x")"},
      {"+", R"("+")"},
      {"_", R"("_")"},
      {"--1", R"("--1")"},
      {"2026-01-01", R"("2026-01-01")"},
      {"'yes'", R"("yes")"},
      {"\"12\"", R"("12")"},
      {"10.0.0.1", R"("10.0.0.1")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(json_of(row.text) == row.json);
  }
}

TEST_CASE("a tree becomes JSON, apart from numbers that JSON does not have") {
  CHECK(json_of("{b: [1, {c: ~}, []], d: \"x\\\"y\"}") == R"({"b":[1,{"c":null},[]],"d":"x\"y"})");
  CHECK(json_of("[1, -.inf]") ==
        R"(1:8: JSON does not have the number "-.inf"; put quotes around it)");
}

TEST_CASE("a merge key adds the entries that a map does not have") {
  std::vector<Diagnostic> problems;
  Node root = parse_document(
                  "a: &a {x: 1, y: 2}\nb: &b {z: 3, x: 4}\n"
                  "c: {<<: *a, y: 5}\nd: [{<<: [*a, *b]}]\n",
                  problems)
                  .value();
  expand_merge_keys(root, problems);
  CHECK(problems.empty());
  CHECK(json_of_yaml11(root, problems) ==
        R"({"a":{"x":1,"y":2},"b":{"z":3,"x":4},"c":{"y":5,"x":1},"d":[{"x":1,"y":2,"z":3}]})");
  Node wrong = parse_document("{<<: 5}", problems).value();
  expand_merge_keys(wrong, problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].to_string().starts_with("1:6: a merge key (<<) takes a map"));
}

}  // namespace
}  // namespace weir::config
