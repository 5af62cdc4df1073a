#include "app/log_line.hpp"

#include <spdlog/spdlog.h>

namespace weir::app {

void write_to_log(const LogLine& line) {
  const bool is_warning = line.level == LogLine::Level::warning;
  spdlog::log(is_warning ? spdlog::level::warn : spdlog::level::info, "{}", line.text);
}

}  // namespace weir::app
