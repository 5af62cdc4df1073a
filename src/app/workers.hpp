// The workers of the process and the state that they share. Used on the server's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/worker.hpp"

namespace weir::app {

class Workers {
 public:
  /// `io`: the server's loop, on which `applied` and `ended` are called.
  Workers(boost::asio::io_context& io, SharedState& shared) : io_(io), shared_(shared) {}

  /// Opens a worker for each plan.
  void open(std::vector<GenerationPlan> plans);
  /// Starts all. `listening` is called when every worker accepts connections, by the thread of the
  /// last one.
  void start(std::function<void()> listening);
  /// Replaces the generation of each worker. `applied` is called when all have done it or failed,
  /// with what is wrong.
  void apply(std::vector<GenerationPlan> plans,
             std::function<void(std::vector<std::string> problems)> applied);
  /// Gives each worker the copy that gets its requests; empty: none of them has one. `done` is
  /// called on the server's loop when all of them use it.
  void copy_traffic(const std::vector<std::shared_ptr<decision::TrafficCopy>>& copies,
                    std::function<void()> done);
  /// Drops `content` after every worker has ended its present task.
  void drop_unread(std::shared_ptr<const void> content);
  /// Health checks of the rate limit service report that the process stops. Everything else goes
  /// on.
  void announce_stop();
  /// Drains all workers, then calls `drained`. Their stores can still be used.
  void drain(std::function<void()> drained);
  /// Ends all after drain(), then calls `ended`: a report about a hold may arrive at any worker, so
  /// none ends its holds while another still has a connection.
  void end(std::function<void()> ended);
  /// Ends all client connections at once.
  void abort();
  void join();
  /// Calls `done` on the server's loop with what each worker has counted. A worker that has ended
  /// does not answer, and then it is not called.
  void read_top_keys(std::function<void(std::vector<limiter::TopCounts>)> done);
  /// With the shared store of the first worker. The workers outlive the result.
  WithShared with_shared() const;

  const std::vector<std::unique_ptr<Worker>>& all() const { return workers_; }

 private:
  void on_all(void (Worker::*step)(std::function<void()>), std::function<void()> then);

  boost::asio::io_context& io_;
  SharedState& shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<std::size_t> listening_ = 0;
};

}  // namespace weir::app
