// Whether the instance should get traffic, and what is wrong with it: /readyz and the status page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/instruments.hpp"

namespace weir::admin {

struct ReadinessReport {
  bool is_ready = false;
  std::string_view state;                  ///< starting, ready, unready or draining
  std::vector<std::string> problems{};     ///< it may be ready nevertheless
  std::optional<std::int64_t> replicas{};  ///< with a shared store
};

ReadinessReport report_readiness(const Instruments& instruments);

}  // namespace weir::admin
