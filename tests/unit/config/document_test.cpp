#include "config/document.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

using namespace std::string_literals;

struct Parsed {
  std::optional<Node> root;
  std::vector<Diagnostic> problems;
};

Parsed parse(std::string_view yaml, const DocumentLimits& limits = {}) {
  Parsed parsed;
  parsed.root = parse_document(yaml, parsed.problems, limits);
  return parsed;
}

std::string only_problem(std::string_view yaml, const DocumentLimits& limits = {}) {
  const Parsed parsed = parse(yaml, limits);
  return parsed.problems.size() == 1 ? parsed.problems[0].to_string()
                                     : std::to_string(parsed.problems.size()) + " problems";
}

TEST_CASE("every value has its place, counted from 1") {
  const Parsed parsed = parse("a: x\nb:\n  - 1\n  - {c: 'q'}\nd:\n");
  REQUIRE(parsed.root);
  CHECK(parsed.problems.empty());
  const Node& root = *parsed.root;
  REQUIRE(root.find("a") != nullptr);
  CHECK(root.find("a")->value.text == "x");
  CHECK(root.find("a")->value.position.line == 1);
  CHECK(root.find("a")->value.position.column == 4);
  const Node& list = root.find("b")->value;
  REQUIRE(list.items.size() == 2);
  const Entry* entry = list.items[1].find("c");
  REQUIRE(entry != nullptr);
  CHECK(entry->position.line == 4);
  CHECK(entry->position.column == 6);
  CHECK(entry->value.position.column == 9);
  CHECK(entry->value.text == "q");
  // The position of an absent value is that of its key.
  CHECK(root.find("d")->value.kind == Node::Kind::null);
  CHECK(root.find("d")->value.position.line == 5);
}

TEST_CASE("quoted text that never ends is found, with and without a last line break") {
  const std::string why =
      "not valid YAML: quoted text has no end: its closing quote is missing, or one in it is not "
      "escaped";
  for (const char* const mark : {"\"", "'"}) {
    const std::string quote = mark;
    for (const char* const end :
         {"\n", "\n\n  \n", " \r\n", "\n# note\n", ", b]\n", "\nlimits: [{policy: p}]\n"}) {
      INFO(quote << end);
      CHECK(only_problem("a: 1\nb:\n  c: " + quote + "hello" + end) == "3:6: " + why);
    }
    for (const char* const text : {"", "\n", " \n\n"}) {
      INFO(text);
      CHECK(only_problem("a: 1\nb: " + quote + text) == "2:4: " + why);
    }
    // If the text is never complete, the position is that of its key.
    CHECK(only_problem("a: 1\nb: " + quote + "hello") == "2:1: " + why);
    CHECK(only_problem("a: 1\nb: {c: " + quote + "hello}\n") == "2:8: " + why);
    // A quote that is text, or closed on another line, is none.
    for (const std::string& good : {quote + "hello\n  there" + quote, "it" + quote + "s",
                                    "|\n  " + quote + "x", quote + quote, "x # " + quote}) {
      INFO(good);
      CHECK(parse("a: " + good + "\n").problems.empty());
      CHECK(parse("a: " + good).problems.empty());
    }
  }
  CHECK(only_problem("\"abc") == "1:1: " + why);
  // A block keeps its last line break.
  CHECK(parse("a: |\n  text\n").root->find("a")->value.text == "text\n");
}

TEST_CASE("an alias is a copy with the position of the alias") {
  const Parsed parsed = parse("a: &x {k: v}\nb: *x\n");
  REQUIRE(parsed.root);
  const Node& copy = parsed.root->find("b")->value;
  CHECK(copy.find("k")->value.text == "v");
  CHECK(copy.position.line == 2);
}

TEST_CASE("a variable needs no quotes in any position") {
  const Parsed parsed =
      parse("a: {b: ${B:-}, c: [x${C}y, \"${D}\", '$${E}'], d: 1}\n\"${F}\": \"\\xFE ${G\"\n");
  REQUIRE(parsed.problems.empty());
  const Node& a = parsed.root->find("a")->value;
  CHECK(a.find("b")->value.text == "${B:-}");
  CHECK(a.find("c")->value.items[0].text == "x${C}y");
  CHECK(a.find("c")->value.items[1].text == "${D}");
  CHECK(a.find("c")->value.items[2].text == "$${E}");
  CHECK(a.find("d")->position.column == 46);
  REQUIRE(parsed.root->find("${F}") != nullptr);
  CHECK(parsed.root->find("${F}")->value.text == "\u00fe ${G");
}

TEST_CASE("a brace within quotes is not closed after them") {
  const Parsed parsed = parse("a: {b: 'pa$${ss', c: \"x${y\", d: '${E:-\"}'}\n");
  REQUIRE(parsed.problems.empty());
  const Node& a = parsed.root->find("a")->value;
  CHECK(a.find("b")->value.text == "pa$${ss");
  CHECK(a.find("c")->value.text == "x${y");
  CHECK(a.find("d")->value.text == "${E:-\"}");
}

TEST_CASE("a named segment of a path needs no quotes either") {
  const Parsed parsed = parse("a: {b: /u/{id}/{x-y}, c: [/{z}]}\nd: /{e}\nf: http://{g h}\n");
  REQUIRE(parsed.problems.empty());
  const Node& a = parsed.root->find("a")->value;
  CHECK(a.find("b")->value.text == "/u/{id}/{x-y}");
  CHECK(a.find("c")->value.items[0].text == "/{z}");
  CHECK(parsed.root->find("d")->value.text == "/{e}");
  CHECK(parsed.root->find("f")->value.text == "http://{g h}");
}

TEST_CASE("a brace at the start of the file or without its other half is left to YAML") {
  CHECK(parse("{a: b}\n").root->find("a") != nullptr);
  CHECK(parse("a: x${\nb: y/{c\nd: $\n").root->find("b")->value.text == "y/{c");
  CHECK(parse("a: x${\nb: y}\n").root->find("a")->value.text == "x${");
}

TEST_CASE("a key that is there twice is reported in its map") {
  CHECK(only_problem("m: [{n: {a: 1, a: 2}}]\n") ==
        "1:16: m[0].n: duplicate key \"a\"; it is already on line 1; keep one, with all that "
        "belongs to it");
}

TEST_CASE("tabs are reported where they indent") {
  CHECK(only_problem("a: 1\n\tb: 1\n") ==
        "2:1: not valid YAML: illegal tab when looking for indentation (indent with spaces, not "
        "with tabs)");
  CHECK(only_problem("a:\n \tb: 1\n") ==
        "2:4: not valid YAML: illegal map value (indent with spaces, not with tabs)");
}

TEST_CASE("bytes that are not text are refused before they are parsed") {
  CHECK(only_problem("a\0:\0 \0b\0"s) == "1:1: this is UTF-16 or no text; save the file as UTF-8");
  CHECK(only_problem("\xff\xfe") == "1:1: this is UTF-16 or no text; save the file as UTF-8");
  CHECK(only_problem("a: b\nc: \xff\n") == "2:4: not valid UTF-8; save the file as UTF-8");
  CHECK(only_problem(std::string_view("a: \0b\n", 6)).starts_with("1:4: control character"));
  // yaml-cpp would take this byte for the end of the file.
  CHECK(only_problem("a: b\n\x04routes: []\n").starts_with("2:1: control character"));
  CHECK(parse("a: \u00fc\t# \u2713\r\n").problems.empty());
}

TEST_CASE("size, depth and number of values are bounded") {
  CHECK(only_problem("a: 12345\n", {.bytes = 8}) == "larger than 8 bytes");
  CHECK(parse("a: [[[1]]]\n", {.depth = 4}).problems.empty());
  CHECK(only_problem("a: [[[[1]]]]\n", {.depth = 4}) == "1:7: nested deeper than 4 levels");
  CHECK(only_problem("a: &x [[[1]]]\nb: [*x]\n", {.depth = 4}) ==
        "2:5: nested deeper than 4 levels");
  CHECK(only_problem("[1, 2, 3, 4, 5]\n", {.values = 5}).find("more than 5 values") !=
        std::string::npos);
  CHECK(only_problem(std::string(100'000, '[')).find("nested deeper") != std::string::npos);
}

TEST_CASE("aliases of aliases do not grow beyond the bound") {
  std::string laughs = "l0: &l0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string inner = "*l" + std::to_string(i - 1);
    laughs += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + inner;
    for (int j = 0; j < 8; ++j)
      laughs += ", " + inner;
    laughs += "]\n";
  }
  CHECK(only_problem(laughs).find("more than 1000000 values") != std::string::npos);
}

TEST_CASE("a scalar in quotes, or a block of text, is not plain") {
  const Parsed parsed = parse("[1, '1', \"1\", true, ~]\n");
  REQUIRE(parsed.root);
  std::vector<bool> plain;
  for (const Node& item : parsed.root->items)
    plain.push_back(item.is_plain);
  CHECK(plain == std::vector<bool>{true, false, false, true, true});
  const Parsed block = parse("a: |\n  1\n");
  REQUIRE(block.root);
  CHECK_FALSE(block.root->find("a")->value.is_plain);
}

}  // namespace
}  // namespace weir::config
