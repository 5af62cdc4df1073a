// The response to a denial as it is written: by a policy, or by the section `denied`, which has the
// defaults of all policies.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limiter/denial.hpp"

namespace weir::config {

/// Header fields with constant values: names as written, and values.
using ConstantFields = std::vector<std::pair<std::string, std::string>>;

/// Keys that are not written are empty.
struct DenialSettings {
  std::optional<int> status{};
  std::string content_type{};
  std::vector<limiter::DenialBody> bodies{};
  ConstantFields fields{};
  friend bool operator==(const DenialSettings&, const DenialSettings&) = default;
};

}  // namespace weir::config
