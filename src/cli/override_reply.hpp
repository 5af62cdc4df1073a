// Answers of the admin server to requests to /v1/overrides, for the commands that show them.
//
// The URL that a user gives may be that of another server, so the shape of an answer is checked
// before a member is read. Pure; thread-safe.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::cli {

/// A list of overrides. Each is an object with a `hash`; the values of all members are text,
/// numbers, booleans, or lists of text.
struct OverrideList {
  std::vector<nlohmann::ordered_json> entries;
  bool is_complete = true;
};

/// Reads the answer to GET. Empty: this is not an answer of Weir.
std::optional<OverrideList> read_override_list(std::string_view body);

/// Reads the answer to PUT: an override as in a list, with its `store`, and perhaps a `warning`:
/// why it has no effect. Empty: this is not an answer of Weir.
std::optional<nlohmann::ordered_json> read_stored_override(std::string_view body);

}  // namespace weir::cli
