#include "identity/direct_request.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::identity {
namespace {

using Header = ClientAddressOptions::Header;

ClientAddressOptions trusting(Header header) {
  return {.trusted_proxies = {IpPrefix::parse("10.0.0.0/8").value()},
          .header = header,
          .header_name = "CF-Connecting-IP"};
}

TEST_CASE("a request of a trusted proxy itself has no field of one that is forwarded") {
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  const auto is_its_own = [](Header header, const Pairs& pairs, const char* peer = "10.0.0.1") {
    std::vector<http::FieldView> fields;
    for (const auto& [name, value] : pairs)
      fields.push_back(http::fields_of({{name, value}})[0]);
    http::RequestView request;
    request.fields = fields;
    return is_direct(trusting(header), *IpAddress::parse(peer), request);
  };
  for (const Header header : {Header::x_forwarded_for, Header::forwarded, Header::single}) {
    CHECK(is_its_own(header, {}));
    CHECK_FALSE(is_its_own(header, {}, "192.0.2.9"));
    // Envoy's calls have its own address.
    CHECK(is_its_own(header, {{"x-forwarded-for", "10.0.0.7"}, {"x-request-id", "1"}}));
    for (const std::string_view other :
         {"192.0.2.1", "", "unknown", "10.0.0.7, 10.0.0.8", "192.0.2.1, 10.0.0.7"})
      CHECK_FALSE(is_its_own(header, {{"X-Forwarded-For", other}}));
    CHECK_FALSE(
        is_its_own(header, {{"x-forwarded-for", "10.0.0.7"}, {"x-forwarded-for", "10.0.0.7"}}));
    for (const std::string_view name :
         {"Forwarded", "Via", "X-Real-IP", "X-Forwarded-Proto", "x-forwarded-host"}) {
      INFO(name);
      CHECK_FALSE(is_its_own(header, {{name, "10.0.0.7"}}));
      CHECK_FALSE(is_its_own(header, {{"x-forwarded-for", "10.0.0.7"}, {name, "10.0.0.7"}}));
    }
    CHECK(is_its_own(header, {{"cf-connecting-ip", "10.0.0.7"}}) == (header != Header::single));
  }
}

}  // namespace
}  // namespace weir::identity
