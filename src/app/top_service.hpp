// Answers /v1/top: the busiest and the most limited keys of this instance.
//
// read() gathers the list for other pages as well. Used on the server's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "admin/endpoints.hpp"
#include "admin/latest_top_keys.hpp"
#include "app/pending_answers.hpp"
#include "app/running_configuration.hpp"
#include "app/top_list.hpp"
#include "base/clock.hpp"

namespace weir::app {

class TopService {
 public:
  /// Calls its argument on the server's thread with the counts of each worker; never if a worker
  /// has ended.
  using ReadWorkers = std::function<void(std::function<void(std::vector<limiter::TopCounts>)>)>;

  /// All must outlive the service.
  struct Dependencies {
    boost::asio::io_context& io;  ///< the server's
    const MonotonicClock& clock;
    const RunningConfiguration& running;
    ReadWorkers read_workers;
    /// The longest time for a call that the workers do not answer.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
  };

  explicit TopService(Dependencies dependencies) : with_(std::move(dependencies)) {}
  TopService(const TopService&) = delete;
  TopService& operator=(const TopService&) = delete;

  /// Gathers the list from all workers, and passes it to `done` later. Each worker copies up to
  /// 6 * TopKeys::capacity counts for it.
  void read(const TopQuery& query, std::function<void(TopList)> done) const;

  /// Reads the most denied keys for the status page, on any thread.
  admin::ReadTopKeys for_status_page();
  /// /v1/top, whose calls are passed to handle() on the server's thread.
  admin::AdminEndpoint endpoint();
  /// Calls `reply` once, now or later.
  void handle(const admin::AdminCall& call, admin::Reply reply);
  /// Answers the calls that are not answered, and later ones at once.
  void stop() { answers_.stop(); }

 private:
  TopNames names() const;

  Dependencies with_;
  PendingAnswers answers_;
};

}  // namespace weir::app
