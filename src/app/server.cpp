#include "app/server.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <deque>
#include <functional>
#include <optional>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <string>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admin/admin_server.hpp"
#include "app/descriptors.hpp"
#include "app/drain_workers.hpp"
#include "app/file_watch.hpp"
#include "app/key_fetcher.hpp"
#include "app/list_files.hpp"
#include "app/override_service.hpp"
#include "app/reload_log.hpp"
#include "app/running_configuration.hpp"
#include "app/signals.hpp"
#include "app/worker.hpp"
#include "base/random.hpp"
#include "store/memory_store.hpp"

namespace weir::app {
namespace {

namespace asio = boost::asio;

std::string url_of(const Endpoint& address) {
  return (address.is_unix() ? "" : "http://") + address.to_string();
}

/// A file that turned into a pipe must not stop the server's thread for long.
constexpr config::Patience reload_patience = std::chrono::seconds(1);

/// The admin server's address after a reload.
struct NextAdmin {
  bool has_changed = false;
  std::optional<loop::BoundAddress> bound{};  ///< none: the admin server is off
};

NextAdmin take_admin(RunningConfiguration::Prepared& prepared) {
  auto& admin = prepared.listeners.admin;
  return {.has_changed = admin.has_changed, .bound = std::exchange(admin.bound, std::nullopt)};
}

class Server {
 public:
  Server(const Source& source, const config::Config& config)
      : source_(source),
        descriptors_(raise_descriptor_limit()),
        running_(descriptors_),
        store_({.max_keys = config.memory.max_keys, .seed = random_seed()}),
        store_health_(config.workers),
        admin_(
            [this](auto done) {
              asio::post(io_, [this, done = std::move(done)]() mutable {
                request_reload({"POST /v1/reload", std::move(done)});
              });
            },
            overrides_.entry()) {}

  /// Returns what is wrong; the process runs if there is nothing.
  Problems start(const LoadedConfig& loaded);
  void run();

 private:
  /// A request for a reload, and the receiver of its report.
  struct Request {
    std::string origin;  ///< as the log names it
    std::function<void(admin::ReloadReport)> done;
  };
  struct Reload {
    Request request;
    admin::ReloadReport report{};
    std::size_t pending_workers = 0;
    NextAdmin admin{};
  };

  const config::Config& config() const { return *running_.config(); }
  void note_listening();
  void open_workers(std::vector<GenerationPlan> plans);
  std::shared_ptr<const admin::Instruments> instruments() const;
  Result<void> watch_source();
  void check_source();
  void watch_signals();
  void on_signal(int signal);
  void request_reload(Request request);
  void reload_next();
  void reload();
  Result<std::vector<GenerationPlan>, Problems> replace_configuration();
  void apply(std::vector<GenerationPlan> plans);
  void serve_admin(NextAdmin next);
  void note_applied(const std::string& problem);
  void keep_until_unread(const ListFiles::Replaced& replaced);
  void sweep();
  void finish();
  void reject(Problems problems);
  void drain();
  void workers_ended();

  const Source& source_;
  asio::io_context io_{1};
  rlim_t descriptors_;
  RunningConfiguration running_;
  MonotonicClock clock_;
  store::MemoryStore store_;
  admin::StoreHealth store_health_;
  ServerWatch server_watch_;
  limiter::UnknownPlans unknown_plans_;
  limiter::SlotQueue slot_queue_;
  OverrideLog override_log_;
  std::atomic<std::size_t> open_connections_{0};
  std::atomic<std::size_t> open_refusals_{0};
  loop::DescriptorBudget budget_{0, open_connections_};
  proxy::HoldDirectory hold_directory_{{.k0 = random_seed(), .k1 = random_seed()}};
  std::atomic<admin::Readiness> readiness_{admin::Readiness::starting};
  std::atomic<std::size_t> listening_workers_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  OverrideService overrides_{{io_, clock_, running_, store_.overrides(), overrides_of(workers_)}};
  admin::ReloadCounters reload_counters_;
  admin::AdminServer admin_;
  std::deque<Request> requests_;  ///< that wait for their turn
  std::optional<Reload> reload_;  ///< in progress
  asio::posix::stream_descriptor signals_{io_};
  std::optional<FileWatch> watch_;
  asio::steady_timer shutdown_timer_{io_};
  asio::steady_timer sweep_timer_{io_};
  KeyFetchers key_fetchers_{io_, clock_, random_seed(), write_to_log};
  ListFiles list_files_{io_, unknown_plans_,
                        [this](const auto& replaced) { keep_until_unread(replaced); }};
  bool draining_ = false;
};

Problems Server::start(const LoadedConfig& loaded) {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = block_signals();
  const int descriptor = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) {
    return {{.key_path = {},
             .message = "cannot read signals: " + std::system_category().message(errno)}};
  }
  signals_.assign(descriptor);
  auto prepared = running_.prepare(loaded);
  Problems problems = prepared ? Problems() : prepared.error();
  if (auto watching = watch_source(); !watching)
    problems.push_back({.key_path = {}, .message = watching.error().message});
  if (!problems.empty()) return problems;

  NextAdmin next_admin = take_admin(*prepared);
  open_workers(running_.commit(std::move(*prepared)));
  key_fetchers_.use(running_.key_targets());
  serve_admin(std::move(next_admin));
  list_files_.watch(running_.config());
  check_source();
  watch_signals();
  for (auto& worker : workers_)
    worker->start([this] { note_listening(); });
  return {};
}

/// Ready when every worker accepts connections. Called by their threads.
void Server::note_listening() {
  if (++listening_workers_ < workers_.size()) return;
  auto expected = admin::Readiness::starting;  // it may be draining already
  readiness_.compare_exchange_strong(expected, admin::Readiness::ready);
  asio::post(io_, [this] { reload_next(); });
}

void Server::open_workers(std::vector<GenerationPlan> plans) {
  budget_.set_most(plan_descriptors(config(), descriptors_).connections);
  const WorkerDependencies dependencies{.store = store_,
                                        .clock = clock_,
                                        .open_connections = open_connections_,
                                        .open_refusals = open_refusals_,
                                        .descriptors = budget_,
                                        .hold_directory = hold_directory_,
                                        .store_health = store_health_,
                                        .server_watch = server_watch_,
                                        .unknown_plans = unknown_plans_,
                                        .slot_queue = slot_queue_,
                                        .override_log = override_log_};
  for (std::size_t i = 0; i < plans.size(); ++i)
    workers_.push_back(
        std::make_unique<Worker>(dependencies, i, std::move(plans[i]), random_seed()));
}

std::shared_ptr<const admin::Instruments> Server::instruments() const {
  const bool is_shared = config().store_type == config::StoreType::redis;
  auto all = std::make_shared<admin::Instruments>(
      admin::Instruments{.config = running_.config(),
                         .options = config().admin ? &*config().admin : nullptr,
                         .store = store_,
                         .readiness = readiness_,
                         .access_log = running_.log_writer(),
                         .store_health = is_shared ? &store_health_ : nullptr,
                         .config_hash = running_.hash(),
                         .config_loaded_at_s = running_.loaded_at_s(),
                         .reloads = &reload_counters_,
                         .list_files = &list_files_.counters(),
                         .keys = key_fetchers_.health(),
                         .plan_files = &list_files_.plan_counters(),
                         .key_files = &list_files_.key_counters(),
                         .unknown_plans = &unknown_plans_});
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    all->traffic.push_back(&workers_[i]->traffic());
    all->named.push_back(running_.counters()[i].named);
    all->policies.push_back(running_.counters()[i].policies);
    if (is_shared) all->shared_store.push_back(workers_[i]->shared_store());
  }
  return all;
}

Result<void> Server::watch_source() {
  if (!source_.watched) return {};
  watch_.emplace(io_, *source_.watched, [this] {
    request_reload({"--watch", [](const auto&) {}});
  });
  return watch_->start();
}

/// A watched file may have changed after it was read for the first time.
void Server::check_source() {
  if (!watch_) return;
  const auto now = source_.load(reload_patience);
  if (!now || now->hash != running_.hash()) request_reload({"--watch", [](const auto&) {}});
}

void Server::watch_signals() {
  signals_.async_wait(signals_.wait_read, [this](const boost::system::error_code& ec) {
    if (ec) return;
    signalfd_siginfo arrived{};
    while (::read(signals_.native_handle(), &arrived, sizeof arrived) == sizeof arrived)
      on_signal(static_cast<int>(arrived.ssi_signo));
    watch_signals();
  });
}

void Server::on_signal(int signal) {
  if (signal == SIGHUP) return request_reload({"SIGHUP", [](const auto&) {}});
  if (signal == SIGUSR2) return spdlog::info("SIGUSR2 is ignored; SIGHUP reloads, SIGTERM drains");
  if (signal == SIGUSR1) return running_.reopen_log();
  if (!draining_) return drain();
  spdlog::warn("second signal: closing {} connections at once", open_connections_.load());
  for (auto& worker : workers_)
    worker->abort();
}

void Server::request_reload(Request request) {
  requests_.push_back(std::move(request));
  reload_next();
}

/// One at a time, and not before every worker is listening.
void Server::reload_next() {
  while (!reload_ && !requests_.empty()) {
    if (readiness_ == admin::Readiness::starting && !draining_) return;
    reload_.emplace(Reload{.request = std::move(requests_.front())});
    requests_.pop_front();
    if (draining_) {
      reload_->report.outcome = admin::ReloadReport::Outcome::unavailable;
      finish();
    } else {
      reload();
    }
  }
}

void Server::reload() {
  Result<std::vector<GenerationPlan>, Problems> plans = Problems{};
  try {
    plans = replace_configuration();
  } catch (const std::exception& thrown) {  // out of memory
    plans =
        Problems{{.key_path = {}, .message = std::string("the reload failed: ") + thrown.what()}};
  }
  if (!plans) return reject(plans.error());
  apply(std::move(*plans));
}

/// Nothing has changed if it returns problems or throws.
Result<std::vector<GenerationPlan>, Problems> Server::replace_configuration() {
  const std::string& origin = reload_->request.origin;
  const auto loaded = source_.load(reload_patience);
  if (!loaded) return loaded.error();
  auto prepared = running_.prepare(*loaded);
  if (!prepared) return prepared.error();
  reload_->report = {.hash = prepared->loaded.hash,
                     .changed = prepared->changed,
                     .changed_omitted = prepared->changed_omitted,
                     .restart_needed = prepared->restart_needed,
                     .file = source_.name};
  for (const auto& warning : loaded->config->warnings)
    spdlog::warn("{}: {}:{}", origin, source_.name, warning.to_string());
  for (const auto& warning : prepared->certificates.warnings())
    spdlog::warn("{}: {}", origin, warning);
  reload_->admin = take_admin(*prepared);
  return {boost::system::in_place_value, running_.commit(std::move(*prepared))};
}

void Server::apply(std::vector<GenerationPlan> plans) {
  budget_.set_most(plan_descriptors(config(), descriptors_).connections);
  store_.set_max_keys(config().memory.max_keys);
  key_fetchers_.use(running_.key_targets());  // publishes keys that are there already
  list_files_.watch(running_.config());
  reload_->pending_workers = workers_.size();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->apply(std::move(plans[i]), [this](const std::string& problem) {
      asio::post(io_, [this, problem] { note_applied(problem); });
    });
  }
}

/// A worker without memory for the next generation keeps the one it has: the reload has failed,
/// although the others use it.
void Server::note_applied(const std::string& problem) {
  if (!problem.empty()) {
    spdlog::error("{}; reload again", problem);
    reload_->report.outcome = admin::ReloadReport::Outcome::rejected;
    reload_->report.problems.push_back({.message = problem + "; reload again"});
  }
  if (--reload_->pending_workers > 0) return;
  if (draining_) {
    reload_->report.outcome = admin::ReloadReport::Outcome::unavailable;
  } else {
    serve_admin(std::move(reload_->admin));
  }
  finish();
}

void Server::serve_admin(NextAdmin next) {
  admin_.show(instruments());
  if (!next.has_changed) return;
  admin_.serve(std::move(next.bound));
  if (admin_.is_serving()) spdlog::info("admin on {}", url_of(admin_.address()));
}

void Server::reject(Problems problems) {
  log_rejected(reload_->request.origin, source_.name, problems);
  admin::ReloadReport& report = reload_->report;
  report = {.outcome = admin::ReloadReport::Outcome::rejected, .file = source_.name};
  for (auto& problem : problems) {
    report.problems.push_back({.line = problem.line,
                               .column = problem.column,
                               .path = std::move(problem.key_path),
                               .message = std::move(problem.message)});
  }
  finish();
}

/// Ends the reload in progress.
void Server::finish() {
  using enum admin::ReloadReport::Outcome;
  Reload ended = std::move(*reload_);
  reload_.reset();
  if (ended.report.outcome == rejected) reload_counters_.failed.add();
  if (ended.report.outcome == applied) {
    reload_counters_.ok.add();
    log_applied(ended.request.origin, ended.report);
  }
  ended.request.done(std::move(ended.report));
  asio::post(io_, [this] { reload_next(); });
  sweep();
}

/// A worker that has ended its present task has ended every look-up in the replaced content.
void Server::keep_until_unread(const ListFiles::Replaced& replaced) {
  for (auto& worker : workers_)
    worker->post(
        [this, kept = replaced]() mutable { asio::post(io_, [kept = std::move(kept)] {}); });
}

/// Drops earlier configurations and log files once the exchanges that use them have ended.
void Server::sweep() {
  if (draining_ || !running_.drop_unused()) return;
  sweep_timer_.expires_after(std::chrono::seconds(1));
  sweep_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) sweep();
  });
}

void Server::drain() {
  draining_ = true;
  sweep_timer_.cancel();
  list_files_.stop();
  key_fetchers_.stop();
  overrides_.stop();
  readiness_ = admin::Readiness::draining;
  const std::string longest = std::to_string(ceil_seconds(config().shutdown_timeout)) + " s";
  spdlog::info("draining {} connections, at most {}", open_connections_.load(),
               config().written.shown("shutdown_timeout", longest));
  drain_workers(workers_, io_, [this] { workers_ended(); });
  shutdown_timer_.expires_after(config().shutdown_timeout);
  shutdown_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    spdlog::warn("shutdown_timeout is over: closing {} connections", open_connections_.load());
    for (auto& worker : workers_)
      worker->abort();
  });
}

void Server::workers_ended() {
  shutdown_timer_.cancel();
  signals_.cancel();
  if (watch_) watch_->stop();
}

void Server::run() {
  io_.run();
  for (auto& worker : workers_)
    worker->join();
  // Reloads that were just requested are refused before the admin server ends.
  admin_.stop();
  io_.restart();
  io_.poll();
  requests_.clear();
  reload_.reset();
  spdlog::info("stopped");
}

}  // namespace

int serve(const Source& source, const LoadedConfig& loaded) {
  occupy_standard_descriptors();
  spdlog::set_default_logger(spdlog::stderr_color_mt("weir"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  Server server(source, *loaded.config);
  const Problems problems = server.start(loaded);
  log_problems("", source.name, problems);
  if (problems.empty()) server.run();
  return problems.empty() ? 0 : 1;
}

}  // namespace weir::app
