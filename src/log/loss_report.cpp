#include "log/loss_report.hpp"

#include <system_error>

namespace weir::log {

LossReport::LossReport(const std::string& output)
    : output_(output == "-" ? "standard output" : output) {}

std::string LossReport::begin(const std::string& why) {
  is_losing_ = true;
  return "access log: " + why +
         "; lines are lost until it recovers, and weir_access_log_dropped_total" + " counts them";
}

std::optional<std::string> LossReport::failed(int error) {
  if (is_losing_ && error_ == error) return std::nullopt;
  error_ = error;
  return begin("cannot write to " + output_ + ": " + std::system_category().message(error));
}

std::optional<std::string> LossReport::overflowed() {
  if (is_losing_) return std::nullopt;
  return begin("the reader of " + output_ + " is too slow");
}

std::optional<std::string> LossReport::written(std::uint64_t dropped) {
  if (!is_losing_) return std::nullopt;
  const std::uint64_t lost = dropped - dropped_before_;
  dropped_before_ = dropped;
  is_losing_ = false;
  error_ = 0;
  return "access log: writes to " + output_ + " again; " + std::to_string(lost) +
         (lost == 1 ? " line was lost" : " lines were lost");
}

}  // namespace weir::log
