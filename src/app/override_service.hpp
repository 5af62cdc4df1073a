// Answers /v1/overrides: reads the request, changes or lists the overrides in the store, and
// answers when that is over.
//
// With Redis, a change is answered after DenialConfirmation::settled_after: from then on no
// instance uses a denial that it remembers from before. Used on the server's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "admin/endpoints.hpp"
#include "app/override_request.hpp"
#include "app/pending_answers.hpp"
#include "app/running_configuration.hpp"
#include "app/worker.hpp"
#include "base/clock.hpp"
#include "store/override_table.hpp"

namespace weir::app {

class OverrideService {
 public:
  /// All must outlive the service.
  struct Dependencies {
    boost::asio::io_context& io;  ///< the server's
    const MonotonicClock& clock;
    const RunningConfiguration& running;
    store::OverrideTable& memory;
    WithShared with_shared;
    /// The longest time that Redis has for a call.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
  };
  using Reply = admin::Reply;

  explicit OverrideService(Dependencies dependencies) : with_(std::move(dependencies)) {}
  OverrideService(const OverrideService&) = delete;
  OverrideService& operator=(const OverrideService&) = delete;

  /// /v1/overrides, whose calls are passed to handle() on the server's thread.
  admin::AdminEndpoint endpoint();
  /// Calls `reply` once, now or later.
  void handle(const admin::AdminCall& call, Reply reply);
  /// Answers the calls that are not answered, and later ones at once.
  void stop() { answers_.stop(); }

 private:
  struct Call;
  using Done = store::Overrides::Done;
  using Action = std::function<void(store::Overrides&, Instant now, Done)>;

  Result<Action> read(const admin::AdminCall& from, Call& to);
  void start(const std::shared_ptr<Call>& call, Action action);
  void on_report(const std::shared_ptr<Call>& call, const store::OverrideReport& report);
  Instant wall_now();

  Dependencies with_;
  PendingAnswers answers_;
};

}  // namespace weir::app
