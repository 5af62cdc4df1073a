#include "app/running_configuration.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "app/log.hpp"
#include "app/process.hpp"

namespace weir::app {
namespace {

/// The number of connections is bounded by that of descriptors, too.
void warn_of_few_descriptors(const config::Config& config, std::size_t descriptors) {
  const std::size_t possible = plan_descriptors(config, descriptors).downstream;
  const std::size_t most = config.proxy.downstream.max_connections;
  if (most <= possible) return;
  log_warning({"downstream.max_connections is ",
               config.shown()["downstream"]["max_connections"](std::to_string(most)), ", but with ",
               std::to_string(descriptors), " open files it can be ", std::to_string(possible),
               " at most; raise `ulimit -n`"});
}

template <class T>
void drop_unused_of(std::vector<std::shared_ptr<T>>& all) {
  std::erase_if(all, [](const auto& one) { return one.use_count() == 1; });
}

}  // namespace

Result<RunningConfiguration::Prepared, Problems> RunningConfiguration::prepare(
    const LoadedConfig& loaded) {
  const auto& config = loaded.config;
  Prepared next{.loaded = loaded};
  Problems problems;
  if (const auto enough = check_descriptors(*config, descriptors_); !enough)
    problems.push_back({.key_path = {}, .message = enough.error().message});
  if (auto log = open_log(*config)) {
    next.log_writer = *std::move(log);
  } else {
    problems.push_back(
        config->presentation.positions.problem("access_log.path", log.error().message));
  }
  std::optional<LoadedCertificates> running;
  if (is_running()) running.emplace(LoadedCertificates{*loaded_.config, certificates_});
  next.certificates = load_certificates(*config, running ? &*running : nullptr, problems);
  next.listeners = listeners_.prepare(*config, problems);
  if (!problems.empty()) return problems;
  if (is_running()) list_changes(next);
  warn_of_few_descriptors(*config, descriptors_);
  next.blueprint = std::make_shared<proxy::Blueprint>(
      std::shared_ptr<const options::Proxy>(config, &config->proxy),
      std::shared_ptr<const limiter::Options>(config, &config->limiter));
  Listeners::start(next.listeners, *config, problems);
  if (!problems.empty()) return problems;
  return {boost::system::in_place_value, std::move(next)};
}

void RunningConfiguration::list_changes(Prepared& next) const {
  const config::Config& config = *next.loaded.config;
  next.changed = config::changed_keys(loaded_.config->key_digests, config.key_digests);
  const auto renewed = renewed_files({*loaded_.config, certificates_}, {config, next.certificates});
  next.changed.insert(next.changed.end(), renewed.begin(), renewed.end());
  if (next.changed.size() <= listed_changes) return;
  next.changed_omitted = next.changed.size() - listed_changes;
  next.changed.resize(listed_changes);
}

Result<std::shared_ptr<log::LineWriter>> RunningConfiguration::open_log(
    const config::Config& next) {
  const std::string& path = next.access_log.path;
  if (is_running() && config()->access_log.path == path) return log_writer_;
  auto opened = log::LineWriter::open(
      path == "off" ? "/dev/null" : path,
      {.report = [](const std::string& sentence) { log_warning({sentence}); }});
  if (!opened) return opened.error();
  return std::shared_ptr<log::LineWriter>(std::move(*opened));
}

void RunningConfiguration::reopen_log() const {
  const auto reopened = log_writer_->reopen();
  if (!reopened) log_error({"SIGUSR1: ", reopened.error().message});
}

std::vector<GenerationPlan> RunningConfiguration::commit(Prepared next) {
  drop_unused();
  old_blueprints_.reserve(old_blueprints_.size() + 1);
  old_log_writers_.reserve(old_log_writers_.size() + 1);
  const std::shared_ptr<const config::Config>& config = next.loaded.config;
  const std::size_t workers = config->workers;
  std::vector<WorkerCounters> counters;
  for (std::size_t i = 0; i < workers; ++i) {
    counters.push_back(is_running() ? carried_over(*loaded_.config, counters_[i], *config)
                                    : new_counters(*config));
  }
  const auto policies = policies_.use(config->limiter.policies);
  std::vector<GenerationPlan> plans(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    GenerationPlan& plan = plans[i];
    plan.config = config;
    plan.blueprint = next.blueprint;
    for (std::size_t p = 0; p < policies.size(); ++p) {
      plan.policies.push_back({.id = policies[p].id,
                               .revision = policies[p].revision,
                               .counters = counters[i].policies[p]});
    }
    plan.policy_names = policies_.names();
    plan.counters = counters[i].named;
    plan.log_writer = next.log_writer;
    plan.upstream_certificates = next.certificates.upstreams;
    for (std::size_t l = 0; l < next.listeners.all.size(); ++l) {
      Listeners::One& one = next.listeners.all[l];
      ListenerPlan& listener = plan.listeners.emplace_back();
      listener.id = one.id;
      listener.options = {.proxy_protocol = config->listen[l].proxy_protocol,
                          .tls = next.certificates.listeners[l].context};
      if (one.is_new()) listener.socket.emplace(std::move(one.bound.sockets[i]));
    }
  }
  if (blueprint_) old_blueprints_.push_back(std::move(blueprint_));
  if (log_writer_ && log_writer_ != next.log_writer)
    old_log_writers_.push_back(std::move(log_writer_));
  listeners_.commit(std::move(next.listeners));
  loaded_ = std::move(next.loaded);
  blueprint_ = std::move(next.blueprint);
  certificates_ = std::move(next.certificates);
  log_writer_ = std::move(next.log_writer);
  counters_ = std::move(counters);
  loaded_at_s_ = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  return plans;
}

std::vector<KeyTarget> RunningConfiguration::key_targets() const {
  std::vector<KeyTarget> targets;
  for (std::size_t i = 0; i < config()->key_urls.size(); ++i)
    targets.push_back({.settings = config()->key_urls[i], .tls = certificates_.keys[i]});
  return targets;
}

bool RunningConfiguration::drop_unused() {
  drop_unused_of(old_blueprints_);
  drop_unused_of(old_log_writers_);
  return !old_blueprints_.empty() || !old_log_writers_.empty();
}

}  // namespace weir::app
