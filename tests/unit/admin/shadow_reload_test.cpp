// The state of a configuration in shadow, as the admin server shows it.
#include "admin/shadow_reload.hpp"

#include "catch.hpp"

namespace weir::admin::test {
namespace {

std::string members_of(const ShadowState& state) {
  json::Object object;
  add_members(object, state);
  return object.str();
}

}  // namespace

TEST_CASE("shadow reload: percentages have the decimals that they need") {
  CHECK(percent_text(0) == "0%");
  CHECK(percent_text(5'000) == "0.5%");
  CHECK(percent_text(1) == "0.0001%");
  CHECK(percent_text(123'450) == "12.345%");
  CHECK(percent_text(1'000'000) == "100%");
}

TEST_CASE("shadow reload: a state as JSON") {
  CHECK(members_of({}) == R"({"state":"none"})");
  ShadowState state{.stage = ShadowState::Stage::shadow,
                    .hash = "ab",
                    .until = instant_from_us(1'767'225'599'000'001),  // whole seconds, rounded up
                    .max_flips = 5'000,
                    .decisions = 7,
                    .flips = 2,
                    .skipped = 1};
  const std::string rest =
      R"(,"hash":"ab","until":"2026-01-01T00:00:00Z","max_flips":"0.5%","decisions":7,"flips":2,"skipped":1)";
  CHECK(members_of(state) == R"({"state":"shadow")" + rest + "}");
  state.stage = ShadowState::Stage::done;
  CHECK(members_of(state) == R"({"state":"done")" + rest + "}");
  state.stage = ShadowState::Stage::dropped;
  state.reason = "why";
  CHECK(members_of(state) == R"({"state":"dropped")" + rest + R"(,"reason":"why"})");
}

TEST_CASE("shadow reload: the state is replaced as a whole") {
  ShadowReload reload;
  CHECK(reload.state().stage == ShadowState::Stage::none);
  reload.set({.stage = ShadowState::Stage::done, .flips = 3});
  CHECK(reload.state().flips == 3);
}

}  // namespace weir::admin::test
