// The conditions of a route: any of host, path, methods, headers and the client's address. A
// request must fulfil all that are set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address_list.hpp"
#include "base/ip_address.hpp"
#include "http/request_view.hpp"
#include "routing/path_pattern.hpp"

namespace weir::routing {

struct Match {
  std::optional<std::string>
      host;  ///< exact, or "*.example.com" for any subdomain; case-insensitive; without port
  std::optional<PathPattern> path;
  std::vector<std::string> methods;  ///< empty: any; case-sensitive; GET includes HEAD
  std::vector<std::pair<std::string, std::string>>
      headers;                           ///< name (case-insensitive) and exact value
  std::optional<AddressList> address{};  ///< contains the whole address of the client
  friend bool operator==(const Match&, const Match&) = default;
};

/// Returns the host without the dot of the root: "example.com." is the same host.
inline std::string_view without_root_dot(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

/// True if `methods` contains `method`, or GET for HEAD: services run the handler of GET for HEAD.
bool contains_method(const std::vector<std::string>& methods, std::string_view method);

/// Check one condition each; true if the match does not have it.
bool matches_host(const Match& match, const http::RequestView& request);
bool matches_method(const Match& match, const http::RequestView& request);
inline bool matches_address(const Match& match, const IpAddress& client) {
  return !match.address || match.address->contains(client);
}
/// True if any field of the name has the value.
bool matches_header(const std::pair<std::string, std::string>& header,
                    const http::RequestView& request);

/// True if the path is the only condition.
inline bool is_for_any_request(const Match& match) {
  return !match.host && match.methods.empty() && match.headers.empty() && !match.address;
}

/// True if all but the path matches; `client` is the whole address of the client. A request without
/// a host (HTTP/1.0 without a Host field) matches every host: see needs_host().
bool meets_conditions(const Match& match, const http::RequestView& request,
                      const IpAddress& client);
inline bool matches_apart_from_path(const Match& match, const http::RequestView& request,
                                    const IpAddress& client) {
  return is_for_any_request(match) || meets_conditions(match, request, client);
}

/// True if the path matches in this reading; then captures hold the pattern's parameters, unless
/// they are nullptr.
inline bool matches_path(const Match& match, const PathReading& path, std::string_view* captures) {
  return !match.path || match.path->matches(path, captures);
}

/// True if `match` names a host and the request has none. The service may have a default site, so
/// such a request must be refused: neither this route nor a later one may serve it.
inline bool needs_host(const Match& match, const http::RequestView& request) {
  return match.host && request.host.empty();
}

/// The part of a route that selects its requests.
struct Route {
  std::string name;  ///< configured, or its path pattern, or "route-N"
  Match match;
  bool encoded_slashes = false;  ///< accepts %2F in paths, matched in both readings; else 400
  bool double_encoding = false;  ///< accepts %25 and two digits in paths; else 400
  bool decide = false;           ///< matched with the request that another proxy describes
  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace weir::routing
