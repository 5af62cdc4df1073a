#include "usage/key_matcher.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::usage {
namespace {

std::vector<JsonPointer> pointers_of(const std::vector<std::string>& texts) {
  std::vector<JsonPointer> pointers;
  for (const std::string& text : texts)
    pointers.push_back(JsonPointer::parse(text).value());
  return pointers;
}

constexpr PointerSet all_pointers = ~PointerSet{0};

/// Compares a name with its closing quotation mark, in two pieces for every place of the cut, and
/// returns the pointers that match. Bytes after the mark are not read.
PointerSet matches_of(const std::vector<JsonPointer>& pointers, const std::string& name,
                      std::size_t level = 0, PointerSet elements = 0) {
  const PointerSet candidates = all_pointers >> (most_pointers - pointers.size());
  const std::string text = name + "\"rest";
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* const after = begin + name.size() + 1;
  KeyMatcher matcher(pointers);
  matcher.start(candidates, elements, level);
  CHECK(matcher.read(begin, end) == after);
  CHECK(matcher.is_complete());
  const PointerSet matches = matcher.matches();
  for (const char* cut = begin; cut <= after; ++cut) {
    INFO(name << " cut after " << cut - begin);
    matcher.start(candidates, elements, level);
    CHECK_FALSE(matcher.is_complete());
    CHECK(matcher.read(begin, cut) == cut);
    CHECK(matcher.is_complete() == (cut == after));
    if (!matcher.is_complete()) CHECK(matcher.read(cut, end) == after);
    CHECK(matcher.is_complete());
    CHECK(matcher.matches() == matches);
  }
  return matches;
}

TEST_CASE("a name matches the pointers with the same reference token") {
  const auto pointers = pointers_of({"/total", "/total_tokens", "/usage/total", "/total/a", "/"});
  CHECK(matches_of(pointers, "total") == (only(0) | only(3)));
  CHECK(matches_of(pointers, "total_tokens") == only(1));
  CHECK(matches_of(pointers, "usage") == only(2));
  CHECK(matches_of(pointers, "") == only(4));
  for (const char* const name : {"tota", "totals", "Total", "total ", " total", "total_token", "x"})
    CHECK(matches_of(pointers, name) == 0);
}

TEST_CASE("the level selects the reference token, one less for pointers in elements") {
  const auto pointers = pointers_of({"/a/b", "/b/a", "/b/b", "/a/a/b"});
  CHECK(matches_of(pointers, "b", 0) == (only(1) | only(2)));
  CHECK(matches_of(pointers, "b", 1) == (only(0) | only(2)));
  CHECK(matches_of(pointers, "a", 1, only(0) | only(3)) == (only(0) | only(1) | only(3)));
}

TEST_CASE("only candidates match") {
  const auto pointers = pointers_of({"/a", "/a", "/a"});
  KeyMatcher matcher(pointers);
  const std::string text = "a\"";
  matcher.start(only(1), 0, 0);
  matcher.read(text.data(), text.data() + text.size());
  CHECK(matcher.matches() == only(1));
  matcher.start(0, 0, 0);
  matcher.read(text.data(), text.data() + text.size());
  CHECK(matcher.matches() == 0);
}

TEST_CASE("escapes are decoded before the comparison") {
  const auto pointers =
      pointers_of({"/total", "/\"\\~1\b\f\n\r\t", "/\u00e9\u20ac\U0001f600", "/~0"});
  CHECK(matches_of(pointers, R"(t\u006ftal)") == only(0));
  CHECK(matches_of(pointers, R"(\u0074\u006F\u0074\u0061\u006c)") == only(0));
  CHECK(matches_of(pointers, R"(\"\\\/\b\f\n\r\t)") == only(1));
  CHECK(matches_of(pointers, R"(\u0022\u005c/\u0008\u000c\u000a\u000d\u0009)") == only(1));
  CHECK(matches_of(pointers, "\u00e9\u20ac\U0001f600") == only(2));
  CHECK(matches_of(pointers, R"(\u00e9\u20AC\ud83d\uDE00)") == only(2));
  // Escapes of JSON, not of pointers.
  CHECK(matches_of(pointers, "~") == only(3));
  CHECK(matches_of(pointers, "~0") == 0);
}

TEST_CASE("a name with an escape that is not valid matches nothing, and still ends") {
  const auto pointers = pointers_of({"/a", "/au", "/"});
  for (const char* const name :
       {R"(\a)", R"(\x61)", R"(\u006)", R"(\u00g1)", R"(\u{61})", R"(\ud83d)", R"(\ude00)",
        R"(\ude00\ud83d)", R"(\ud83d\ud83d\ude00)", R"(\ud83da)", R"(\ud83d\n)", R"(a\ud83d)",
        R"(\q)", R"(\u)"}) {
    CAPTURE(name);
    CHECK(matches_of(pointers, name) == 0);
  }
}

TEST_CASE("a name of any length is compared without a copy") {
  const std::string longest(JsonPointer::longest - 1, 'n');
  const auto pointers = pointers_of({"/" + longest});
  CHECK(matches_of(pointers, longest) == only(0));
  CHECK(matches_of(pointers, longest + "n") == 0);
  CHECK(matches_of(pointers, std::string(2'000, 'n')) == 0);
}

}  // namespace
}  // namespace weir::usage
