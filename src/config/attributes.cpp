#include <algorithm>
#include <iterator>
#include <utility>

#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using Kind = limiter::Attribute::Kind;

/// Reads PROVIDER:CLAIM, or the CLAIM of the only provider.
bool fill_claim(const Cursor& in, std::string_view kind,
                std::vector<identity::TokenProvider>& providers, limiter::Attribute& to) {
  to.kind = Kind::claim;
  std::optional<std::size_t> provider = 0;
  std::string claim = to.name;
  if (kind == "claim") {
    const std::size_t colon = std::min(to.name.find(':'), to.name.size());
    const std::string name = to.name.substr(0, colon);
    provider = find_named(in, {.what = "JWT provider", .written = name, .shown = in.shown(name)},
                          providers);
    claim = to.name.substr(std::min(colon + 1, to.name.size()));
  } else if (providers.size() != 1) {
    in.error("jwt:CLAIM needs exactly one entry of jwt_providers; write claim:PROVIDER:CLAIM");
    return false;
  }
  if (!provider) return false;
  to.source.from = claim_of(in, providers[*provider], *provider, std::move(claim));
  return true;
}

/// Returns false after reporting what is wrong with the part after the colon.
bool fill_named(const Cursor& in, std::string_view kind, Config& config, limiter::Attribute& to) {
  if (kind == "header") {
    to.kind = Kind::header;
    to.source.from = identity::FromHeader{to.name};
    if (http::is_token(to.name)) return true;
    in.error_showing("expected header:NAME, such as header:user-agent");
    return false;
  }
  if (kind == "query") {
    to.kind = Kind::query;
    to.source.from = identity::FromQuery{to.name};
    if (!to.name.empty()) return true;
    in.error_showing("expected query:NAME, such as query:page");
    return false;
  }
  if (kind == "claim" || kind == "jwt")
    return fill_claim(in, kind, config.limiter.token_providers, to);
  to.kind = Kind::identity;
  const std::string_view shown = in.node().text;
  const std::size_t colon = shown.find(':');
  const Reference reference{
      .what = "identity", .written = to.name, .shown = shown.substr(colon + 1)};
  const auto index = find_named(in, reference, config.limiter.identities);
  if (index) to.source = config.limiter.identities[*index].source;
  return index.has_value();
}

bool fill_plain(std::string_view text, limiter::Attribute& to) {
  if (text == "client_address") {
    to.kind = Kind::client_address;
    to.source.from = identity::FromClientAddress{};
  } else if (text == "method") {
    to.kind = Kind::method;
  } else if (text == "path") {
    to.kind = Kind::path;
  } else {
    return false;
  }
  return true;
}

void read_attribute(const Cursor& in, Config& config, std::vector<limiter::Attribute>& to) {
  const auto text = in.text();
  if (!text) return;
  limiter::Attribute attribute;
  attribute.text = *text;
  if (fill_plain(*text, attribute)) {
    to.push_back(std::move(attribute));
    return;
  }
  const std::size_t colon = std::min(text->find(':'), text->size());
  const std::string kind = text->substr(0, colon);
  constexpr std::string_view kinds[] = {"header", "query", "identity", "claim", "jwt"};
  if (colon == text->size() || std::ranges::find(kinds, kind) == std::end(kinds)) {
    return in.error_showing(
        "expected header:NAME, query:NAME, identity:NAME, claim:PROVIDER:CLAIM, client_address, "
        "method or path");
  }
  attribute.name = text->substr(colon + 1);
  if (fill_named(in, kind, config, attribute)) to.push_back(std::move(attribute));
}

}  // namespace

void read_attributes(const Cursor& in, Config& config, std::vector<limiter::Attribute>& to) {
  for_each_item(in, "a list of attributes, such as [header:user-agent]", limiter::attribute_limit,
                [&](const Cursor& item) { read_attribute(item, config, to); });
}

}  // namespace weir::config
