#include "catch.hpp"
#include "upstream/connection.hpp"

namespace weir::upstream {
namespace {

Addresses::Endpoint at(const char* address) {
  return {boost::asio::ip::make_address(address), 3000};
}

TEST_CASE("an address needs no lookup, a name needs one again after ten seconds") {
  for (const char* const literal : {"127.0.0.1", "::1"}) {
    CAPTURE(literal);
    const Addresses addresses(literal, 3000);
    CHECK(addresses.is_fresh(0));
    CHECK(addresses.is_fresh(1'000'000));
    CHECK(addresses.list() == std::vector{at(literal)});
  }
  Addresses addresses("api.internal", 3000);
  CHECK(addresses.list().empty());
  CHECK_FALSE(addresses.is_fresh(0));
  addresses.found({at("192.0.2.1")}, 1000);
  CHECK(addresses.is_fresh(1000));
  CHECK(addresses.is_fresh(1099));
  CHECK_FALSE(addresses.is_fresh(1100));
}

TEST_CASE("new addresses replace the old ones; a failed lookup keeps them") {
  Addresses addresses("api.internal", 3000);
  addresses.found({at("192.0.2.1"), at("192.0.2.2")}, 0);
  CHECK(addresses.has(at("192.0.2.1")));
  addresses.found({}, 200);
  CHECK(addresses.has(at("192.0.2.1")));
  CHECK_FALSE(addresses.is_fresh(200));
  addresses.found({at("192.0.2.2"), at("192.0.2.3")}, 300);
  CHECK_FALSE(addresses.has(at("192.0.2.1")));
  CHECK(addresses.has(at("192.0.2.2")));
  CHECK(addresses.is_fresh(300));
}

}  // namespace
}  // namespace weir::upstream
