// `jwt_providers`: the issuers of tokens, and how their tokens are verified.

#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using identity::TokenProvider;

constexpr std::size_t most_algorithms = 16;
constexpr std::size_t most_audiences = 64;
constexpr std::string_view algorithm_names =
    "HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA";

/// A provider while it is read.
struct ProviderDraft {
  Config& config;
  TokenProvider provider;
  std::size_t places = 0;
};

void read_place_header(const Cursor& in, ProviderDraft& to) {
  ++to.places;
  auto name =
      read_field_name(in, "expected a name of letters, digits and -, such as authorization");
  if (name) to.provider.place = identity::FromHeader{.name = *std::move(name)};
}

void read_place_query(const Cursor& in, ProviderDraft& to) {
  ++to.places;
  const auto text = in.text();
  if (text && text->empty()) in.error("expected the name of a query parameter");
  to.provider.place = identity::FromQuery{.name = text.value_or("")};
}

void read_place_cookie(const Cursor& in, ProviderDraft& to) {
  ++to.places;
  auto name =
      read_form(in, http::is_token, "expected a name of letters, digits and -, such as session");
  if (name) to.provider.place = identity::FromCookie{.name = *std::move(name)};
}

void read_algorithms(const Cursor& in, ProviderDraft& to) {
  for_each_item(in, "a list of algorithms, such as [RS256, ES256]", most_algorithms,
                [&](const Cursor& item) {
                  const auto text = item.text();
                  if (!text) return;
                  if (*text == "none")
                    return item.error(
                        "tokens without a signature are never accepted; name the algorithms of the "
                        "issuer, such as RS256");
                  const auto algorithm = jwt::find_algorithm(*text);
                  if (!algorithm)
                    return item.error_showing("expected " + std::string(algorithm_names));
                  to.provider.rules.algorithms.add(*algorithm);
                });
}

void read_nonempty(const Cursor& in, std::optional<std::string>& to) {
  auto text = in.text();
  if (!text) return;
  if (text->empty()) return in.error("is empty; remove the key to accept any value");
  to = *std::move(text);
}

void read_audience(const Cursor& in, ProviderDraft& to) {
  auto& audiences = to.provider.rules.audiences;
  const auto read = [&](const Cursor& one) {
    std::optional<std::string> text;
    read_nonempty(one, text);
    if (text) audiences.push_back(*std::move(text));
  };
  if (in.node().kind == Node::Kind::scalar) return read(in);
  for_each_item(in, "an audience or a list of them, such as [api]", most_audiences, read);
}

void read_provider_secret(const Cursor& in, ProviderDraft& to) {
  Secret& secret = to.provider.keys_from.secret;
  read_secret(in, secret);
  auto keys = jwt::KeySet::of_secret(secret);
  if (!keys) return in.error(keys.error().message);
  to.provider.state->keys.publish(std::make_shared<const jwt::KeySet>(*std::move(keys)));
}

constexpr Key<ProviderDraft> provider_keys[] = {
    {.name = "header", .read = read_place_header},
    {.name = "query", .read = read_place_query},
    {.name = "cookie", .read = read_place_cookie},
    {.name = "algorithms", .read = read_algorithms, .required = true},
    {.name = "jwks",
     .read = [](const Cursor& in, ProviderDraft& to) { read_jwks(in, to.provider, to.config); }},
    {.name = "secret", .read = read_provider_secret},
    {.name = "issuer",
     .read = [](const Cursor& in,
                ProviderDraft& to) { read_nonempty(in, to.provider.rules.issuer); }},
    {.name = "audience", .read = read_audience},
    {.name = "type",
     .read = [](const Cursor& in,
                ProviderDraft& to) { read_nonempty(in, to.provider.rules.type); }},
    {.name = "leeway",
     .read =
         [](const Cursor& in, ProviderDraft& to) {
           read_duration(in, to.provider.rules.leeway, {Duration{0}, std::chrono::minutes(5)});
         }},
    {.name = "require_exp",
     .read = [](const Cursor& in,
                ProviderDraft& to) { read_flag(in, to.provider.rules.is_expiry_required); }},
    {.name = "max_age",
     .read =
         [](const Cursor& in, ProviderDraft& to) {
           read_duration(in, to.provider.rules.max_age.emplace(),
                         {std::chrono::seconds(1), std::chrono::days(365)});
         }},
    {.name = "max_size",
     .read =
         [](const Cursor& in, ProviderDraft& to) {
           read_size_into(in, to.provider.rules.max_size, {256, 64 * 1024});
         }},
    {.name = "on_invalid",
     .read =
         [](const Cursor& in, ProviderDraft& to) {
           read_choice(in, to.provider.rejects_invalid, {{"reject", true}, {"absent", false}});
         }},
};

/// A secret and a public key must not verify the same algorithm: a token signed with the text of
/// the public key would pass.
void check_algorithms(const Cursor& in, const ProviderDraft& draft) {
  const bool has_secret = in.has("secret");
  const Cursor list = in.at_key("algorithms");
  const std::size_t secret_size = draft.provider.keys_from.secret.reveal().size();
  for (const auto& [name, bytes] :
       {std::pair{"HS256", std::size_t{32}}, {"HS384", 48}, {"HS512", 64}}) {
    const bool is_allowed = draft.provider.rules.algorithms.contains(*jwt::find_algorithm(name));
    if (is_allowed && !has_secret)
      list.error(std::string(name) + " needs `secret:`; a JWK set has public keys only");
    if (is_allowed && secret_size > 0 && secret_size < bytes)
      in.at_key("secret").error(
          "too short for " + std::string(name) + ": at least " + std::to_string(bytes) +
          " bytes are needed (RFC 7518 section 3.2); `openssl rand -hex 32` prints "
          "enough");
  }
  using enum jwt::JwsAlgorithm;
  for (const auto algorithm :
       {rs256, rs384, rs512, ps256, ps384, ps512, es256, es384, es512, eddsa}) {
    if (has_secret && draft.provider.rules.algorithms.contains(algorithm))
      return list.error(std::string(jwt::name_of(algorithm)) +
                        " needs public keys (`jwks:`); with `secret:` only HS256, HS384 and HS512 "
                        "are possible");
  }
}

void check_provider(const Cursor& in, const ProviderDraft& draft) {
  if (!in.is_map()) return;
  if (draft.places > 1) in.error("expected one of header, query and cookie");
  const bool has_secret = in.has("secret");
  if (has_secret == in.has("jwks"))
    return in.error(
        has_secret ? "expected either jwks or secret, not both"
                   : "has no keys: add jwks: {url: URL} or {file: NAME}, or secret: for HS256");
  check_algorithms(in, draft);
}

}  // namespace

void read_jwt_providers(const Cursor& in, Config& to) {
  for_each_named(in, "a map of providers by name", identity::provider_limit,
                 [&](const std::string& name, const Cursor& entry) {
                   ProviderDraft draft{.config = to, .provider = {}};
                   draft.provider.name = name;
                   draft.provider.place = identity::FromHeader{.name = "authorization"};
                   read_table(entry, provider_keys, draft);
                   check_provider(entry, draft);
                   to.limiter.token_providers.push_back(std::move(draft.provider));
                 });
}
}  // namespace weir::config
