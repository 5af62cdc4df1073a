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

/// Services run the handler of GET for HEAD, so a route for GET is for HEAD as well.
bool method_matches(const std::vector<std::string>& methods, std::string_view method) {
  return std::any_of(methods.begin(), methods.end(), [method](const std::string& wanted) {
    return wanted == method || (wanted == "GET" && method == "HEAD");
  });
}

/// Any line of that name may hold the value.
bool has_header(const http::RequestView& request, std::string_view name, std::string_view value) {
  return std::any_of(request.fields.begin(), request.fields.end(),
                     [&](const http::FieldView& field) {
                       return http::iequals(field.name, name) && field.value == value;
                     });
}

}  // namespace

bool matches_apart_from_path(const Match& match, const http::RequestView& request) {
  if (match.host && !request.host.empty() && !host_matches(*match.host, request.host)) return false;
  if (!match.methods.empty() && !method_matches(match.methods, request.method)) return false;
  return std::all_of(match.headers.begin(), match.headers.end(), [&](const auto& header) {
    return has_header(request, header.first, header.second);
  });
}

bool needs_host(const Match& match, const http::RequestView& request) {
  return match.host && request.host.empty();
}

}  // namespace weir::routing
