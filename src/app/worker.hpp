// One worker: one thread, one loop, its own listeners, client connections, upstream connections and
// counters.
//
// Everything is constructed and destroyed by the server's thread; run() executes on the worker's.
// apply(), post(), drain(), end() and abort() may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "admin/instruments.hpp"
#include "app/certificates.hpp"
#include "app/instance_watch.hpp"
#include "app/shared_store.hpp"
#include "app/store_monitor.hpp"
#include "base/clock.hpp"
#include "base/log_limit.hpp"
#include "base/random.hpp"
#include "base/traffic_counters.hpp"
#include "config/config.hpp"
#include "limiter/limiter.hpp"
#include "limiter/quota_events.hpp"
#include "limiter/retry_after_table.hpp"
#include "limiter/top_keys.hpp"
#include "log/line_writer.hpp"
#include "proxy/context.hpp"
#include "proxy/generation.hpp"
#include "proxy/hold_directory.hpp"
#include "proxy/listener.hpp"
#include "store/memory_store.hpp"
#include "telemetry/span_queue.hpp"

namespace weir::app {

/// The servers of upstreams that workers have marked down. Each worker decides by itself; the log
/// reports a server once for the process. Thread-safe; called only when something changes.
class ServerWatch {
 public:
  enum class Change : std::uint8_t { none, down, up };

  /// A worker has marked the server up or down. Returns what that changes for the process: `down`
  /// for the first worker to mark it down, `up` when no worker has it marked down any more.
  /// `server` is a unique name.
  Change report(const std::string& server, bool is_up) {
    const std::lock_guard lock(mutex_);
    if (!is_up) return workers_down_[server]++ == 0 ? Change::down : Change::none;
    return mark_up(server) ? Change::up : Change::none;
  }

  /// A worker had marked the server down, and it is not configured any more.
  void remove(const std::string& server) {
    const std::lock_guard lock(mutex_);
    mark_up(server);
  }

 private:
  /// Returns true if no worker has it marked down any more.
  bool mark_up(const std::string& server) {
    const auto found = workers_down_.find(server);
    if (found == workers_down_.end() || --found->second > 0) return false;
    workers_down_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::map<std::string, int> workers_down_;  ///< by server, the number of workers; never 0
};

/// State that all workers share, and which outlives them. Thread-safe.
struct SharedState {
  SharedState(std::size_t its_workers, std::size_t max_keys)
      : workers(its_workers),
        store({.max_keys = max_keys, .seed = random_seed()}),
        store_health(its_workers),
        spans(its_workers) {
    for (std::size_t i = 0; i < workers; ++i)
      top_keys.emplace_back(random_seed());
  }

  const std::size_t workers;
  const MonotonicClock clock{};
  store::MemoryStore store;
  admin::StoreHealth store_health;
  ServerWatch server_watch{};
  limiter::UnknownPlans unknown_plans{};
  limiter::SlotQueue slot_queue{};
  /// About overrides that cannot be read.
  LogLimit override_warnings{
      {.interval = std::chrono::minutes(1), .repeated_after = std::chrono::hours(1)}};
  std::atomic<std::size_t> open_connections{0};
  std::atomic<std::size_t> open_refusals{0};
  loop::DescriptorBudget descriptors{0, open_connections};
  proxy::AddressConnections address_connections{
      {.key = {.k0 = random_seed(), .k1 = random_seed()}}};
  limiter::RetryAfterTable retry_after{random_seed()};
  limiter::QuotaEvents quota_events{random_seed()};
  std::deque<telemetry::SpanQueue> spans;   ///< one a worker
  std::deque<limiter::TopKeys> top_keys{};  ///< one a worker, used on its thread
  proxy::HoldDirectory hold_directory{{.k0 = random_seed(), .k1 = random_seed()}};
};

/// One listener of a worker.
struct ListenerPlan {
  std::uint64_t id = 0;  ///< the same as long as its address is configured
  proxy::ListenerOptions options{};
  std::optional<loop::Descriptor> socket{};  ///< none: the listener is already open
};

/// The parts of a generation, for one worker.
struct GenerationPlan {
  std::shared_ptr<const config::Config> config;
  std::shared_ptr<const decision::RequestRules> request_rules;   ///< of `config`
  std::shared_ptr<const rls::DescriptorRules> descriptor_rules;  ///< likewise
  std::vector<limiter::PolicyRecord> policies;                   ///< with this worker's counters
  std::vector<std::string> policy_names;          ///< by id, of all policies since the start
  std::shared_ptr<const NamedCounters> counters;  ///< this worker's
  limiter::NameIds name_ids;
  std::shared_ptr<log::LineWriter> log_writer;
  std::vector<UpstreamCertificates> upstream_certificates;
  std::vector<ListenerPlan> listeners;
};

/// The store that instances share, for calls of the admin server.
struct SharedAccess {
  store::Overrides& overrides;
  store::Store& decisions;  ///< the first link of the chain
  store::EntryReader& entries;
  store::EventMarks& event_marks;
};
/// Calls a task, on a thread of its own choice, where the shared store may be used; nullptr: there
/// is none.
using WithShared = std::function<void(std::function<void(SharedAccess*)> task)>;

class Worker {
 public:
  /// `index`: the number of the worker.
  Worker(SharedState& shared, std::size_t index, GenerationPlan plan, std::uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// `listening` is called once, when connections are accepted: on the worker's thread or on this
  /// one.
  void start(std::function<void()> listening);
  /// `problem`: why the worker keeps its current generation; empty if it uses the new one.
  using Applied = std::function<void(const std::string& problem)>;
  /// Replaces the running generation, then calls `applied` on the worker's thread. One call at a
  /// time. If the Redis address changes, first connects to the new one, for at most its
  /// connect_timeout.
  void apply(GenerationPlan plan, Applied applied);
  /// Calls `task` on the worker's thread, between two of its own tasks.
  void post(std::function<void(proxy::Context&)> task);
  /// Calls `task` on the worker's thread with the shared store, or with nullptr if there is none.
  void with_shared(std::function<void(SharedAccess*)> task);
  /// Stops accepting, lets exchanges in progress finish, then calls `drained` on the worker's
  /// thread. The worker still applies the reports about its holds that other workers get.
  void drain(std::function<void()> drained);
  /// Ends a drained worker: charges the holds that are left as if their leases were over, waits
  /// up to 500 ms until Redis has what was settled, then calls `ended` on the worker's thread.
  void end(std::function<void()> ended);
  /// Ends all client connections at once.
  void abort();
  void join();

  const TrafficCounters& traffic() const { return counters_; }
  /// All zero with the memory store.
  admin::SharedStoreCounters shared_store() const {
    return {.store = &store_counters_.redis,
            .nodes = &store_counters_.nodes,
            .chain = &store_counters_.chain};
  }

 private:
  struct RunningListener {
    std::uint64_t id;
    std::unique_ptr<proxy::Listener> listener;
  };

  std::shared_ptr<SharedStore> make_store(const GenerationPlan& plan);
  void use(GenerationPlan plan, std::shared_ptr<SharedStore> store);
  void open_listeners(std::vector<ListenerPlan>& plans);
  void accept_on_opened();
  void use_listeners(std::vector<ListenerPlan>& plans, std::vector<RunningListener> next);
  std::vector<std::unique_ptr<upstream::Pool>> make_pools(const GenerationPlan& plan);
  std::unique_ptr<limiter::Limiter> make_limiter(GenerationPlan& plan,
                                                 const std::shared_ptr<SharedStore>& store);
  std::shared_ptr<log::AccessLog> access_log_of(const GenerationPlan& plan) const;
  loop::Task<> replace(GenerationPlan plan, Applied applied);
  loop::Task<> await_ready(SharedStore& store);
  loop::Task<> tick();
  loop::Task<> open();
  void start_listening();
  void sweep();
  void watch_store();

  /// Only the worker's thread uses sockets, so the reactor needs no lock for them; posting from
  /// other threads stays safe.
  boost::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  SharedState& shared_;
  std::size_t index_;
  std::uint64_t seed_;
  SharedStore::Counters store_counters_;
  TrafficCounters counters_;
  std::shared_ptr<SharedStore> store_;                 ///< none: the memory store decides
  std::vector<std::shared_ptr<SharedStore>> leaving_;  ///< until no generation uses them
  /// The running generation's access log.
  std::shared_ptr<log::LineWriter> log_writer_;
  log::AccessLogOptions log_options_;
  // Declared before the context, because its client connections are counted here.
  std::vector<RunningListener> listeners_;
  std::vector<RunningListener> opened_;  ///< for the next generation; a failed reload leaves them
  std::vector<std::unique_ptr<proxy::Listener>> removed_listeners_;  ///< until they have ended
  proxy::Context context_;
  loop::Timer ticker_;
  loop::Timer opening_timer_;  ///< limits the wait for a connection to Redis
  // Used on the worker's thread only:
  std::function<void()> when_listening_;
  std::uint64_t generations_ = 0;
  bool is_listening_ = false;
  bool draining_ = false;
  bool ended_ = false;
  bool watching_ = false;  ///< reports the state of Redis, after the first attempt to connect
  StoreMonitor monitor_;
  InstanceWatch instances_;  ///< used by the first worker
  std::thread thread_;
};

}  // namespace weir::app
