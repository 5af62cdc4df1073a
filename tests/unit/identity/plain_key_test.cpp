#include "identity/plain_key.hpp"

#include <string>

#include "catch.hpp"
#include "identity/token_readings.hpp"

using namespace weir;
using namespace weir::identity;

namespace {

constexpr SipKey key{.k0 = 1, .k1 = 2};
const ClientAddressSettings settings;

std::optional<Hash128> plain(const Source& source, std::string_view value) {
  return key_of(source, value, settings, key);
}

/// The key of a request as a client sends it.
Hash128 sent(const Source& source, const http::RequestView& request, std::string_view address = "",
             std::span<const PathParameter> parameters = {}) {
  const auto client = IpAddress::parse(address.empty() ? "192.0.2.1" : address).value();
  TokenReadings no_tokens({}, key);
  const auto found = resolve(source,
                             {.request = request,
                              .path = "/a",
                              .client = client,
                              .path_parameters = parameters,
                              .client_settings = settings},
                             key, no_tokens);
  REQUIRE(found.state == Resolution::State::found);
  return found.key;
}

http::RequestView with(const http::FieldView& field) {
  http::RequestView request;
  request.fields = {&field, 1};
  return request;
}

}  // namespace

TEST_CASE("A value that is written down has the key of a request that carries it") {
  const http::FieldView api_key{.name = "X-API-Key", .value = "a b%20c"};
  CHECK(plain({FromHeader{"x-api-key"}}, "a b%20c") ==
        sent({FromHeader{"x-api-key"}}, with(api_key)));
  const http::FieldView bearer{
      .id = http::FieldId::authorization, .name = "Authorization", .value = "Bearer abc"};
  CHECK(plain({FromHeader{"authorization"}}, "Bearer abc") ==
        sent({FromHeader{"authorization"}}, with(bearer)));
  http::RequestView query;
  query.query = "x=1&k=a+b%26c";
  CHECK(plain({FromQuery{"k"}}, "a b&c") == sent({FromQuery{"k"}}, query));
  const http::FieldView cookie{
      .id = http::FieldId::cookie, .name = "Cookie", .value = "a=1; sid=x%3By"};
  CHECK(plain({FromCookie{"sid"}}, "x;y") == sent({FromCookie{"sid"}}, with(cookie)));
  const PathParameter parameter{.name = "id", .value = "7 8"};
  CHECK(plain({FromPath{"id"}}, "7 8") == sent({FromPath{"id"}}, {}, "", {&parameter, 1}));
  CHECK(plain({FromPath{}}, "/a") == sent({FromPath{}}, {}));
  CHECK(plain({FromClientAddress{}}, "192.0.2.9") == sent({FromClientAddress{}}, {}, "192.0.2.9"));
  CHECK(plain({FromClientAddress{}}, "2001:db8::/64") ==
        sent({FromClientAddress{}}, {}, "2001:db8::77"));
}

TEST_CASE("A value that no request can carry has no key") {
  CHECK_FALSE(plain({FromClientAddress{}}, "localhost").has_value());
  CHECK_FALSE(plain({FromHeader{"x-api-key"}}, "  ").has_value());
  CHECK_FALSE(plain({FromQuery{"k"}}, "").has_value());
  const Source any{AnyOf{{Source{FromHeader{"a"}}, Source{FromQuery{"b"}}}}};
  CHECK(is_combined(any));
  CHECK_FALSE(plain(any, "x").has_value());
}

TEST_CASE("A hash is 32 hexadecimal digits") {
  CHECK(hash_from_hex("1234567890abcdef0000000000000abc") ==
        Hash128{.low = 0xabc, .high = 0x1234567890abcdef});
  for (const std::string& other : {std::string(31, '0'), std::string(33, '0'), std::string(32, 'g'),
                                   "-" + std::string(31, '0'), std::string()}) {
    CHECK_FALSE(hash_from_hex(other).has_value());
  }
}
