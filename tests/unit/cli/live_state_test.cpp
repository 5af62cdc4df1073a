#include "cli/live_state.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::cli;
using namespace std::chrono_literals;

TEST_CASE("The state of a key is read from the answer of the instance") {
  const auto state = read_live_state(
      R"({"store":"redis","hash":"00","policy":"p","algorithm":"gcra",
          "numbers":{"limit":20,"window":60,"from":"plan"},
          "remaining":0,"held":3,"reset_after":61.7,"retry_after":2.000001})");
  REQUIRE(state);
  CHECK(state->store == "redis");
  CHECK(state->from == "plan");
  CHECK(state->limit == 20);
  CHECK(state->remaining == 0);
  CHECK(state->held == 3);
  CHECK(state->reset_after == 61'700ms);
  CHECK(state->retry_after == Duration{2'000'001});
}

TEST_CASE("A key without numbers is unlimited or denied") {
  const auto with = [](const std::string& numbers) {
    return read_live_state(R"({"store":"memory","numbers":{)" + numbers +
                           R"("from":"override"},"remaining":1,"held":0,"reset_after":0,)"
                           R"("retry_after":null})");
  };
  CHECK(with(R"("unlimited":true,)")->is_unlimited);
  CHECK(with(R"("denied":true,)")->is_denied);
  CHECK_FALSE(with(R"("limit":5,)")->retry_after);
  CHECK_FALSE(with(""));  // no limit
}

TEST_CASE("An answer of another server is none") {
  for (const char* body : {"", "ok", "{}", "[]", R"({"store":"redis"})",
                           R"({"store":1,"numbers":{"limit":1,"from":"policy"},"remaining":1,)"
                           R"("held":0,"reset_after":0,"retry_after":null})"}) {
    CAPTURE(body);
    CHECK_FALSE(read_live_state(body));
    CHECK_FALSE(read_config_hash(body));
  }
  CHECK(read_config_hash(R"({"hash":"ab\u001b"})") == "ab?");
}
