#include "scenario/tokens.hpp"

#include <algorithm>
#include <memory>
#include <variant>

#include "base/random.hpp"
#include "http/request_view.hpp"
#include "identity/token_provider.hpp"
#include "json/write.hpp"

namespace weir::scenario {
namespace {

std::string random_secret() {
  std::string secret;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t part = random_seed();
    secret.append(reinterpret_cast<const char*>(&part), sizeof part);
  }
  return secret;
}

/// The claims with those that the provider requires.
std::string complete(const jwt::Provider& rules, const TokenClaims& claims, Instant at,
                     Duration lifetime) {
  std::string json = claims.json.substr(0, claims.json.size() - 1);
  const auto add = [&](std::string_view name, const std::string& value) {
    if (std::ranges::find(claims.names, name) != claims.names.end()) return;
    if (json.size() > 1) json += ',';
    json.append("\"").append(name).append("\":").append(value);
  };
  const auto text = [](std::string_view value) {
    std::string quoted;
    json::append_string(quoted, value);
    return quoted;
  };
  const auto seconds = [](Instant instant) { return std::to_string(to_us(instant) / 1'000'000); };
  if (rules.issuer) add("iss", text(*rules.issuer));
  if (!rules.audiences.empty()) add("aud", text(rules.audiences.front()));
  add("iat", seconds(at));
  add("exp", seconds(at + lifetime));
  return json + '}';
}

void put(const identity::TokenPlace& place, const std::string& token, Request& to) {
  if (const auto* const header = std::get_if<identity::FromHeader>(&place)) {
    const bool has_scheme = http::iequals(header->name, "authorization") ||
                            http::iequals(header->name, "proxy-authorization");
    to.fields.emplace_back(header->name, (has_scheme ? "Bearer " : "") + token);
  } else if (const auto* const query = std::get_if<identity::FromQuery>(&place)) {
    const std::size_t end = std::min(to.url.find('#'), to.url.size());
    const bool has_query = to.url.find('?') < end;
    to.url.insert(end, (has_query ? '&' : '?') + query->name + '=' + token);
  } else {
    const std::string pair = std::get<identity::FromCookie>(place).name + '=' + token;
    const auto cookie = std::ranges::find_if(
        to.fields, [](const auto& field) { return http::iequals(field.first, "cookie"); });
    if (cookie == to.fields.end()) {
      to.fields.emplace_back("cookie", pair);
    } else {
      cookie->second += "; " + pair;
    }
  }
}

}  // namespace

Tokens::Tokens() : issuer_(random_secret()) {}

void Tokens::join(identity::TokenProvider& provider) const {
  static const jwt::KeySet no_keys;
  auto& published = provider.state->keys;
  const auto keys = published.edition().keys;
  published.publish(
      std::make_shared<const jwt::KeySet>(issuer_.join(provider.rules, keys ? *keys : no_keys)));
}

void Tokens::add(const identity::TokenProvider& provider, const TokenClaims& claims, Instant at,
                 Duration lifetime, Request& to) const {
  const std::string token = issuer_.token(complete(provider.rules, claims, at, lifetime),
                                          provider.rules.type.value_or("JWT"));
  put(provider.place, token, to);
}

}  // namespace weir::scenario
