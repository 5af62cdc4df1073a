// Reports the events of keys that reach a percentage of their quota: a line on the log, and a
// request to the webhook if there is one. On the server's loop and never on the path of a request.
//
// With Redis it first sets the mark of the event there: of the instances that raise it in a window,
// the one that sets the mark reports it. If Redis does not answer, each of them does.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/event_questions.hpp"
#include "app/log.hpp"
#include "app/running_configuration.hpp"
#include "app/webhook.hpp"
#include "app/worker.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "limiter/quota_events.hpp"
#include "loop/calls.hpp"

namespace weir::app {

/// The line about an event. The key is shown as its hash only. Pure.
LogLine line_of(const limiter::QuotaEvent& event, std::string_view policy);

class EventLog {
 public:
  static constexpr std::chrono::milliseconds interval{100};
  /// Between two looks whether a key was reset on another instance.
  static constexpr Duration generation_interval = std::chrono::seconds(1);
  /// At the end of the process, the longest wait for Redis.
  static constexpr Duration last_wait = std::chrono::seconds(1);

  /// All must outlive the log.
  struct Dependencies {
    boost::asio::io_context& io;
    const MonotonicClock& clock;
    const RunningConfiguration& running;
    limiter::QuotaEvents& events;
    WithShared with_shared;
    std::function<void(const LogLine&)> log;
    std::string instance;    ///< the name of this one
    std::uint64_t seed = 0;  ///< random in production
  };

  explicit EventLog(Dependencies dependencies);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Begins or ends, as the running configuration has it. Called after each load.
  void use();
  /// Reports the events that are left, while the shared store can still be used. Calls `done`
  /// within `last_wait`, perhaps at once; no event is reported afterwards.
  void finish(std::function<void()> done);
  /// Ends the requests to the webhook after finish(), as Webhook::finish(). Calls `done` later.
  void finish_webhook(std::function<void()> done);
  /// Ends the waits of finish() and finish_webhook(): the process is to end at once.
  void hurry();
  /// Drops the requests to the webhook that are left.
  void stop();

  /// nullptr: there is no webhook.
  const admin::WebhookCounters* webhook() const {
    return webhook_.is_in_use() ? &webhook_.counters() : nullptr;
  }

 private:
  void write();
  void wait();
  void ask(const std::vector<limiter::QuotaEvent>& events);
  void on_mark(std::uint64_t number, const store::MarkReport& mark);
  void report(const limiter::QuotaEvent& event);
  void read_generation();
  void on_generation(std::uint64_t generation);
  void end();
  bool is_shared() const;
  bool is_needed() const;

  const Dependencies with_;
  Random random_;
  EventQuestions questions_;
  Webhook webhook_;
  loop::Alarm next_;
  std::function<void()> done_;  ///< of finish()
  bool is_finishing_ = false;
  bool is_hurried_ = false;
  Instant generation_due_{};
  std::uint64_t generation_ = 0;  ///< the last one that was read
};

}  // namespace weir::app
