// A request for a reload, and the reload that it becomes. Used on the server's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "admin/reload_report.hpp"
#include "app/running_configuration.hpp"
#include "app/shadow_request.hpp"

namespace weir::app {

struct ReloadRequest {
  std::string origin;  ///< as the log names it
  /// Called once, with what became of it.
  std::function<void(admin::ReloadReport)> done = [](const admin::ReloadReport&) {};
  std::optional<ShadowTerms> shadow{};  ///< try the configuration in shadow first
  std::uint64_t candidate = 0;          ///< apply this one, which has passed; 0: load one
};

/// A reload in progress.
struct Reload {
  ReloadRequest request;
  admin::ReloadReport report{};
  NextAdmin admin{};
};

}  // namespace weir::app
