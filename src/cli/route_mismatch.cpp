#include "cli/route_mismatch.hpp"

#include <array>
#include <string_view>

#include "config/key_path.hpp"

namespace weir::cli {
namespace {

using config::key_path;

std::string list_of(const std::vector<std::string>& methods, const config::Written& written,
                    const std::string& path) {
  std::string list;
  for (std::size_t i = 0; i < methods.size(); ++i)
    list += (i == 0 ? "" : ", ") + written.shown(config::item_path(path, i), methods[i]);
  return list;
}

}  // namespace

std::optional<std::string> mismatch(const routing::Match& match, const http::RequestView& request,
                                    const routing::PathReading& path,
                                    const config::Written& written, const std::string& match_path) {
  // Each part alone, by the function that decides about all of them.
  const auto matches = [&request](const routing::Match& part) {
    return routing::matches_apart_from_path(part, request);
  };
  if (match.host && !matches({.host = match.host, .path = {}, .methods = {}, .headers = {}}))
    return "host is not " + written.shown(key_path(match_path, "host"), *match.host);
  if (!matches({.host = {}, .path = {}, .methods = match.methods, .headers = {}})) {
    const std::string list = list_of(match.methods, written, key_path(match_path, "methods"));
    return (match.methods.size() == 1 ? "method is not " : "method is none of ") + list;
  }
  for (const auto& header : match.headers) {
    if (matches({.host = {}, .path = {}, .methods = {}, .headers = {header}})) continue;
    const bool is_absent = request.find(std::string_view(header.first)) == nullptr;
    return "header " + header.first + (is_absent ? " is absent" : " has another value");
  }
  std::array<std::string_view, routing::path_parameter_limit> captures;
  if (!routing::matches_path(match, path, captures.data()))
    return "path does not match " + written.shown(key_path(match_path, "path"), match.path->text());
  return std::nullopt;
}

}  // namespace weir::cli
