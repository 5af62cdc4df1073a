#include "routing/matcher.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

bool host_matches(std::string_view pattern, std::string_view host) {
  host = without_root_dot(host);
  if (!pattern.starts_with("*.")) return http::iequals(pattern, host);
  pattern.remove_prefix(1);
  return host.size() > pattern.size() &&
         http::iequals(pattern, host.substr(host.size() - pattern.size()));
}

}  // namespace

bool matches_host(const Match& match, const http::RequestView& request) {
  return !match.host || request.host.empty() || host_matches(*match.host, request.host);
}

bool contains_method(const std::vector<std::string>& methods, std::string_view method) {
  return std::any_of(methods.begin(), methods.end(), [method](const auto& wanted) {
    return wanted == method || (wanted == "GET" && method == "HEAD");
  });
}

bool matches_method(const Match& match, const http::RequestView& request) {
  return match.methods.empty() || contains_method(match.methods, request.method);
}

bool matches_header(const std::pair<std::string, std::string>& header,
                    const http::RequestView& request) {
  return std::any_of(
      request.fields.begin(), request.fields.end(), [&](const http::FieldView& field) {
        return http::iequals(field.name, header.first) && field.value == header.second;
      });
}

bool meets_conditions(const Match& match, const http::RequestView& request,
                      const IpAddress& client) {
  if (!matches_host(match, request) || !matches_method(match, request)) return false;
  return std::all_of(match.headers.begin(), match.headers.end(),
                     [&](const auto& header) { return matches_header(header, request); }) &&
         matches_address(match, client);
}

}  // namespace weir::routing
