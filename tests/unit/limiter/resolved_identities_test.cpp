#include "limiter/resolved_identities.hpp"

#include <string>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::limiter {
namespace {

using identity::Resolution;

struct Fixture {
  Fixture() {
    for (std::size_t i = 0; i < identity_limit; ++i)
      settings.identities.push_back(
          {.name = {}, .source = {identity::FromHeader{"h" + std::to_string(i % 2)}}});
  }
  const Resolution& of(std::size_t index, std::initializer_list<http::NameValue> fields) {
    const http::RequestOf request{fields};
    return identities.of(index, {request.view, "/", client, {}, client_options});
  }

  Options settings;
  IpAddress client = IpAddress::v4({192, 0, 2, 1});
  identity::ClientAddressOptions client_options;
  identity::TokenReadings tokens{{}, {}};
  ResolvedIdentities identities{settings, tokens};
};

}  // namespace

TEST_CASE("An identity is resolved once, until it is forgotten") {
  Fixture fixture;
  const Hash128 first = fixture.of(0, {{"h0", "a"}}).key;
  CHECK(fixture.of(0, {{"h0", "a"}}).state == Resolution::State::found);
  CHECK(fixture.of(0, {{"h0", "b"}}).key == first);
  CHECK(fixture.of(0, {}).state == Resolution::State::found);
  fixture.identities.forget();
  CHECK(fixture.of(0, {{"h0", "b"}}).key != first);
  fixture.identities.forget();
  CHECK(fixture.of(0, {}).state == Resolution::State::absent);
}

TEST_CASE("Each identity is resolved for itself, the last of the largest number too") {
  Fixture fixture;
  const Hash128 even = fixture.of(0, {{"h0", "a"}}).key;
  CHECK(fixture.of(identity_limit - 1, {{"h1", "b"}}).state == Resolution::State::found);
  CHECK(fixture.of(identity_limit - 1, {{"h1", "c"}}).key != even);
  CHECK(fixture.of(32, {}).state == Resolution::State::absent);
  CHECK(fixture.of(0, {}).key == even);
}

}  // namespace weir::limiter
