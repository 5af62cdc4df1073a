#include "app/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace weir::app {
namespace {

std::string joined(Texts texts) {
  std::string line;
  for (const std::string_view text : texts)
    line += text;
  return line;
}

spdlog::level::level_enum to_spdlog(LogLine::Level level) {
  switch (level) {
    case LogLine::Level::info:
      return spdlog::level::info;
    case LogLine::Level::warning:
      return spdlog::level::warn;
    case LogLine::Level::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

void start_log() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("weir"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
}

void write_to_log(const LogLine& line) {
  spdlog::default_logger_raw()->log(to_spdlog(line.level), line.text);
}

void log_info(Texts texts) {
  write_to_log({LogLine::Level::info, joined(texts)});
}

void log_warning(Texts texts) {
  write_to_log({LogLine::Level::warning, joined(texts)});
}

void log_error(Texts texts) {
  write_to_log({LogLine::Level::error, joined(texts)});
}

}  // namespace weir::app
