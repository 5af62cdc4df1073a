// Identities: where a client's name comes from in a request, and the keyed hash that stands for it
// everywhere else.
//
// An identity resolves to a 128-bit keyed hash over a self-delimiting serialisation (kind, then
// length-prefixed parts), so that no two different identities share a key whatever they contain.
// Values are never kept. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/siphash.hpp"
#include "http/request_view.hpp"
#include "identity/client_address.hpp"

namespace weir::identity {

struct Source;

/// What a query parameter or a cookie that comes more than once stands for.
enum class Repeated : std::uint8_t { refuse, first, last };

struct FromClientAddress {};
struct FromHeader {
  std::string name;
};  ///< first field of that name; absent or empty: no identity
struct FromQuery {
  std::string name;
  Repeated repeated = Repeated::refuse;
};  ///< first parameter of that name, percent-decoded ('+' is a space)
struct FromCookie {
  std::string name;
  Repeated repeated = Repeated::refuse;
};  ///< RFC 6265 cookie-pair, quotes removed
struct FromPath {
  std::string parameter;
};  ///< a captured segment of the route's pattern; empty: the whole path
struct AnyOf {
  std::vector<Source> sources;
};  ///< the first that is present
struct AllOf {
  std::vector<Source> sources;
};  ///< all, together; one absent: no identity

struct Source {
  std::variant<FromClientAddress, FromHeader, FromQuery, FromCookie, FromPath, AnyOf, AllOf> from;
};

/// Calls `visit` with every source that is no combination of others, in order.
template <class Visit>
void each_part(const Source& source, Visit&& visit) {
  if (const auto* any = std::get_if<AnyOf>(&source.from)) {
    for (const Source& one : any->sources)
      each_part(one, visit);
  } else if (const auto* all = std::get_if<AllOf>(&source.from)) {
    for (const Source& one : all->sources)
      each_part(one, visit);
  } else {
    visit(source);
  }
}

/// A segment captured by the route's path pattern, as in "/users/{id}".
struct PathParameter {
  std::string_view name;
  std::string_view value;  ///< decoded
};

/// Everything an identity may be read from.
struct Evidence {
  const http::RequestView& request;
  std::string_view path;    ///< decoded, in the reading that the route was found by
  const IpAddress& client;  ///< client_address() of the request, whole
  std::span<const PathParameter> path_parameters;
  const ClientAddressSettings& client_settings;  ///< its prefixes cut FromClientAddress
};

/// The keyed hash of the identity, or nothing when the request does not carry it. Identities of
/// different kinds never collide: the kind is hashed too (FromHeader "x-api-key" and FromQuery
/// "x-api-key" differ).
std::optional<Hash128> resolve(const Source& source, const Evidence& evidence, SipKey key);

/// Where the identity came from, in words for logs and `weir explain`: `header x-api-key`,
/// `client_address`.
std::string describe(const Source& source);

}  // namespace weir::identity
