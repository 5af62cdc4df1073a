#include "config/http_url.hpp"

#include <optional>
#include <string>

#include "config/host.hpp"
#include "http/request_view.hpp"

namespace weir::config {

Result<HttpUrl> split_http_url(std::string_view url, const UrlForms& forms) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos)
    return Problem{"expected a URL, such as " + std::string(forms.example)};
  const std::string_view scheme = url.substr(0, scheme_end);
  const bool is_secure = http::iequals(scheme, "https");
  if (!is_secure && !http::iequals(scheme, "http"))
    return Problem{"unknown scheme; expected " + std::string(forms.schemes)};

  const std::string_view rest = url.substr(scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos)
    return Problem{"a user or password in the URL is not used; remove it"};
  const std::optional<HostAndPort> parts = split_host_and_port(authority);
  if (!parts) return Problem{"expected " + std::string(forms.expected)};
  const std::uint16_t port = parts->port.value_or(is_secure ? 443 : 80);
  if (port == 0) return Problem{"port 0 cannot be connected to"};
  return HttpUrl{.is_secure = is_secure,
                 .host = parts->host,
                 .port = port,
                 .rest = rest.substr(authority.size())};
}

}  // namespace weir::config
