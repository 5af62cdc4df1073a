#include "cli/override_reply.hpp"

#include <algorithm>
#include <string>

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

bool can_be_shown(const ordered_json& value) {
  if (!value.is_array()) return value.is_string() || value.is_number() || value.is_boolean();
  return std::ranges::all_of(value, [](const ordered_json& one) { return one.is_string(); });
}

bool is_hash(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The library throws if a member is missing or has another type.
bool is_override(const ordered_json& entry) {
  return is_hash(entry.at("hash").get_ref<const std::string&>()) &&
         (!entry.contains("policy") || entry["policy"].is_string()) &&
         std::ranges::all_of(entry, can_be_shown);
}

}  // namespace

std::optional<OverrideList> read_override_list(std::string_view body) try {
  const auto answer = ordered_json::parse(body);
  OverrideList list{.entries = answer.at("overrides").get<std::vector<ordered_json>>(),
                    .is_complete = answer.at("complete").get<bool>()};
  if (!std::ranges::all_of(list.entries, is_override)) return std::nullopt;
  return list;
} catch (const ordered_json::exception&) {
  return std::nullopt;
}

std::optional<ordered_json> read_stored_override(std::string_view body) try {
  auto answer = ordered_json::parse(body);
  if (!is_override(answer) || !answer.at("store").is_string()) return std::nullopt;
  return answer;
} catch (const ordered_json::exception&) {
  return std::nullopt;
}

}  // namespace weir::cli
