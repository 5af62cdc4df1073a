#include "config/table.hpp"

#include "config/hints.hpp"
#include "config/key_path.hpp"

namespace weir::config {

namespace {

std::string hint_on(const Cursor& in, std::string_view key,
                    std::span<const std::string_view> known) {
  if (!in.has_few_problems()) return {};
  if (!is_printable_ascii(key))
    return "; it has an invisible character or one that is not ASCII: type the line again";
  std::string hint = key_hint(shape_at(in), key);
  if (hint.empty()) hint = colon_hint(key);
  if (hint.empty()) hint = config::hint(key, known);
  return hint.empty() ? all_keys_hint(in.environment().kind) : hint;
}

}  // namespace

std::string hint_on_missing_key(const Cursor& in, std::string_view key) {
  const std::string_view example = example_of(shape_at(in, key));
  return example.empty() ? "; add it" : "; write " + std::string(key) + ": " + std::string(example);
}

std::vector<std::string_view> report_unknown_keys(const Cursor& in,
                                                  std::span<const std::string_view> known) {
  std::vector<std::string_view> meant;
  for (const Entry& entry : in.node().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    in.at(entry).error_at(entry.position,
                          "unknown key " + in_quotes(entry.key) + hint_on(in, entry.key, known));
    if (meant.size() < known.size()) meant.push_back(closest(entry.key, known));
  }
  return meant;
}

}  // namespace weir::config
