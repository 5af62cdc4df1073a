#include "app/query_parameters.hpp"

#include <optional>
#include <utility>

#include "admin/endpoints.hpp"
#include "base/text.hpp"
#include "http/characters.hpp"
#include "identity/parameters.hpp"

namespace weir::app {
namespace {

/// Empty: a '%' has no two hexadecimal digits after it.
std::optional<std::string> decoded(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (http::escape_at(text.substr(at)) < 0) return std::nullopt;
  }
  std::string plain;
  for (identity::PercentDecoder decoder{text}; !decoder.at_end();)
    plain += decoder.next();
  return plain;
}

}  // namespace

Result<std::map<std::string_view, std::string>> read_parameters(
    std::string_view query, std::span<const std::string_view> known) {
  if (std::string unknown = admin::unknown_parameter(query, known); !unknown.empty())
    return Problem{std::move(unknown)};
  std::map<std::string_view, std::string> given;
  while (!query.empty()) {
    std::string_view pair = take_until(query, '&');
    const std::string_view name = take_until(pair, '=');
    const auto value = decoded(pair);
    if (!value) {
      return Problem{std::string(name) +
                     ": % is not followed by two hexadecimal digits; write %25 for a percent sign"};
    }
    if (!given.emplace(name, *value).second)
      return Problem{"the parameter " + std::string(name) + " appears twice; write it once"};
  }
  return given;
}

}  // namespace weir::app
