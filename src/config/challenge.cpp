#include "config/challenge.hpp"

#include <variant>

#include "http/request_view.hpp"

namespace weir::config {
namespace {

/// A token, and credentials in Authorization: both are of the scheme Bearer.
bool is_bearer(const identity::Source& source) {
  if (std::holds_alternative<identity::FromClaim>(source.from)) return true;
  const std::string* const header = identity::header_of(source);
  return header != nullptr && http::iequals(*header, "authorization");
}

}  // namespace

std::string challenge_line(const Config& config, const proxy::Route& route) {
  bool bearer = false;
  bool api_key = false;
  for (const limiter::Limit& limit : route.limits) {
    if (!limit.required) continue;
    identity::each_part(
        config.identities[limit.identity].source,
        [&](const identity::Source& part) { (is_bearer(part) ? bearer : api_key) = true; });
  }
  if (!bearer && !api_key) return {};
  std::string line = "WWW-Authenticate: ";
  if (bearer) line += "Bearer";
  if (bearer && api_key) line += ", ";
  // Not a registered scheme: there is none for a key in a header field, a parameter or a cookie.
  if (api_key) line += "ApiKey";
  return line += "\r\n";
}

}  // namespace weir::config
