#include "telemetry/metric_sink.hpp"

namespace weir::telemetry {

std::string seconds_text(Duration duration) {
  const std::int64_t us = to_us(duration);
  std::string text = std::to_string(us / 1'000'000);
  if (const std::int64_t rest = us % 1'000'000; rest != 0) {
    const std::string digits = std::to_string(rest);
    text.append(".").append(6 - digits.size(), '0').append(digits);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

}  // namespace weir::telemetry
