#include "rules/attributed_window.hpp"

#include <array>
#include <string>

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy attributed_window(Rate rate) {
  return policy_of({.algorithm = Algorithm::attributed_window, .rates = {rate}});
}

std::string kept(const std::string& text) {
  const std::array<std::string_view, 1> attributes{text};
  AttributedWindowState state;
  charge(attributed_window({1, seconds(1)}), state, epoch, 1, attributes);
  return state.entries.at(0).attributes.at(0);
}

}  // namespace

TEST_CASE("attributed_window: decides as a fixed window") {
  run<AttributedWindowState>(attributed_window({3, seconds(10)}),
                             {
                                 {seconds(4), 1, true, 2, seconds(10), passed},
                                 {seconds(13), 2, true, 0, seconds(1), passed},
                                 {seconds(13), 1, false, 0, seconds(1), seconds(1)},
                                 {seconds(13), 4, false, 0, seconds(1), never},
                                 {seconds(14), 3, true, 0, seconds(10), passed},
                             });
}

TEST_CASE("attributed_window: the list shows which users used the quota") {
  const Policy policy = attributed_window({10, seconds(1)});
  const std::array<std::string_view, 2> alice{"alice", "curl"};
  const std::array<std::string_view, 2> bob{"bob", ""};
  AttributedWindowState state;
  charge(policy, state, epoch, 1, alice);
  charge(policy, state, epoch + milliseconds(1), 3, bob);
  charge(policy, state, epoch + milliseconds(2), 2);
  CHECK(state.used == 6);
  CHECK(state.entries == std::vector<AttributedEntry>{{epoch, 1, {"alice", "curl"}},
                                                      {epoch + milliseconds(1), 3, {"bob", ""}},
                                                      {epoch + milliseconds(2), 2, {}}});
  // the next window starts with an empty list
  charge(policy, state, epoch + seconds(1), 1, bob);
  CHECK(state.entries == std::vector<AttributedEntry>{{epoch + seconds(1), 1, {"bob", ""}}});
}

TEST_CASE("attributed_window: no more entries than the quota, no longer texts than the bound") {
  const Policy policy = attributed_window({3, seconds(1)});
  AttributedWindowState state;
  for (int i = 0; i < 10; ++i)
    charge(policy, state, epoch, 1);
  charge(policy, state, epoch, huge);
  charge(policy, state, epoch, -1);
  CHECK(state.entries.size() == 3);
  CHECK(state.used == 3);
  CHECK(kept(std::string(128, 'a')) == std::string(128, 'a'));
  CHECK(kept(std::string(500, 'a')) == std::string(128, 'a'));
}

TEST_CASE("attributed_window: a cut never splits a UTF-8 sequence") {
  const std::string euro = "\xE2\x82\xAC";
  CHECK(kept(std::string(125, 'a') + euro + "b") == std::string(125, 'a') + euro);
  CHECK(kept(std::string(126, 'a') + euro) == std::string(126, 'a'));
  CHECK(kept(std::string(127, 'a') + euro) == std::string(127, 'a'));
  const std::string wave = "\xF0\x9F\x91\x8B";
  CHECK(kept(std::string(125, 'a') + wave) == std::string(125, 'a'));
  // text that is not UTF-8 is cut at the bound
  CHECK(kept(std::string(200, '\x80')) == std::string(128, '\x80'));
}

TEST_CASE("attributed_window: a clock that steps back keeps window and list") {
  const Policy policy = attributed_window({3, seconds(1)});
  AttributedWindowState state;
  charge(policy, state, epoch, 1);
  charge(policy, state, epoch - hours(1), 1);
  CHECK(state.start == epoch);
  CHECK(state.entries.size() == 2);
  CHECK(state.entries[1].at == epoch);
}

}  // namespace weir::rules::test
