// Answers /v1/limits: the state of one key under one policy, and its reset.
//
// A look charges nothing. The entries of an attributed window are read after its level, so they may
// have changed in between. With Redis it is made on the connection of a worker, within
// store.redis.timeout. A reset is answered after DenialConfirmation::settled_after: from then on no
// instance denies the key because of a denial from before. Used on the server's thread only.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "admin/endpoints.hpp"
#include "app/override_request.hpp"
#include "app/pending_answers.hpp"
#include "app/running_configuration.hpp"
#include "app/worker.hpp"
#include "base/clock.hpp"
#include "limiter/quota_events.hpp"
#include "store/entries.hpp"
#include "store/memory_store.hpp"

namespace weir::app {

class LimitService {
 public:
  /// All must outlive the service.
  struct Dependencies {
    boost::asio::io_context& io;  ///< the server's
    const MonotonicClock& clock;
    const RunningConfiguration& running;
    store::MemoryStore& memory;
    WithShared with_shared;
    limiter::QuotaEvents& events;  ///< those of a key that is reset may be raised again
    /// The longest time for a call that a store does not report.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
  };

  explicit LimitService(Dependencies dependencies) : with_(std::move(dependencies)) {}
  LimitService(const LimitService&) = delete;
  LimitService& operator=(const LimitService&) = delete;

  /// /v1/limits, whose calls are passed to handle() on the server's thread.
  admin::AdminEndpoint endpoint();
  /// Calls `reply` once, now or later.
  void handle(const admin::AdminCall& call, admin::Reply reply);
  /// Answers the calls that are not answered, and later ones at once.
  void stop() { answers_.stop(); }

 private:
  struct Call;
  struct Question;

  void ask(const std::shared_ptr<Call>& call);
  void on_result(const std::shared_ptr<Call>& call, const Question& question);
  void read_entries(const std::shared_ptr<Call>& call);
  void show(Call& call, const store::EntryReport* entries);
  void on_forgotten(const std::shared_ptr<Call>& call, store::Error error, bool is_shared);

  Dependencies with_;
  PendingAnswers answers_;
};

}  // namespace weir::app
