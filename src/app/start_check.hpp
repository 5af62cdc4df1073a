// Finds what `weir serve` would refuse beyond the text of the configuration: addresses that cannot
// be listened on, an access log that cannot be written, certificates that do not work, too few open
// files. Accepts no connection, and neither creates nor removes a file.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"
#include "config/diagnostic.hpp"

namespace weir::app {

struct StartCheck {
  std::vector<config::Diagnostic> problems{};
  /// Also the addresses that another process has: it may be the instance that will be reloaded.
  std::vector<config::Diagnostic> warnings{};
};

/// `descriptors`: how many the process may have.
StartCheck check_start(const config::Config& config, std::size_t descriptors);

}  // namespace weir::app
