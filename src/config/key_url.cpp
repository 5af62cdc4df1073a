#include "config/key_url.hpp"

#include "config/data_files.hpp"
#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/url.hpp"

namespace weir::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr DurationRange refresh_range{seconds(10), hours(24)};
constexpr DurationRange cooldown_range{seconds(1), hours(1)};
constexpr DurationRange fetch_timeout_range{milliseconds(100), minutes(1)};

constexpr UrlForms key_url_forms{
    .example = "https://issuer.example/.well-known/jwks.json",
    .schemes = "https://HOST/PATH or http://HOST/PATH",
    .expected = "https://HOST/PATH, such as https://issuer.example/.well-known/jwks.json"};

/// The text in the file, if it has a variable, else the URL; without a query, which may be secret.
std::string shown(const Cursor& in, const std::string& url) {
  const std::string text = in.shown(url);
  return text.substr(0, text.find('?'));
}

/// The map `jwks` while it is read.
struct Jwks {
  Config& config;
  identity::TokenProvider& provider;
  KeyUrl keys{};
};

void read_keys(const Cursor& in, Jwks& to) {
  auto file = read_data_file_name(in);
  if (!file) return;
  to.provider.keys_from.file = file->path;
  if (!in.environment().reads_data_files) return;
  KeyFileContent content = read_key_file(file->path, file->shown);
  note_content(in, content);
  to.provider.state->keys.publish(std::make_shared<const jwt::KeySet>(std::move(content.keys)));
  to.config.key_files.push_back({*std::move(file), to.provider.name, to.provider.state});
}

void read_url(const Cursor& in, Jwks& to) {
  const auto text = in.text();
  if (!text) return;
  Result<http::Url> url = parse_key_url(*text);
  if (!url) return in.error(url.error().message + variable_hint(in.node().text));
  // A query may have a key of the issuer.
  if (text->find('?') != std::string::npos) in.note_secret(holds_variable(in.node().text));
  to.provider.keys_from.url = *text;
  to.keys.url = *std::move(url);
  to.keys.shown = shown(in, *text);
  if (!to.keys.url.is_secure && !is_loopback(to.keys.url.host))
    in.warn("over http:// anyone on the network path can replace the keys; use https://");
}

constexpr Key<Jwks> jwks_keys[] = {
    {.name = "file", .read = read_keys},
    {.name = "url", .read = read_url},
    {.name = "refresh",
     .read = [](const Cursor& in,
                Jwks& to) { read_duration(in, to.keys.times.refresh, refresh_range); }},
    {.name = "cooldown",
     .read = [](const Cursor& in,
                Jwks& to) { read_duration(in, to.keys.times.cooldown, cooldown_range); }},
    {.name = "timeout", .read = read::duration<fetch_timeout_range, &Jwks::keys, &KeyUrl::timeout>},
    {.name = "tls", .read = read::with<read_client_tls, &Jwks::keys, &KeyUrl::tls>},
};

/// The schedule needs a cooldown of at most `refresh`.
void check_times(const Cursor& in, KeyUrl& keys) {
  if (keys.times.cooldown <= keys.times.refresh) return;
  if (in.has("cooldown"))
    in.at_key("cooldown").error("longer than refresh; make it shorter, or refresh longer");
  keys.times.cooldown = keys.times.refresh;
}

void check_without_url(const Cursor& in) {
  for (const std::string_view key : {"refresh", "cooldown", "timeout", "tls"}) {
    if (in.has(key)) in.at_key(key).error("has no meaning without url");
  }
}

}  // namespace

Result<http::Url> parse_key_url(std::string_view url) {
  return parse_request_url(url, key_url_forms);
}

void read_jwks(const Cursor& in, identity::TokenProvider& provider, Config& to) {
  Jwks jwks{.config = to, .provider = provider};
  if (!read_table(in, jwks_keys, jwks)) return;
  if (in.node().entries.empty()) return in.error("expected {file: NAME} or {url: URL}");
  if (!in.has("url")) return check_without_url(in);
  if (in.has("file")) return in.error("expected either file or url, not both");
  KeyUrl& keys = jwks.keys;
  check_times(in, keys);
  if (in.has("tls") && !keys.url.host.empty() && !keys.url.is_secure)
    in.at_key("tls").error("tls has no meaning for http://; write https://");
  keys.provider = provider.name;
  keys.keys = {provider.state, &provider.state->keys};
  to.key_urls.push_back(std::move(keys));
}

}  // namespace weir::config
