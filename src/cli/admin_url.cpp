#include "cli/admin_url.hpp"

#include "config/endpoint.hpp"
#include "config/suggest.hpp"

namespace weir::cli {

Result<Endpoint> parse_admin_url(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  std::string_view address = url;
  const bool is_http = address.starts_with(scheme);
  if (is_http) {
    address.remove_prefix(scheme.size());
    if (address.ends_with('/')) address.remove_suffix(1);
  }
  const auto endpoint = config::parse_endpoint(address);
  if (!endpoint || endpoint->is_unix() == is_http || (is_http && endpoint->port == 0)) {
    return Problem{config::in_quotes(url) +
                   " is not the URL of an admin server; write http://HOST:PORT, such as "
                   "http://127.0.0.1:9090, or unix:/path"};
  }
  return *endpoint;
}

std::string advice_on_unreached(std::string_view url) {
  if (url != default_admin_url) return {};
  return "; this is the default address: for another admin.address write "
         "--admin http://HOST:PORT or --admin unix:/path";
}

}  // namespace weir::cli
