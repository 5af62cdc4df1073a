#include "http/upgrade.hpp"

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

std::string offer_of(std::initializer_list<NameValue> lines) {
  std::string offer;
  append_upgrade_offer(offer, fields_of(lines));
  return offer;
}

TEST_CASE("the offer is one list of all Upgrade lines, without h2c") {
  CHECK(offer_of({}) == "");
  CHECK(offer_of({{"Upgrade", "websocket"}}) == "websocket");
  CHECK(offer_of({{"Upgrade", " a/1 ,, b"}, {"Host", "c"}, {"upgrade", "d"}}) == "a/1, b, d");
  CHECK(offer_of({{"Upgrade", "H2C"}}) == "");
  CHECK(offer_of({{"Upgrade", "h2c, websocket"}}) == "websocket");
  CHECK(offer_of({{"Upgrade", "websocket,h2c"}}) == "websocket");
}

TEST_CASE("E2: a 101 names protocols that were offered, and no others") {
  CHECK(takes_offer(fields_of({{"Upgrade", "WebSocket"}}), "websocket"));
  CHECK(takes_offer(fields_of({{"Upgrade", "b"}}), "a, b"));
  CHECK(takes_offer(fields_of({{"Upgrade", "b, a"}}), "a, b"));
  CHECK_FALSE(takes_offer(fields_of({}), "websocket"));
  CHECK_FALSE(takes_offer(fields_of({{"Upgrade", ""}}), "websocket"));
  CHECK_FALSE(takes_offer(fields_of({{"Upgrade", "websocket/13"}}), "websocket"));
  CHECK_FALSE(takes_offer(fields_of({{"Upgrade", "a"}, {"Upgrade", "c"}}), "a, b"));
  CHECK_FALSE(takes_offer(fields_of({{"Upgrade", "websocket"}}), ""));
}

}  // namespace
}  // namespace weir::http
