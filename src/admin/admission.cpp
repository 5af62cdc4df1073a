#include "admin/admission.hpp"

#include <algorithm>

#include "base/ip_address.hpp"
#include "http/authority.hpp"
#include "http/request_view.hpp"

namespace weir::admin {
namespace {

bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return IpAddress::parse(host).has_value();
}

bool is_own(std::string_view field, const options::Admin& admin) {
  const auto authority = http::parse_authority(field);
  if (!authority) return false;
  std::string_view host = authority->host;
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto is_host = [host](std::string_view name) { return http::iequals(name, host); };
  return is_address(host) || is_host("localhost") || is_host(admin.address.host) ||
         std::any_of(admin.hosts.begin(), admin.hosts.end(), is_host);
}

/// An origin is `scheme://host[:port]`, where the port is left out as it is in Host.
bool is_origin_of(std::string_view origin, std::string_view host) {
  const auto scheme_end = origin.find("://");
  return scheme_end != std::string_view::npos && http::iequals(origin.substr(scheme_end + 3), host);
}

}  // namespace

std::string_view why_foreign(const Provenance& from, const options::Admin& admin) {
  if (from.host && !admin.address.is_unix() && !is_own(*from.host, admin)) {
    return "the Host field is neither an IP address nor a name of this server; add the name to "
           "admin.hosts, or set admin.token";
  }
  if (from.origin && !is_origin_of(*from.origin, from.host.value_or(std::string_view{}))) {
    return "the request comes from a page of another origin; set admin.token to let it use this "
           "server";
  }
  return {};
}

}  // namespace weir::admin
