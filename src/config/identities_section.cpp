// `identities`: where a request identifies the client that it is counted for.
#include <algorithm>

#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using identity::Source;

constexpr std::size_t most_sources = 16;
constexpr std::string_view field_name_form =
    "expected a name of letters, digits and -, such as x-api-key";

/// A source while it is read.
struct IdentityDraft {
  std::vector<identity::TokenProvider>& providers;
  Source source{};
};

Source read_source(const Cursor& in, std::vector<identity::TokenProvider>& providers);

void read_header_source(const Cursor& in, IdentityDraft& to) {
  // The name is part of the key's hash, so its case must not matter.
  to.source.from = identity::FromHeader{read_field_name(in, field_name_form).value_or("")};
}

void read_query(const Cursor& in, IdentityDraft& to) {
  identity::FromQuery from;
  if (auto text = in.text()) {
    from.name = *std::move(text);
    if (from.name.empty()) in.error("expected the name of a query parameter");
  }
  to.source.from = std::move(from);
}

void read_cookie(const Cursor& in, IdentityDraft& to) {
  identity::FromCookie from;
  if (auto text = read_form(in, http::is_token, field_name_form)) from.name = *std::move(text);
  to.source.from = std::move(from);
}

/// `{}` is the whole path, a word one of its captured segments.
void read_path_source(const Cursor& in, IdentityDraft& to) {
  identity::FromPath from;
  const bool is_whole = in.is_map() && in.node().entries.empty();
  if (!is_whole) {
    const auto text = in.text();
    if (text && text->empty())
      in.error("expected the name of a path segment, or {} for the whole path");
    from.parameter = text.value_or("");
  }
  to.source.from = std::move(from);
}

void read_client(const Cursor& in, IdentityDraft& to) {
  if (!in.is_map() || !in.node().entries.empty()) {
    in.error("expected {}; how the address is found is set under the top-level client_address");
  }
  to.source.from = identity::FromClientAddress{};
}

void read_token_claim(const Cursor& in, IdentityDraft& to) {
  identity::FromClaim from;
  read_claim(in, to.providers, from);
  to.source.from = std::move(from);
}

bool may_be_repeated(const Source& source) {
  return std::holds_alternative<identity::FromQuery>(source.from) ||
         std::holds_alternative<identity::FromCookie>(source.from);
}

/// Allowed with query or cookie, which the table reads first.
void read_repeated(const Cursor& in, IdentityDraft& to) {
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
void read_malformed(const Cursor& in, IdentityDraft& to) {
  auto malformed = identity::Malformed::refuse;
  read_choice(in, malformed,
              {{"refuse", identity::Malformed::refuse}, {"accept", identity::Malformed::accept}});
  if (auto* const cookie = std::get_if<identity::FromCookie>(&to.source.from))
    cookie->malformed = malformed;
}

std::vector<Source> read_sources(const Cursor& in, IdentityDraft& to) {
  std::vector<Source> sources;
  for_each_item(in, "a list of sources, such as [{header: x-api-key}, {query: api_key}]",
                most_sources,
                [&](const Cursor& item) { sources.push_back(read_source(item, to.providers)); });
  return sources;
}

constexpr Key<IdentityDraft> identity_source_keys[] = {
    {.name = "client_address", .read = read_client},
    {.name = "header", .read = read_header_source},
    {.name = "query", .read = read_query},
    {.name = "cookie", .read = read_cookie},
    {.name = "repeated", .read = read_repeated},
    {.name = "malformed", .read = read_malformed},
    {.name = "path", .read = read_path_source},
    {.name = "any_of",
     .read = [](const Cursor& in,
                IdentityDraft& to) { to.source.from = identity::AnyOf{read_sources(in, to)}; }},
    {.name = "all_of",
     .read = [](const Cursor& in,
                IdentityDraft& to) { to.source.from = identity::AllOf{read_sources(in, to)}; }},
    {.name = "jwt", .read = read_token_claim},
};

void check_identity_source(const Cursor& in, const Source& source) {
  if (!in.is_map()) return;
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
  IdentityDraft draft{.providers = providers};
  read_table(in, identity_source_keys, draft);
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
                   identity::Definition identity{
                       .name = name, .source = read_source(entry, to.limiter.token_providers)};
                   const auto existing = std::find_if(
                       to.limiter.identities.begin(), to.limiter.identities.end(),
                       [&](const identity::Definition& other) { return other.name == name; });
                   if (existing == to.limiter.identities.end()) {
                     to.limiter.identities.push_back(std::move(identity));
                   } else {
                     warn_of_another_client(entry, identity);
                     *existing = std::move(identity);
                   }
                 });
  // `client` exists even if it is not written.
  if (to.limiter.identities.size() > limiter::identity_limit) {
    in.error("more than " + std::to_string(limiter::identity_limit) +
             " identities, client included");
  }
}
}  // namespace weir::config
