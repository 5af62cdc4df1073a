#include "config/url.hpp"

#include <algorithm>
#include <string>

#include "base/ip_address.hpp"
#include "config/endpoint.hpp"
#include "http/request_view.hpp"

namespace weir::config {
namespace {

constexpr UrlForms server_url_forms{
    .example = "http://127.0.0.1:3000",
    .schemes = "http://HOST:PORT or https://HOST:PORT",
    .expected = "http://HOST:PORT, such as http://127.0.0.1:3000 or http://[::1]:3000"};

bool is_target_character(char c) {
  return c > ' ' && c <= '~';
}

}  // namespace

std::optional<Url> split_url(std::string_view text) {
  constexpr std::string_view separator = "://";
  const std::size_t scheme_end = text.find(separator);
  if (scheme_end == std::string_view::npos) return std::nullopt;
  Url url{.scheme = text.substr(0, scheme_end)};
  const std::string_view after = text.substr(scheme_end + separator.size());
  url.authority = after.substr(0, after.find_first_of("/?#"));
  url.rest = after.substr(url.authority.size());
  const std::size_t at = url.authority.rfind('@');
  if (at != std::string_view::npos) {
    url.user_info = url.authority.substr(0, at);
    url.authority.remove_prefix(at + 1);
  }
  return url;
}

Result<HttpUrl> split_http_url(std::string_view text, const UrlForms& forms) {
  const std::optional<Url> url = split_url(text);
  if (!url) return Problem{"expected a URL, such as " + std::string(forms.example)};
  const bool is_secure = http::iequals(url->scheme, "https");
  if (!is_secure && !http::iequals(url->scheme, "http"))
    return Problem{"unknown scheme; expected " + std::string(forms.schemes)};
  if (url->user_info) return Problem{"a user or password in the URL is not used; remove it"};
  const std::optional<HostAndPort> parts = split_host_and_port(url->authority);
  if (!parts) return Problem{"expected " + std::string(forms.expected)};
  const std::uint16_t port = parts->port.value_or(is_secure ? 443 : 80);
  if (port == 0) return Problem{"port 0 cannot be connected to"};
  return HttpUrl{.is_secure = is_secure, .host = parts->host, .port = port, .rest = url->rest};
}

Result<http::Url> parse_request_url(std::string_view text, const UrlForms& forms) {
  const Result<HttpUrl> parts = split_http_url(text, forms);
  if (!parts) return parts.error();
  const std::string_view rest = parts->rest;
  if (rest.find('#') != std::string_view::npos)
    return Problem{"a fragment (# and what follows) is not sent; remove it"};
  if (!std::ranges::all_of(rest, is_target_character)) {
    return Problem{
        "the path or the query has a space, a control character or a letter outside ASCII; write "
        "it as %XX"};
  }
  return http::Url{.is_secure = parts->is_secure,
                   .host = std::string(parts->host),
                   .port = parts->port,
                   .target = std::string(rest.starts_with('/') ? "" : "/").append(rest)};
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = IpAddress::parse(host);
  return address && (address->to_string() == "::1" || address->to_string().starts_with("127."));
}

Result<options::Server> parse_server_url(std::string_view text) {
  for (const std::string_view scheme : {"grpc://", "grpcs://", "h2c://", "h2://"}) {
    if (text.starts_with(scheme))
      return Problem{
          "write http:// or https://, and protocol: http2 in the upstream if its servers speak "
          "HTTP/2"};
  }
  const Result<HttpUrl> url = split_http_url(text, server_url_forms);
  if (!url) return url.error();
  if (!url->rest.empty() && url->rest != "/")
    return Problem{
        "the URL ends after HOST:PORT; the path and query are those of the request: "
        "remove what follows"};
  return options::Server{.url = std::string(text),
                         .host = std::string(url->host),
                         .port = url->port,
                         .secure = url->is_secure};
}

}  // namespace weir::config
