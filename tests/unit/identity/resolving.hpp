// Short ways to write sources, and requests to resolve identities from.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "unit/http/request_of.hpp"

namespace weir::identity::test {

using http::NameValue;
using http::RequestOf;

inline constexpr SipKey key{.k0 = 1, .k1 = 2};

/// A request.
struct Given {
  std::initializer_list<NameValue> fields{};
  std::string_view query{};
  std::string_view path = "/";
  std::vector<PathParameter> parameters{};
  const char* client = "192.0.2.1";
  int ipv4_prefix = 32;
  int ipv6_prefix = 64;
};

inline Resolution resolution(const Source& source, const Given& given, SipKey with = key) {
  RequestOf request{given.fields};
  request.view.path = given.path;
  request.view.query = given.query;
  const IpAddress client = IpAddress::parse(given.client).value();
  ClientAddressOptions options;
  options.ipv4_prefix = given.ipv4_prefix;
  options.ipv6_prefix = given.ipv6_prefix;
  TokenReadings tokens{{}, {}};
  return resolve(source, {request.view, given.path, client, given.parameters, options}, with,
                 tokens);
}

/// The key, if there is one.
inline std::optional<Hash128> resolved(const Source& source, const Given& given,
                                       SipKey with = key) {
  const Resolution resolution = test::resolution(source, given, with);
  if (resolution.state != Resolution::State::found) return std::nullopt;
  return resolution.key;
}

/// In words, or "clear".
inline std::string ambiguity(const Source& source, const Given& given) {
  const Resolution resolution = test::resolution(source, given);
  if (resolution.state != Resolution::State::ambiguous) return "clear";
  return describe(resolution.ambiguity);
}

inline Source header(std::string name) {
  return {FromHeader{std::move(name)}};
}
inline Source query(std::string name, Repeated repeated = Repeated::refuse) {
  return {FromQuery{std::move(name), repeated}};
}
inline Source from_cookie(std::string name, Repeated repeated = Repeated::refuse) {
  return {FromCookie{std::move(name), repeated}};
}
/// A claim of the only provider, whose tokens are in Authorization.
inline Source claim(std::string path, std::size_t index = 0) {
  return {FromClaim{.provider = "idp",
                    .claim = std::move(path),
                    .token = FromHeader{"authorization"},
                    .claim_index = index}};
}
inline Source path(std::string parameter = {}) {
  return {FromPath{std::move(parameter)}};
}
inline Source any_of(std::vector<Source> sources) {
  return {AnyOf{std::move(sources)}};
}
inline Source all_of(std::vector<Source> sources) {
  return {AllOf{std::move(sources)}};
}
inline const Source client_source{FromClientAddress{}};

}  // namespace weir::identity::test
