// Sends events to the webhook of the configuration, on the server's loop: one POST each, on a
// connection of its own. WebhookQueue decides when. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "admin/webhook_counters.hpp"
#include "app/log.hpp"
#include "app/webhook_queue.hpp"
#include "app/webhook_report.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "config/webhook.hpp"
#include "fetch/call.hpp"
#include "loop/calls.hpp"
#include "tls/context.hpp"

namespace weir::app {

/// A webhook with its TLS context, which https:// needs.
struct WebhookTarget {
  config::Webhook settings;
  std::shared_ptr<const tls::ClientContext> tls{};
};

class Webhook {
 public:
  /// They outlive the webhook.
  struct Dependencies {
    boost::asio::io_context& io;
    const MonotonicClock& clock;
    std::function<void(const LogLine&)> log;
    std::uint64_t seed = 0;  ///< of the pauses; random in production
  };

  explicit Webhook(Dependencies dependencies);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// The receiver from now on, also of the events that wait; nothing: there is none, and they are
  /// dropped.
  void use(std::optional<WebhookTarget> target);
  bool is_in_use() const { return target_.has_value(); }
  /// `body`: JSON.
  void add(std::string body);
  /// Sends what is left for at most the timeout of the webhook, drops the rest, and calls `done`,
  /// perhaps at once.
  void finish(std::function<void()> done);
  /// Drops what is left, and ends finish().
  void stop();

  const admin::WebhookCounters& counters() const { return counters_; }

 private:
  void advance();
  void send(WebhookQueue::Post post);
  void on_answer(std::uint64_t number, const Result<fetch::Answer>& answer);
  void log(const std::optional<LogLine>& line) const;

  const Dependencies with_;
  Random random_;
  std::optional<WebhookTarget> target_;
  WebhookQueue queue_;
  WebhookReport report_;
  admin::WebhookCounters counters_;
  std::map<std::uint64_t, std::shared_ptr<fetch::Call>> calls_;  ///< by the number of the event
  loop::Alarm next_;
  loop::Alarm finish_;
  std::optional<Instant> ends_at_;  ///< once finish() was called
  std::function<void()> done_;
};

}  // namespace weir::app
