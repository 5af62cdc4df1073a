// Answers /v1/overrides: reads the request, changes or lists the overrides in the store, and
// answers when that is over.
//
// With Redis, a change is answered after DenialConfirmation::settled_after: from then on no
// instance uses a denial that it remembers from before. Used on the server's thread only.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admin/override_call.hpp"
#include "app/override_request.hpp"
#include "app/running_configuration.hpp"
#include "app/worker.hpp"
#include "base/clock.hpp"
#include "store/memory_store.hpp"

namespace weir::app {

/// The answer to a change or a list. `subject`: the members that identify the changed override, as
/// JSON without braces; empty for a list.
admin::AdminAnswer override_answer(const store::OverrideReport& report, bool is_shared,
                                   std::string_view subject, std::string_view policy);

class OverrideService {
 public:
  /// All must outlive the service.
  struct Surroundings {
    boost::asio::io_context& io;  ///< the server's
    const MonotonicClock& clock;
    const RunningConfiguration& running;
    store::MemoryStore& memory;
    const std::vector<std::unique_ptr<Worker>>& workers;
  };
  using Reply = std::function<void(admin::AdminAnswer)>;

  explicit OverrideService(const Surroundings& with) : with_(with) {}
  OverrideService(const OverrideService&) = delete;
  OverrideService& operator=(const OverrideService&) = delete;

  /// Passes calls of the admin server to handle(), on the server's thread.
  admin::OverrideService entry();
  /// Calls `reply` once, now or later.
  void handle(const admin::OverrideCall& call, Reply reply);
  /// Answers the calls that are not answered, and later ones at once.
  void stop();

 private:
  struct Call;
  using Report = store::Overrides::Done;
  using Action = std::function<void(store::Overrides&, Instant now, Report done)>;

  void put(const admin::OverrideCall& call, Reply reply);
  void remove(const admin::OverrideCall& call, Reply reply);
  void list(const admin::OverrideCall& call, Reply reply);
  void start(std::shared_ptr<Call> call, Action action);
  void on_report(const std::shared_ptr<Call>& call, store::OverrideReport report);
  void end(Call& call, admin::AdminAnswer answer);
  OverrideContext context() const;

  Surroundings with_;
  std::list<std::shared_ptr<Call>> calls_;  ///< not answered
  bool is_stopped_ = false;
};

}  // namespace weir::app
