#include "config/key_url.hpp"

#include <algorithm>

#include "base/ip_address.hpp"
#include "config/http_url.hpp"
#include "config/sections.hpp"

namespace weir::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr DurationRange refresh_range{seconds(10), hours(24)};
constexpr DurationRange cooldown_range{seconds(1), hours(1)};
constexpr DurationRange timeout_range{milliseconds(100), minutes(1)};

constexpr UrlForms forms{
    .example = "https://issuer.example/.well-known/jwks.json",
    .schemes = "https://HOST/PATH or http://HOST/PATH",
    .expected = "https://HOST/PATH, such as https://issuer.example/.well-known/jwks.json"};

bool is_target_character(char c) {
  return c > ' ' && c <= '~';
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = IpAddress::parse(host);
  return address && (address->to_string() == "::1" || address->to_string().starts_with("127."));
}

/// The text in the file, if it has a variable, else the URL. A query may have a key of the issuer.
std::string shown(const Cursor& in, const std::string& url) {
  const std::string text = in.shown(url);
  return text.substr(0, text.find('?'));
}

void read_url(const Cursor& in, KeyUrl& to) {
  const auto text = in.text();
  if (!text) return;
  Result<fetch::Url> url = parse_key_url(*text);
  if (!url) return in.error(url.error().message);
  to.url = *std::move(url);
  to.shown = shown(in, *text);
  if (!to.url.is_secure && !is_loopback(to.url.host))
    in.warn("over http:// anyone on the network path can replace the keys; use https://");
}

constexpr Key<KeyUrl> key_url_keys[] = {
    {.name = "url", .read = read_url, .required = true},
    {.name = "refresh",
     .read = [](const Cursor& in,
                KeyUrl& to) { read_duration(in, to.times.refresh, refresh_range); }},
    {.name = "cooldown",
     .read = [](const Cursor& in,
                KeyUrl& to) { read_duration(in, to.times.cooldown, cooldown_range); }},
    {.name = "timeout",
     .read = [](const Cursor& in, KeyUrl& to) { read_duration(in, to.timeout, timeout_range); }},
    {.name = "tls",
     .read = [](const Cursor& in, KeyUrl& to) { read_client_tls(in, to.tls); },
     .list = list_client_tls},
};

/// The schedule needs a cooldown of at most `refresh`.
void check_times(const Cursor& in, KeyUrl& to) {
  if (to.times.cooldown <= to.times.refresh) return;
  if (in.has("cooldown"))
    in.at_key("cooldown").error("longer than refresh; make it shorter, or refresh longer");
  to.times.cooldown = to.times.refresh;
}

}  // namespace

Result<fetch::Url> parse_key_url(std::string_view url) {
  const Result<HttpUrl> parts = split_http_url(url, forms);
  if (!parts) return parts.error();
  const std::string_view rest = parts->rest;
  if (rest.find('#') != std::string_view::npos)
    return Problem{"a fragment (# and what follows) is not sent; remove it"};
  if (!std::ranges::all_of(rest, is_target_character)) {
    return Problem{
        "the path or the query has a space, a control character or a letter outside ASCII; write "
        "it as %XX"};
  }
  return fetch::Url{.is_secure = parts->is_secure,
                    .host = std::string(parts->host),
                    .port = parts->port,
                    .target = std::string(rest.starts_with('/') ? "" : "/").append(rest)};
}

void read_key_url(const Cursor& in, KeyUrl& to) {
  read_table(in, key_url_keys, to);
  if (in.node().kind != Node::Kind::map) return;
  check_times(in, to);
  if (in.has("tls") && !to.url.host.empty() && !to.url.is_secure)
    in.at_key("tls").error("tls has no meaning for http://; write https://");
}

void list_key_url(const std::string& path, KeyPaths& out) {
  list_section<key_url_keys>(path, out);
}

}  // namespace weir::config
