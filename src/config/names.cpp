#include "config/names.hpp"

#include "config/advice.hpp"

namespace weir::config {

std::optional<std::size_t> find_among(const Cursor& in, const Reference& reference,
                                      std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), reference.written);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string advice = reference_advice(reference.what, reference.shown, names.empty());
  if (advice.empty()) advice = value_advice(reference.shown);
  if (advice.empty())
    advice = names.empty() ? "; none is defined" : in.hint_at(reference.shown, names);
  in.error("no " + std::string(reference.what) + " is called " + in_quotes(reference.shown) +
           advice);
  return std::nullopt;
}

}  // namespace weir::config
