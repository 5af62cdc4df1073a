// The members of an override: of the JSON object that PUT /v1/overrides takes and a list shows, and
// of the command line. Needs no configuration, so a command can check them before it sends them.
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "json/read.hpp"
#include "rules/policy.hpp"

namespace weir::app {

/// An override as it is written. A text that is empty, or a number without a value, is not there.
struct WrittenOverride {
  std::string identity{};
  std::string key{};
  std::string policy{};
  std::vector<rules::Rate> rates{};  ///< of `rate` or `rates`
  std::optional<std::int64_t> burst{};
  std::optional<std::int64_t> limit{};
  std::optional<std::int64_t> queue{};
  std::string plan{};
  bool is_denied = false;
  bool is_unlimited = false;
  std::optional<Instant> until{};
  std::string note{};
  std::string details{};  ///< store::Override::details

  bool has_numbers() const { return !rates.empty() || burst || limit || queue; }
};

struct OverrideMember {
  enum class Form : std::uint8_t { text, list, count, flag };
  /// An override has numbers or one other kind. Members of the owner are not in its details.
  enum class Role : std::uint8_t { owner, numbers, kind, other };

  std::string_view name;  ///< in JSON; the option is --NAME
  Role role;
  Form form;
  std::string_view argument;  ///< of the option, as its help names it
  std::string_view help;
  /// Returns what is expected instead of the value, or an empty text.
  std::string (*read)(const json::Value& value, WrittenOverride& to);
};

/// All members, in the order of the stored details.
std::span<const OverrideMember> override_members();

/// How problems name the members.
struct MemberWording {
  std::string_view prefix{};       ///< before each name
  std::string_view other_kinds{};  ///< what may be given instead of an override
};

/// Reads a JSON object. A problem states which member is wrong, and what to write.
Result<WrittenOverride> read_override_members(std::string_view body,
                                              const MemberWording& wording = {});

}  // namespace weir::app
