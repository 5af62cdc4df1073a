#include "cli/override_reply.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

/// The member of that name; nullptr if `object` is none or does not have it.
const ordered_json* find_member(const ordered_json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool has_text(const ordered_json& object, const char* name) {
  const ordered_json* const member = find_member(object, name);
  return member != nullptr && member->is_string();
}

bool can_be_shown(const ordered_json& value) {
  if (!value.is_array()) return value.is_string() || value.is_number() || value.is_boolean();
  return std::ranges::all_of(value, [](const ordered_json& one) { return one.is_string(); });
}

bool is_hash(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_override(const ordered_json& entry) {
  return has_text(entry, "hash") && is_hash(entry["hash"].get_ref<const std::string&>()) &&
         (!entry.contains("policy") || entry["policy"].is_string()) &&
         std::ranges::all_of(entry, can_be_shown);
}

}  // namespace

std::optional<OverrideList> read_override_list(std::string_view body) {
  const auto answer = ordered_json::parse(body, nullptr, false);
  const ordered_json* const entries = find_member(answer, "overrides");
  const ordered_json* const is_complete = find_member(answer, "complete");
  if (entries == nullptr || !entries->is_array() || is_complete == nullptr ||
      !is_complete->is_boolean() || !std::ranges::all_of(*entries, is_override))
    return std::nullopt;
  return OverrideList{.entries = {entries->begin(), entries->end()},
                      .is_complete = is_complete->get<bool>()};
}

std::optional<StoredOverride> read_stored_override(std::string_view body) {
  auto answer = ordered_json::parse(body, nullptr, false);
  if (!has_text(answer, "store") || !is_override(answer)) return std::nullopt;
  const bool is_in_memory = answer["store"] == "memory";
  std::string warning;
  if (has_text(answer, "warning")) {
    warning = answer["warning"].get<std::string>();
    answer.erase("warning");
  }
  return StoredOverride{
      .entry = std::move(answer), .is_in_memory = is_in_memory, .warning = std::move(warning)};
}

}  // namespace weir::cli
