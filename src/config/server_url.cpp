#include "config/server_url.hpp"

#include "config/http_url.hpp"

namespace weir::config {
namespace {

constexpr UrlForms server_url_forms{
    .example = "http://127.0.0.1:3000",
    .schemes = "http://HOST:PORT or https://HOST:PORT",
    .expected = "http://HOST:PORT, such as http://127.0.0.1:3000 or http://[::1]:3000"};

}  // namespace

Result<upstream::Server> parse_server_url(std::string_view url) {
  for (const std::string_view scheme : {"grpc://", "grpcs://", "h2c://", "h2://"}) {
    if (url.starts_with(scheme))
      return Problem{
          "Weir speaks HTTP/1.1 to servers, and no HTTP/2 and gRPC; write http:// or "
          "https:// if the server speaks it too"};
  }
  const Result<HttpUrl> parts = split_http_url(url, server_url_forms);
  if (!parts) return parts.error();
  if (!parts->rest.empty() && parts->rest != "/")
    return Problem{
        "the URL ends after HOST:PORT; the path and query are those of the request: "
        "remove what follows"};
  return upstream::Server{.url = std::string(url),
                          .host = std::string(parts->host),
                          .port = parts->port,
                          .secure = parts->is_secure};
}

}  // namespace weir::config
