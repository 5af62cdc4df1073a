// `identities`: where a request identifies the client that it is counted for.
#include <algorithm>

#include "config/claims.hpp"
#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using identity::Source;

constexpr std::size_t most_sources = 16;

/// A source while it is read.
struct SourceDraft {
  std::vector<identity::TokenProvider>& providers;
  Source source{};
};

Source read_source(const Cursor& in, std::vector<identity::TokenProvider>& providers);

void read_field_name(const Cursor& in, std::string& to) {
  const auto text = in.text();
  if (!text) return;
  if (!http::is_token(*text))
    return in.error_showing("expected a name of letters, digits and -, such as x-api-key");
  to = *text;
}

void read_header(const Cursor& in, SourceDraft& to) {
  identity::FromHeader from;
  read_field_name(in, from.name);
  // The name is part of the key's hash, so its case must not matter.
  std::transform(from.name.begin(), from.name.end(), from.name.begin(), http::to_lower);
  to.source.from = std::move(from);
}

void read_query(const Cursor& in, SourceDraft& to) {
  identity::FromQuery from;
  if (auto text = in.text()) {
    from.name = *std::move(text);
    if (from.name.empty()) in.error("expected the name of a query parameter");
  }
  to.source.from = std::move(from);
}

void read_cookie(const Cursor& in, SourceDraft& to) {
  identity::FromCookie from;
  read_field_name(in, from.name);
  to.source.from = std::move(from);
}

/// `{}` is the whole path, a word one of its captured segments.
void read_path(const Cursor& in, SourceDraft& to) {
  identity::FromPath from;
  const bool is_whole = in.node().kind == Node::Kind::map && in.node().entries.empty();
  if (!is_whole) {
    const auto text = in.text();
    if (text && text->empty())
      in.error("expected the name of a path segment, or {} for the whole path");
    from.parameter = text.value_or("");
  }
  to.source.from = std::move(from);
}

void read_client(const Cursor& in, SourceDraft& to) {
  if (in.node().kind != Node::Kind::map || !in.node().entries.empty()) {
    in.error("expected {}; how the address is found is set under the top-level client_address");
  }
  to.source.from = identity::FromClientAddress{};
}

void read_token_claim(const Cursor& in, SourceDraft& to) {
  identity::FromClaim from;
  read_claim(in, to.providers, from);
  to.source.from = std::move(from);
}

bool may_be_repeated(const Source& source) {
  return std::holds_alternative<identity::FromQuery>(source.from) ||
         std::holds_alternative<identity::FromCookie>(source.from);
}

/// Allowed with query or cookie, which the table reads first.
void read_repeated(const Cursor& in, SourceDraft& to) {
  auto repeated = identity::Repeated::refuse;
  read_choice(in, repeated,
              {{"refuse", identity::Repeated::refuse},
               {"first", identity::Repeated::first},
               {"last", identity::Repeated::last}});
  if (auto* const query = std::get_if<identity::FromQuery>(&to.source.from)) {
    query->repeated = repeated;
  } else if (auto* const cookie = std::get_if<identity::FromCookie>(&to.source.from)) {
    cookie->repeated = repeated;
  }
}

/// Allowed with cookie, which the table reads first.
void read_malformed(const Cursor& in, SourceDraft& to) {
  auto malformed = identity::Malformed::refuse;
  read_choice(in, malformed,
              {{"refuse", identity::Malformed::refuse}, {"accept", identity::Malformed::accept}});
  if (auto* const cookie = std::get_if<identity::FromCookie>(&to.source.from))
    cookie->malformed = malformed;
}

std::vector<Source> read_sources(const Cursor& in, SourceDraft& to) {
  std::vector<Source> sources;
  for_each_item(in, "a list of sources, such as [{header: x-api-key}, {query: api_key}]",
                most_sources,
                [&](const Cursor& item) { sources.push_back(read_source(item, to.providers)); });
  return sources;
}

constexpr Key<SourceDraft> source_keys[] = {
    {.name = "client_address", .read = read_client},
    {.name = "header", .read = read_header},
    {.name = "query", .read = read_query},
    {.name = "cookie", .read = read_cookie},
    {.name = "repeated", .read = read_repeated},
    {.name = "malformed", .read = read_malformed},
    {.name = "path", .read = read_path},
    {.name = "any_of",
     .read = [](const Cursor& in,
                SourceDraft& to) { to.source.from = identity::AnyOf{read_sources(in, to)}; }},
    {.name = "all_of",
     .read = [](const Cursor& in,
                SourceDraft& to) { to.source.from = identity::AllOf{read_sources(in, to)}; }},
    {.name = "jwt", .read = read_token_claim, .list = list_claim},
};

void check_identity_source(const Cursor& in, const Source& source) {
  if (in.node().kind != Node::Kind::map) return;
  const bool has_repeated = in.has("repeated");
  const bool has_malformed = in.has("malformed");
  if (in.node().entries.size() != 1U + (has_repeated ? 1 : 0) + (has_malformed ? 1 : 0)) {
    in.error(
        "expected exactly one source; for several write any_of: [{header: x-api-key}, {query: "
        "api_key}], or all_of");
  } else if (has_repeated && !may_be_repeated(source)) {
    in.at_key("repeated").error("only with query or cookie; a repeated header is always refused");
  } else if (has_malformed && !std::holds_alternative<identity::FromCookie>(source.from)) {
    in.at_key("malformed").error("only with cookie");
  }
}

Source read_source(const Cursor& in, std::vector<identity::TokenProvider>& providers) {
  SourceDraft draft{.providers = providers};
  read_table(in, source_keys, draft);
  check_identity_source(in, draft.source);
  return std::move(draft.source);
}

}  // namespace

namespace {

/// A limit without `key` counts the identity `client`, by default the address, which all requests
/// have.
void warn_of_another_client(const Cursor& in, const identity::Definition& client) {
  if (std::holds_alternative<identity::FromClientAddress>(client.source.from)) return;
  in.warn(
      "replaces the address of the client for all limits without key, and such limits do not apply "
      "to requests without this identity; give it another name, and write key: NAME in limits");
}

}  // namespace

void read_identities(const Cursor& in, Config& to) {
  for_each_named(in, "a map of identities by name", limiter::identity_limit,
                 [&](const std::string& name, const Cursor& entry) {
                   identity::Definition identity{.name = name,
                                                 .source = read_source(entry, to.token_providers)};
                   const auto existing = std::find_if(
                       to.identities.begin(), to.identities.end(),
                       [&](const identity::Definition& other) { return other.name == name; });
                   if (existing == to.identities.end()) {
                     to.identities.push_back(std::move(identity));
                   } else {
                     warn_of_another_client(entry, identity);
                     *existing = std::move(identity);
                   }
                 });
  // `client` exists even if it is not written.
  if (to.identities.size() > limiter::identity_limit) {
    in.error("more than " + std::to_string(limiter::identity_limit) +
             " identities, client included");
  }
}
void list_identities(const std::string& path, KeyPaths& out) {
  list_named<source_keys>(path, out);
}

}  // namespace weir::config
