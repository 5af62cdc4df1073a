// Writes the events of keys that reach a percentage of their quota to the log, on the server's loop
// and never on the path of a request.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "app/log.hpp"
#include "app/running_configuration.hpp"
#include "limiter/quota_events.hpp"
#include "loop/calls.hpp"

namespace weir::app {

/// The line about an event. The key is shown as its hash only. Pure.
LogLine line_of(const limiter::QuotaEvent& event, std::string_view policy);

class EventLog {
 public:
  static constexpr std::chrono::milliseconds interval{100};

  /// All must outlive the log.
  struct Dependencies {
    boost::asio::io_context& io;
    const RunningConfiguration& running;
    limiter::QuotaEvents& events;
    std::function<void(const LogLine&)> log;
  };

  explicit EventLog(Dependencies dependencies) : with_(std::move(dependencies)), next_(with_.io) {}

  /// Begins or ends, as the running configuration has it. Called after each load.
  void use();
  /// Writes the events that are left, and ends.
  void stop();

 private:
  void write();
  void wait();

  const Dependencies with_;
  loop::Alarm next_;
};

}  // namespace weir::app
