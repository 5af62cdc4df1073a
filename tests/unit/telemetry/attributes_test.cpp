#include "telemetry/attributes.hpp"

#include <string>

#include "catch.hpp"

namespace weir::telemetry {

TEST_CASE("attributes leave out what is absent, and have 64-bit numbers as texts") {
  std::string text;
  {
    Appender out(text);
    Attributes attributes(out);
    attributes.text("none", "")
        .number("nothing", std::nullopt)
        .configured("a\"b", "\xff")
        .number("n", -9'223'372'036'854'775'807)
        .end();
  }
  CHECK(text ==
        "[{\"key\":\"a\\\"b\",\"value\":{\"stringValue\":\"\xef\xbf\xbd\"}},"
        R"({"key":"n","value":{"intValue":"-9223372036854775807"}}])");
}

TEST_CASE("an instant has nanoseconds") {
  std::string text;
  {
    Appender out(text);
    append_nanoseconds(out, instant_from_us(1'700'000'000'000'001));
  }
  CHECK(text == "\"1700000000000001000\"");
}

}  // namespace weir::telemetry
