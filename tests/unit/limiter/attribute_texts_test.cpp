#include "limiter/attribute_texts.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

using Kind = Attribute::Kind;

Attribute attribute(Kind kind, const char* name, identity::Source source) {
  return {.kind = kind, .text = {}, .name = name, .source = std::move(source)};
}

std::vector<std::string> texts(Fixture& fixture, std::vector<Attribute> attributes) {
  fixture.config.limiter.policies.resize(1);
  fixture.config.limiter.policies[0].attributes = std::move(attributes);
  const AttributeReader reader(fixture.config.limiter);
  AttributeTexts made;
  identity::TokenReadings tokens{{}, {}};
  const auto read =
      reader.read(fixture.config.limiter.policies[0], fixture.evidence(), tokens, made);
  return {read.texts.begin(), read.texts.end()};
}

}  // namespace

TEST_CASE("A value that is not secret is kept as it is") {
  Fixture fixture;
  fixture.header("User-Agent", "curl/8");
  CHECK(texts(fixture, {attribute(Kind::method, "", {}), attribute(Kind::path, "", {}),
                        attribute(Kind::client_address, "", {identity::FromClientAddress{}}),
                        attribute(Kind::header, "user-agent", {identity::FromHeader{"user-agent"}}),
                        attribute(Kind::header, "x-none", {identity::FromHeader{"x-none"}})}) ==
        std::vector<std::string>{"GET", "/search", "192.0.2.1", "curl/8", ""});
}

TEST_CASE("A value that may be secret is kept as its keyed hash") {
  Fixture fixture;
  fixture.header("X-API-Key", "secret");
  fixture.header("Authorization", "secret");
  fixture.request.query = "user=secret";
  const auto made = texts(
      fixture, {attribute(Kind::identity, "key", fixture.config.limiter.identities[1].source),
                attribute(Kind::header, "x-api-key", {identity::FromHeader{"x-api-key"}}),
                attribute(Kind::header, "authorization", {identity::FromHeader{"authorization"}}),
                attribute(Kind::query, "user", {identity::FromQuery{"user"}}),
                attribute(Kind::query, "none", {identity::FromQuery{"none"}})});
  for (const auto& text : std::span(made).first(4)) {
    CHECK(text.size() == 32);
    CHECK(text.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
  CHECK(made[0] == made[1]);
  CHECK(made[2] != made[3]);
  CHECK(made[4].empty());
}

TEST_CASE("The texts of all limits of a request hold together") {
  Fixture fixture;
  fixture.client = IpAddress::parse("2001:db8:1111:2222:3333:4444:5555:6666").value();
  fixture.config.limiter.policies.resize(1);
  fixture.config.limiter.policies[0].attributes.assign(
      attribute_limit, attribute(Kind::client_address, "", {identity::FromClientAddress{}}));
  const AttributeReader reader(fixture.config.limiter);
  AttributeTexts made;
  identity::TokenReadings tokens{{}, {}};
  for (int request = 0; request < 3; ++request) {
    made.clear();
    std::vector<std::span<const std::string_view>> all;
    for (std::size_t i = 0; i < limits_per_route; ++i) {
      all.push_back(
          reader.read(fixture.config.limiter.policies[0], fixture.evidence(), tokens, made).texts);
    }
    for (const auto& texts_of_limit : all) {
      for (const auto text : texts_of_limit) {
        REQUIRE(text == "2001:db8:1111:2222:3333:4444:5555:6666");
      }
    }
  }
}

}  // namespace weir::limiter::test
