// One worker: one thread, one loop, its own listeners, sessions, upstream connections and counters.
//
// Everything is constructed and destroyed by the server's thread; run() executes on the worker's.
// drain() and abort() may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "admin/instruments.hpp"
#include "app/certificates.hpp"
#include "app/server_watch.hpp"
#include "app/shared_store.hpp"
#include "base/line_writer.hpp"
#include "base/traffic_counters.hpp"
#include "config/config.hpp"
#include "limiter/limiter.hpp"
#include "proxy/access_log.hpp"
#include "proxy/context.hpp"
#include "proxy/listener.hpp"

namespace weir::app {

struct WorkerShares {
  const config::Config& config;
  store::MemoryStore& store;
  LineWriter& log_writer;
  const MonotonicClock& clock;
  std::atomic<std::size_t>& open_connections;
  std::atomic<std::size_t>& open_refusals;
  proxy::DescriptorBudget& descriptors;
  admin::StoreHealth& store_health;
  const Certificates& certificates;  ///< of the start
  ServerWatch& server_watch;
};

class Worker {
 public:
  /// `index` among the workers.
  Worker(const WorkerShares& shares, std::size_t index, std::vector<proxy::ListeningSocket> sockets,
         std::uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// `listening` is called once, when connections are accepted: on the worker's thread or this one.
  void start(std::function<void()> listening);
  /// Stops accepting, lets running exchanges finish, then calls `drained` on the worker's thread.
  void drain(std::function<void()> drained);
  /// Ends all sessions at once.
  void abort();
  /// For connections made from now on.
  void renew(const Certificates& certificates);
  void join();

  const TrafficCounters& traffic() const { return counters_; }
  std::span<const limiter::PolicyCounters> policies() const { return limiter_.counters(); }
  /// Only where instances share a store.
  admin::SharedStoreCounters shared_store() const {
    return {.store = &store_->counters, .chain = &store_->chain.counters()};
  }

 private:
  proxy::Task<> tick();
  proxy::Task<> open();
  void start_listening();
  void watch_store();
  void tell_of_errors();
  void use(const Certificates& certificates);
  admin::StoreSight sight_of_store() const;

  /// Sockets are touched by the worker's thread alone, so the reactor needs no lock for them;
  /// posting from others stays safe.
  boost::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  Duration connect_timeout_;
  admin::StoreHealth& store_health_;
  std::size_t index_;
  std::unique_ptr<SharedStore> store_;  ///< nullptr: the memory store decides
  limiter::Limiter limiter_;
  TrafficCounters counters_;
  proxy::AccessLog access_log_;
  proxy::Context context_;
  std::vector<std::unique_ptr<proxy::Listener>> listeners_;
  proxy::Timer ticker_;
  proxy::Timer opening_timer_;  ///< how long the first requests wait for Redis
  // Of the worker's thread:
  std::function<void()> when_listening_;
  bool draining_ = false;
  bool drained_ = false;
  bool watching_ = false;  ///< the first try to connect has had its time
  /// What the others know of the store, to which nothing has happened yet.
  admin::StoreSight told_{.deciding = true};
  std::array<std::uint64_t, redis::store_error_count> errors_seen_{};
  std::thread thread_;
};

}  // namespace weir::app
