#include "app/server.hpp"

#include <atomic>
#include <csignal>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "admin/admin_server.hpp"
#include "app/event_log.hpp"
#include "app/file_watch.hpp"
#include "app/key_fetcher.hpp"
#include "app/limit_service.hpp"
#include "app/list_files.hpp"
#include "app/log.hpp"
#include "app/override_service.hpp"
#include "app/process.hpp"
#include "app/reload_log.hpp"
#include "app/reload_request.hpp"
#include "app/running_configuration.hpp"
#include "app/shadow_service.hpp"
#include "app/telemetry.hpp"
#include "app/top_service.hpp"
#include "app/workers.hpp"
#include "base/random.hpp"
#include "loop/calls.hpp"

namespace weir::app {
namespace {

class Server {
 public:
  Server(const Source& source, const config::Config& config)
      : source_(source),
        descriptors_(raise_descriptor_limit()),
        running_(descriptors_),
        shared_(config.workers, config.memory.max_keys),
        admin_(endpoints(), top_.for_status_page()) {}

  /// Returns what is wrong; the process runs if there is nothing.
  Problems start(const LoadedConfig& loaded);
  void run();

 private:
  const config::Config& config() const { return *running_.config(); }
  std::vector<admin::AdminEndpoint> endpoints();
  void note_listening();
  void limit_descriptors();
  std::shared_ptr<const admin::Instruments> instruments() const;
  Result<void> watch_source();
  void check_source();
  void read_signals(int descriptor);
  void on_signal(int signal);
  void request_reload(ReloadRequest request);
  void reload_next();
  void reload();
  Result<std::vector<GenerationPlan>, Problems> replace_configuration();
  void begin_shadow();
  void apply(std::vector<GenerationPlan> plans);
  void serve_admin(NextAdmin next);
  void note_applied(const std::vector<std::string>& problems);
  void sweep();
  void finish();
  void reject(Problems problems);
  void stop();
  void drain();
  void workers_ended();

  const Source& source_;
  boost::asio::io_context io_{1};
  rlim_t descriptors_;
  RunningConfiguration running_;
  SharedState shared_;
  std::atomic<admin::Readiness> readiness_{admin::Readiness::starting};
  Workers workers_{io_, shared_};
  OverrideService overrides_{
      {io_, shared_.clock, running_, shared_.store.overrides(), workers_.with_shared()}};
  LimitService limits_{
      {io_, shared_.clock, running_, shared_.store, workers_.with_shared(), shared_.quota_events}};
  TopService top_{{io_, shared_.clock, running_,
                   [this](auto done) { workers_.read_top_keys(std::move(done)); }}};
  admin::ReloadCounters reload_counters_;
  ShadowService shadow_{{io_, shared_.clock, workers_, [this](std::uint64_t number) {
                           request_reload({.origin = "shadow reload", .candidate = number});
                         }}};
  admin::AdminServer admin_;
  std::deque<ReloadRequest> requests_;  ///< that wait for their turn
  std::optional<Reload> reload_;        ///< in progress
  std::optional<loop::ReadWatch> signals_;
  std::optional<FileWatch> watch_;
  loop::Alarm shutdown_end_{io_};  ///< of shutdown_delay, then of shutdown_timeout
  loop::Alarm next_sweep_{io_};
  KeyFetchers key_fetchers_{io_, shared_.clock, random_seed(), write_to_log};
  ListFiles list_files_{
      io_, shared_.unknown_plans,
      [this](const auto& replaced) {
        shadow_.drop_unread(replaced);
        workers_.drop_unread(replaced);
      },
      [this](auto done) { request_reload({.origin = "rate_limit_service.files", .done = done}); }};
  EventLog event_log_{{io_, shared_.clock, running_, shared_.quota_events, workers_.with_shared(),
                       write_to_log, instance_name(), random_seed()}};
  Telemetry telemetry_{
      {.io = io_, .clock = shared_.clock, .spans = shared_.spans, .log = write_to_log},
      random_seed()};
  bool draining_ = false;
  Instant ends_at_{};  ///< shutdown_timeout after the drain began
};

std::vector<admin::AdminEndpoint> Server::endpoints() {
  auto all = admin::instrument_endpoints();
  all.push_back(limits_.endpoint());
  all.push_back(overrides_.endpoint());
  all.push_back(top_.endpoint());
  all.push_back(shadow_.endpoint([this](const auto& terms, auto done) {
    request_reload({.origin = "POST /v1/reload", .done = std::move(done), .shadow = terms});
  }));
  return all;
}

Problems Server::start(const LoadedConfig& loaded) {
  auto arriving = open_signals();
  if (!arriving) return {{.key_path = {}, .message = arriving.error().message}};
  auto prepared = running_.prepare(loaded);
  Problems problems = prepared ? Problems() : prepared.error();
  if (auto watching = watch_source(); !watching)
    problems.push_back({.key_path = {}, .message = watching.error().message});
  if (!problems.empty()) return problems;

  NextAdmin next_admin = take_admin(*prepared);
  auto plans = running_.commit(std::move(*prepared));
  limit_descriptors();
  workers_.open(std::move(plans));
  key_fetchers_.use(running_.key_targets());
  event_log_.use();
  telemetry_.use(config().otlp, running_.otlp_tls());
  serve_admin(std::move(next_admin));
  list_files_.watch(running_.config());
  check_source();
  signals_.emplace(io_, std::move(*arriving),
                   [this, descriptor = arriving->native()] { read_signals(descriptor); });
  workers_.start([this] { note_listening(); });
  return {};
}

/// Every worker accepts connections. Called by a thread of theirs.
void Server::note_listening() {
  auto expected = admin::Readiness::starting;  // it may be draining already
  readiness_.compare_exchange_strong(expected, admin::Readiness::ready);
  loop::post(io_, [this] { reload_next(); });
}

void Server::limit_descriptors() {
  const DescriptorPlan plan = plan_descriptors(config(), descriptors_);
  shared_.descriptors.set_most(plan.connections, plan.downstream);
}

std::shared_ptr<const admin::Instruments> Server::instruments() const {
  const bool is_shared = config().store_type == config::StoreType::redis;
  auto all = std::make_shared<admin::Instruments>(admin::Instruments{
      .config = running_.config(),
      .options = config().admin ? &*config().admin : nullptr,
      .limiter = config().limiter,
      .proxy = config().proxy,
      .upstreams = config().upstreams,
      .store = shared_.store,
      .readiness = readiness_,
      .access_log = running_.log_writer(),
      .store_health = is_shared ? &shared_.store_health : nullptr,
      .replicas = config().redis.replicas,
      .config_hash = running_.hash(),
      .config_loaded_at_s = running_.loaded_at_s(),
      .config_document = config().presentation.document,
      .restart_needed = config().restart_needed,
      .reloads = &reload_counters_,
      .shadow_reload = &shadow_.shown(),
      .file_reloads = &list_files_.counters(),
      .keys = key_fetchers_.health(),
      .unknown_plans = &shared_.unknown_plans,
      .quota_events = &shared_.quota_events,
      .exports = telemetry_.counters(),
      .event_percents = config().event_percents,
      .rate_limit_service = config().rate_limit_service ? &*config().rate_limit_service : nullptr,
      .policy_ids = running_.policy_ids(),
      .webhook = event_log_.webhook()});
  for (const telemetry::SpanQueue& queue : shared_.spans)
    all->spans.push_back(&queue);
  for (const auto& worker : workers_.all()) {
    all->traffic.push_back(&worker->traffic());
    if (is_shared) all->shared_store.push_back(worker->shared_store());
  }
  for (const WorkerCounters& counters : running_.counters()) {
    all->named.push_back(counters.named);
    all->policies.push_back(counters.policies);
  }
  return all;
}

Result<void> Server::watch_source() {
  if (!source_.watched) return {};
  watch_.emplace(io_, *source_.watched, [this] { request_reload({.origin = watch_origin}); });
  return watch_->start();
}

/// A watched file may have changed after it was read for the first time.
void Server::check_source() {
  if (!watch_) return;
  const auto now = source_.load(config::reload_patience, &config());
  if (!now || now->hash != running_.hash()) request_reload({.origin = watch_origin});
}

void Server::read_signals(int descriptor) {
  signalfd_siginfo arrived{};
  while (::read(descriptor, &arrived, sizeof arrived) == sizeof arrived)
    on_signal(static_cast<int>(arrived.ssi_signo));
}

void Server::on_signal(int signal) {
  if (signal == SIGHUP) return request_reload({.origin = "SIGHUP"});
  if (signal == SIGUSR2) return log_info({"SIGUSR2 is ignored; SIGHUP reloads, SIGTERM drains"});
  if (signal == SIGUSR1) return running_.reopen_log();
  if (readiness_ != admin::Readiness::draining) return stop();
  if (!draining_) drain();
  log_warning({"second signal: closing ", std::to_string(shared_.open_connections),
               " connections at once"});
  workers_.abort();
  telemetry_.abandon();
  event_log_.hurry();
}

void Server::request_reload(ReloadRequest request) {
  requests_.push_back(std::move(request));
  reload_next();
}

/// One at a time, and not before every worker is listening.
void Server::reload_next() {
  while (!reload_ && !requests_.empty()) {
    if (readiness_ == admin::Readiness::starting && !draining_) return;
    reload_.emplace(Reload{.request = std::move(requests_.front())});
    requests_.pop_front();
    if (const auto number = reload_->request.candidate; number != 0 && !shadow_.candidate(number)) {
      reload_.reset();  // another reload has replaced it
      continue;
    }
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
    if (reload_->request.shadow) return begin_shadow();
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
  const ReloadRequest& request = reload_->request;
  auto loaded = request.candidate == 0
                    ? source_.load(config::reload_patience, &config())
                    : Result<LoadedConfig, Problems>(*shadow_.candidate(request.candidate));
  if (!loaded) return loaded.error();
  auto prepared = running_.prepare(*std::move(loaded));
  if (!prepared) return prepared.error();
  const config::Config& next = *prepared->loaded.config;
  reload_->report = {.hash = prepared->loaded.hash,
                     .changed = std::move(prepared->changed),
                     .changed_omitted = prepared->changed_omitted,
                     .restart_needed = next.restart_needed,
                     .file = source_.name};
  log_warnings(request.origin, source_.name, next.presentation.warnings);
  for (const auto& warning : prepared->certificates.warnings())
    log_warning({request.origin, ": ", warning});
  reload_->admin = take_admin(*prepared);
  return {boost::system::in_place_value, running_.commit(std::move(*prepared))};
}

/// The reload is finished when every worker copies its requests.
void Server::begin_shadow() {
  const auto loaded = source_.load(config::reload_patience, &config());
  if (!loaded) return reject(loaded.error());
  const auto certificates = running_.check(*loaded->config);
  if (!certificates) return reject(certificates.error());
  reload_->report = {.outcome = admin::ReloadReport::Outcome::in_shadow, .hash = loaded->hash};
  reload_->report.until =
      shadow_.begin(reload_->request.origin, {running_.config(), *loaded}, *certificates,
                    *reload_->request.shadow, [this] { finish(); });
}

void Server::apply(std::vector<GenerationPlan> plans) {
  limit_descriptors();
  shared_.store.set_max_keys(config().memory.max_keys);
  key_fetchers_.use(running_.key_targets());  // publishes keys that are there already
  telemetry_.use(config().otlp, running_.otlp_tls());
  list_files_.watch(running_.config());
  event_log_.use();
  workers_.apply(std::move(plans), [this](const auto& problems) { note_applied(problems); });
}

/// A worker without memory for the next generation keeps the one it has: the reload has failed,
/// although the others use it.
void Server::note_applied(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    log_error({problem, "; reload again"});
    reload_->report.outcome = admin::ReloadReport::Outcome::rejected;
    reload_->report.problems.push_back({.message = problem + "; reload again"});
  }
  if (draining_) {
    reload_->report.outcome = admin::ReloadReport::Outcome::unavailable;
  } else {
    serve_admin(std::move(reload_->admin));
  }
  finish();
}

void Server::serve_admin(NextAdmin next) {
  auto shown = instruments();
  telemetry_.show(shown);
  admin_.show(std::move(shown));
  if (!next.has_changed) return;
  admin_.serve(std::move(next.bound));
  if (!admin_.is_serving()) return;
  const Endpoint& address = admin_.address();
  log_info({"admin on ", address.is_unix() ? "" : "http://", address.to_string()});
}

void Server::reject(Problems problems) {
  reload_->report.outcome = admin::ReloadReport::Outcome::unavailable;
  if (reload_->request.origin == watch_origin && watch_->note_missing()) return finish();
  log_rejected(reload_->request.origin, source_.name, problems);
  reload_->report = rejected_report(source_.name, std::move(problems));
  finish();
}

/// Ends the reload in progress.
void Server::finish() {
  using enum admin::ReloadReport::Outcome;
  Reload ended = std::move(*reload_);
  reload_.reset();
  if (ended.report.outcome == rejected) {
    reload_counters_.failed.add();
    if (ended.request.candidate != 0)
      shadow_.note_rejected("the reload failed: " + ended.report.problems.front().message);
  }
  if (ended.report.outcome == applied) {
    reload_counters_.ok.add();
    log_applied(ended.request.origin, ended.report);
    shadow_.note_applied(ended.request.origin, ended.request.candidate);
  }
  ended.request.done(std::move(ended.report));
  loop::post(io_, [this] { reload_next(); });
  sweep();
}

/// Drops earlier configurations and log files once the exchanges that use them have ended.
void Server::sweep() {
  if (draining_ || !running_.drop_unused()) return;
  next_sweep_.set(std::chrono::seconds(1), [this] { sweep(); });
}

/// Health checks fail at once, and connections are accepted until load balancers have noticed.
void Server::stop() {
  const bool is_serving = readiness_ == admin::Readiness::ready;
  readiness_ = admin::Readiness::draining;
  const Duration delay = config().shutdown_delay;
  if (delay == Duration{0} || !is_serving) return drain();
  log_info({"stopping: accepts connections for another ",
            config().shown()["shutdown_delay"](std::to_string(ceil_seconds(delay)) + " s")});
  workers_.announce_stop();
  shutdown_end_.set(delay, [this] { drain(); });
}

void Server::drain() {
  draining_ = true;
  ends_at_ = shared_.clock.now() + config().shutdown_timeout;
  next_sweep_.cancel();
  list_files_.stop();
  key_fetchers_.stop();
  limits_.stop();
  overrides_.stop();
  top_.stop();
  shadow_.stop();
  const std::string longest = std::to_string(ceil_seconds(config().shutdown_timeout)) + " s";
  log_info({"draining ", std::to_string(shared_.open_connections), " connections, at most ",
            config().shown()["shutdown_timeout"](longest)});
  workers_.drain(
      [this] { event_log_.finish([this] { workers_.end([this] { workers_ended(); }); }); });
  shutdown_end_.set(config().shutdown_timeout, [this] {
    log_warning({"shutdown_timeout is over: closing ", std::to_string(shared_.open_connections),
                 " connections"});
    workers_.abort();
  });
}

void Server::workers_ended() {
  shutdown_end_.cancel();
  if (watch_) watch_->stop();
  // Until then a second signal ends the process at once.
  event_log_.finish_webhook([this] {
    telemetry_.finish(ends_at_ - shared_.clock.now(),
                      [this] { loop::post(io_, [this] { signals_.reset(); }); });
  });
}

void Server::run() {
  io_.run();
  workers_.join();
  event_log_.stop();
  // Reloads that were just requested are refused before the admin server ends.
  admin_.stop();
  io_.restart();
  io_.poll();
  requests_.clear();
  reload_.reset();
  log_info({"stopped"});
}

}  // namespace

int serve(const Source& source, const LoadedConfig& loaded) {
  occupy_standard_descriptors();
  start_log();
  Server server(source, *loaded.config);
  const Problems problems = server.start(loaded);
  log_problems("", source.name, problems);
  if (problems.empty()) server.run();
  return problems.empty() ? 0 : 1;
}

}  // namespace weir::app
