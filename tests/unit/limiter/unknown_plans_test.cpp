#include "limiter/unknown_plans.hpp"

#include <algorithm>
#include <thread>

#include "catch.hpp"

namespace weir::limiter {
namespace {

using Texts = std::vector<std::string>;

std::string name_of(int number) {
  return "n" + std::to_string(number);
}

Texts texts_of(const UnknownPlans::Names& names) {
  Texts texts;
  for (const UnknownPlans::Name& name : names.fresh)
    texts.push_back(name.text);
  return texts;
}

}  // namespace

TEST_CASE("unknown names are kept once, printable and bounded") {
  UnknownPlans unknown;
  unknown.note("a", 0);
  unknown.note("a", 0);
  unknown.note("", 0);
  unknown.note("x\n\"\x80" + std::string(100, 'y'), 0);
  auto names = unknown.take();
  CHECK(texts_of(names) == Texts{"a", "x???" + std::string(60, 'y')});
  CHECK_FALSE(names.is_full);
  CHECK(unknown.count() == 4);
  CHECK(unknown.take().fresh.empty());
  for (int i = 0; i < 100; ++i)
    unknown.note("n" + std::to_string(i), 0);
  names = unknown.take();
  CHECK(names.fresh.size() == UnknownPlans::most_names - 2);
  CHECK(names.is_full);
  unknown.note("another", 0);
  CHECK_FALSE(unknown.take().is_full);
  CHECK(unknown.count() == 105);
  unknown.forget();
  unknown.note("a", 0);
  CHECK(texts_of(unknown.take()) == Texts{"a"});
}

TEST_CASE("a name is kept with its source, once for each") {
  UnknownPlans unknown;
  for (const std::size_t source : {1U, 0U, 1U, 0U, 255U})
    unknown.note("platinum", source);
  const std::vector<UnknownPlans::Name> expected{{.text = "platinum", .source = 1},
                                                 {.text = "platinum", .source = 0},
                                                 {.text = "platinum", .source = 255}};
  CHECK(unknown.take().fresh == expected);
  unknown.note("of an earlier configuration", 1);
  unknown.forget();
  CHECK(unknown.take().fresh.empty());
}

TEST_CASE("a name is printed up to its bound") {
  struct Row {
    std::string name;
    std::string kept;
  };
  const std::string longest(UnknownPlans::longest_name, 'y');
  for (const auto& row :
       {Row{"gold", "gold"}, Row{" !#~", " !#~"}, Row{"a\"b", "a?b"},
        Row{std::string(1, '\0'), "?"}, Row{"\x1f\x7f", "??"}, Row{longest, longest},
        Row{longest + "z", longest},
        // UTF-8: an umlaut, a syllable, an emoji.
        Row{"größe", "größe"}, Row{"금", "금"}, Row{"\xf0\x9f\xa5\x87", "\xf0\x9f\xa5\x87"},
        Row{"\xc2\xa0", "\xc2\xa0"}, Row{"\u200a\u2010\u2027\u202f", "\u200a\u2010\u2027\u202f"},
        // Ill-formed: Latin-1, an overlong form, a surrogate, a cut sequence.
        Row{"gr\xf6\xdf"
            "e",
            "gr??e"},
        Row{"\xc0\xaf", "??"}, Row{"\xed\xa0\x80", "???"}, Row{"a\xe2\x82", "a?"},
        // Control characters of C1, and what changes lines or directions.
        Row{"\xc2\x80\xc2\x9f", "??"}, Row{"\u2028\u2029", "??"},
        Row{"\u202a\u202e\u2066\u2069", "????"},
        Row{"\u200b\u200f\u2060\u206f\ufeff\u00ad\u061c", "???????"},
        // A sequence is not divided.
        Row{longest.substr(1) + "ö", longest.substr(1)},
        Row{longest.substr(2) + "ö", longest.substr(2) + "ö"}}) {
    UnknownPlans unknown;
    unknown.note(row.name, 0);
    CHECK(texts_of(unknown.take()) == Texts{row.kept});
  }
}

TEST_CASE("the last name that has room is kept, and is_full is returned for the next one") {
  UnknownPlans unknown;
  const int most = UnknownPlans::most_names;
  for (int i = 0; i < most; ++i)
    unknown.note(name_of(i), 0);
  auto names = unknown.take();
  CHECK(names.fresh.size() == UnknownPlans::most_names);
  CHECK(names.fresh.front().text == "n0");
  CHECK(names.fresh.back().text == name_of(most - 1));
  CHECK_FALSE(names.is_full);
  unknown.note(name_of(most - 1), 0);
  CHECK_FALSE(unknown.take().is_full);
  unknown.note(name_of(most), 0);
  names = unknown.take();
  CHECK(names.fresh.empty());
  CHECK(names.is_full);
}

TEST_CASE("after forget() the names and a full table are reported again") {
  UnknownPlans unknown;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i)
      unknown.note(name_of(i), 0);
    const auto names = unknown.take();
    CHECK(names.fresh.size() == UnknownPlans::most_names);
    CHECK(names.is_full);
    CHECK_FALSE(unknown.take().is_full);
    unknown.forget();
  }
  CHECK_FALSE(unknown.take().is_full);
  CHECK(unknown.count() == 120);
}

TEST_CASE("a name that several threads note at once is kept once") {
  UnknownPlans unknown;
  constexpr int threads = 4, rounds = 200, most = UnknownPlans::most_names;
  {
    std::vector<std::jthread> noting;
    for (int thread = 0; thread < threads; ++thread) {
      noting.emplace_back([&unknown, thread] {
        for (int i = 0; i < rounds * most; ++i)
          unknown.note(name_of((i + 7 * thread) % most), 0);
      });
    }
  }
  Texts expected;
  for (int i = 0; i < most; ++i)
    expected.push_back(name_of(i));
  Texts kept = texts_of(unknown.take());
  std::ranges::sort(kept);
  std::ranges::sort(expected);
  CHECK(kept == expected);
  CHECK(unknown.count() == std::uint64_t{threads} * rounds * most);
  CHECK_FALSE(unknown.take().is_full);
}

}  // namespace weir::limiter
