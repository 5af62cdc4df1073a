#include "config/attributes.hpp"

#include "config/names.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using Kind = limiter::Attribute::Kind;

/// Returns false after reporting what is wrong with the part after the colon.
bool fill_named(const Cursor& in, std::string_view kind,
                const std::vector<identity::Definition>& identities, limiter::Attribute& to) {
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
  to.kind = Kind::identity;
  const std::string_view shown = in.node().text;
  const std::size_t colon = shown.find(':');
  const Reference reference{
      .what = "identity", .written = to.name, .shown = shown.substr(colon + 1)};
  const auto index = find_named(in, reference, identities);
  if (index) to.source = identities[*index].source;
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

void read_attribute(const Cursor& in, const std::vector<identity::Definition>& identities,
                    std::vector<limiter::Attribute>& to) {
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
  if (kind == "jwt") return in.not_supported("a jwt attribute");
  if (colon == text->size() || (kind != "header" && kind != "query" && kind != "identity")) {
    return in.error_showing(
        "expected header:NAME, query:NAME, identity:NAME, client_address, method or path");
  }
  attribute.name = text->substr(colon + 1);
  if (fill_named(in, kind, identities, attribute)) to.push_back(std::move(attribute));
}

}  // namespace

void read_attributes(const Cursor& in, const std::vector<identity::Definition>& identities,
                     std::vector<limiter::Attribute>& to) {
  for_each_item(in, "a list of attributes, such as [header:user-agent]", limiter::attribute_limit,
                [&](const Cursor& item) { read_attribute(item, identities, to); });
}

}  // namespace weir::config
