#include "config/names.hpp"

namespace weir::config {

std::optional<std::size_t> find_among(const Cursor& in, std::string_view what,
                                      std::string_view written,
                                      std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), written);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  in.error("no " + std::string(what) + " is called " + in_quotes(in.node().text) +
           (names.empty() ? std::string("; none is defined") : hint(in.node().text, names)));
  return std::nullopt;
}

}  // namespace weir::config
