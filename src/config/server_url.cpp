#include "config/server_url.hpp"

#include "config/host.hpp"
#include "http/request_view.hpp"

namespace weir::config {

Result<upstream::Server> parse_server_url(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos)
    return Problem{"expected a URL, such as http://127.0.0.1:3000"};
  const std::string_view scheme = url.substr(0, scheme_end);
  const bool secure = http::iequals(scheme, "https");
  if (!secure && !http::iequals(scheme, "http"))
    return Problem{"unknown scheme; expected http://HOST:PORT or https://HOST:PORT"};

  const std::string_view rest = url.substr(scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return Problem{"a user or password in the URL is not used; remove it"};
  }
  if (rest.size() > authority.size() && rest.substr(authority.size()) != "/") {
    return Problem{"the URL ends after HOST:PORT; the path and query are those of the request"};
  }
  const std::optional<HostAndPort> parts = split_host_and_port(authority);
  if (!parts)
    return Problem{"expected http://HOST:PORT, such as http://127.0.0.1:3000 or http://[::1]:3000"};
  const std::uint16_t port = parts->port.value_or(secure ? 443 : 80);
  if (port == 0) return Problem{"port 0 cannot be connected to"};
  return upstream::Server{
      .url = std::string(url), .host = std::string(parts->host), .port = port, .secure = secure};
}

}  // namespace weir::config
