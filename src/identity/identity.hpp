// Identities: where a request identifies the client, and the keyed hash that represents the
// identity everywhere else.
//
// An identity resolves to a 128-bit keyed hash over a self-delimiting serialisation (kind, then
// length-prefixed parts), so that no two different identities have the same input, whatever they
// contain. Values are never kept. Pure; thread-safe.
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
#include "jwt/claims.hpp"
#include "jwt/rejection.hpp"

namespace weir::identity {

struct Source;
class TokenReadings;

/// The value that counts if a query parameter or a cookie appears more than once.
enum class Repeated : std::uint8_t { refuse, first, last };

/// Whether a cookie counts on a line with a part that is not NAME=VALUE.
enum class Malformed : std::uint8_t { refuse, accept };

struct FromClientAddress {
  friend bool operator==(const FromClientAddress&, const FromClientAddress&) = default;
};
struct FromHeader {
  std::string name;
  friend bool operator==(const FromHeader&, const FromHeader&) = default;
};  ///< the field of that name, of which a request has one at most (a second one is answered 400
    ///< before); absent or empty: no identity. In Authorization and Proxy-Authorization the
    ///< credentials count, and the scheme does not
struct FromQuery {
  std::string name;
  Repeated repeated = Repeated::refuse;
  friend bool operator==(const FromQuery&, const FromQuery&) = default;
};  ///< the parameter of that name, percent-decoded ('+' is a space), without blanks at its ends
struct FromCookie {
  std::string name;
  Repeated repeated = Repeated::refuse;
  Malformed malformed = Malformed::refuse;
  friend bool operator==(const FromCookie&, const FromCookie&) = default;
};  ///< RFC 6265 cookie-pair, quotes removed, then as a query parameter: PHP and Node.js decode it
/// The part of a request that carries a token. In Authorization it follows the scheme Bearer, and
/// other schemes carry none; in other headers the scheme may be absent.
using TokenPlace = std::variant<FromHeader, FromQuery, FromCookie>;

struct FromClaim {
  std::string provider;            ///< its name
  std::string claim;               ///< a path, see jwt::find_claim()
  TokenPlace token;                ///< of the provider
  std::size_t provider_index = 0;  ///< in the providers of the configuration
  std::size_t claim_index = 0;     ///< in the claims of the provider
  friend bool operator==(const FromClaim& a, const FromClaim& b) {
    return a.provider == b.provider && a.claim == b.claim && a.token == b.token;
  }
};  ///< a claim of a verified token: a text, number or boolean; other kinds: no identity
struct FromPath {
  std::string parameter;
  friend bool operator==(const FromPath&, const FromPath&) = default;
};  ///< a captured segment of the route's pattern; empty: the whole path
struct AnyOf {
  std::vector<Source> sources;
  friend bool operator==(const AnyOf&, const AnyOf&) = default;
};  ///< the first that is present
struct AllOf {
  std::vector<Source> sources;
  friend bool operator==(const AllOf&, const AllOf&) = default;
};  ///< all, together; one absent: no identity

struct Source {
  std::variant<FromClientAddress, FromHeader, FromQuery, FromCookie, FromClaim, FromPath, AnyOf,
               AllOf>
      from;
  friend bool operator==(const Source&, const Source&) = default;
};

/// Calls `visit` with every source that is not a combination of others, in order.
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

/// The name of the header that a source reads, itself or for a token; nullptr: none.
const std::string* header_of(const Source& source);

/// A segment captured by the route's path pattern, for example by "/users/{id}".
struct PathParameter {
  std::string_view name;
  std::string_view value;  ///< decoded
};

/// All that an identity may be read from.
struct Evidence {
  const http::RequestView& request;
  std::string_view path;    ///< decoded, in the reading that matched the route
  const IpAddress& client;  ///< client_address() of the request, whole
  std::span<const PathParameter> path_parameters;
  const ClientAddressOptions& client_options;  ///< its prefixes cut FromClientAddress
  /// Spellings of the whole path that are one path.
  bool path_ignores_case = false;
  bool path_ignores_trailing_slash = false;
  bool peer_is_trusted = false;  ///< the connection comes from a trusted proxy
};

/// Why services may read different identities from the request.
struct Ambiguity {
  enum class Kind : std::uint8_t {
    repeated,    ///< it appears more than once
    look_alike,  ///< some services read another name as this one
    separator,   ///< some services split the list at another character, and find the name there
    escape,      ///< a cookie's value has a backslash, which some services read as an escape
    crowd,       ///< some services read no more than the first 1000 parameters or cookies
    blank,       ///< some services split a Cookie line at blanks, and find the name there
    quotes,      ///< some services read a cookie as part of another's quoted value, or cut its own
    encoding,   ///< Basic credentials that are not canonical Base64, which many spellings decode to
    lines,      ///< several Cookie lines, which some services join with a comma
    malformed,  ///< a part of the Cookie line is not NAME=VALUE, so some services read none of it
    words,      ///< credentials of several words, of which services take different ones
  };
  Kind kind = Kind::repeated;
  const Source* source =
      nullptr;  ///< FromHeader, FromQuery, FromCookie or FromClaim; outlives this
};

/// Why a token proves nothing.
struct TokenFault {
  std::size_t provider = 0;  ///< index in the providers of the configuration
  /// Nothing: it cannot be verified yet, because no keys have been read.
  std::optional<jwt::Rejection> rejection{};
};

/// The outcome of looking for an identity in a request.
struct Resolution {
  enum class State : std::uint8_t {
    absent,
    found,
    ambiguous,
    invalid,  ///< the token is invalid, or cannot be verified yet
  };
  State state = State::absent;
  Hash128 key{};             ///< found: the keyed hash
  Ambiguity ambiguity{};     ///< ambiguous
  TokenFault token_fault{};  ///< invalid
};

/// Finds an identity in a request. Identities of different kinds never collide: the kind is hashed
/// too (FromHeader "x-api-key" and FromQuery "x-api-key" differ). A combination with an ambiguous
/// part is ambiguous, even if another part of AnyOf is found; one with an invalid token is invalid.
/// `tokens`: those of the request.
Resolution resolve(const Source& source, const Evidence& evidence, SipKey key,
                   TokenReadings& tokens);

/// The key of an identity that is this claim of a token; nothing if it is absent, a list or an
/// object.
std::optional<Hash128> key_of_claim(std::string_view provider, std::string_view path,
                                    const jwt::Claim& claim, SipKey key);

/// The settings that the key of a value depends on.
struct ValueOptions {
  const ClientAddressOptions& client;
  bool path_ignores_case = false;
  bool path_ignores_trailing_slash = false;
};

/// True if the source takes one value from a request, so that it can be written as a text: not for
/// AllOf, nor for AnyOf with one in it.
bool has_one_value(const Source& source);

/// Returns the keys that resolve() finds in requests with this value: one for each source of AnyOf
/// that can have it, else one. `value` is as services see it: decoded, without blanks at its ends,
/// credentials with or without their scheme; of a claim, a text; an address, or a network that is
/// counted as one client. Requires has_one_value().
std::vector<Hash128> keys_of(const Source& source, std::string_view value,
                             const ValueOptions& options, SipKey key);

/// Describes the ambiguity for the client: the kind and the configured name, never a value.
std::string describe(const Ambiguity& ambiguity);

/// Describes a source for logs and `weir explain`: `header x-api-key`, `client_address`,
/// `claim sub of idp`.
std::string describe(const Source& source);

/// One entry of `identities`.
struct Definition {
  std::string name;
  Source source;
  friend bool operator==(const Definition&, const Definition&) = default;
};

}  // namespace weir::identity
