#include "app/running_configuration.hpp"

#include <chrono>
#include <optional>
#include <spdlog/spdlog.h>
#include <utility>

#include "app/descriptors.hpp"
#include "app/differences.hpp"
#include "config/plan_file.hpp"

namespace weir::app {
namespace {

/// Bounds the number of connections by that of descriptors.
void bound_connections(config::Config& config, std::size_t descriptors) {
  const std::size_t possible = plan_descriptors(config, descriptors).downstream;
  auto& most = config.downstream.max_connections;
  if (most > possible) {
    spdlog::warn(
        "downstream.max_connections is {}, but with {} open files it can be {} at most; raise "
        "`ulimit -n`",
        config.written.shown("downstream.max_connections", std::to_string(most)), descriptors,
        possible);
  }
  if (most == 0 || most > possible) most = possible;
}

/// Reads the files of plans again: their tables have been made with another identity_secret than
/// the one in use.
void read_plan_files(config::Config& config, Problems& problems) {
  std::size_t file = 0;
  for (limiter::PlanSource& source : config.plans.sources) {
    auto* const from = std::get_if<limiter::PlanFromFile>(&source.from);
    if (from == nullptr) continue;
    config::PlanFile& watched = config.plan_files[file++];
    auto content = config::read_plan_file(watched.path, watched.shown,
                                          config::plan_line_rules(config, watched.identity));
    for (std::string& problem : content.problems)
      problems.push_back({.key_path = "plan_from", .message = std::move(problem)});
    from->table = watched.table = Replaceable(std::move(content.table));
  }
}

template <class T>
void drop_unused_of(std::vector<std::shared_ptr<T>>& all) {
  std::erase_if(all, [](const auto& one) { return one.use_count() == 1; });
}

}  // namespace

Result<RunningConfiguration::Prepared, Problems> RunningConfiguration::prepare(
    const LoadedConfig& loaded) {
  auto config = std::make_shared<config::Config>(*loaded.config);
  Prepared next{.loaded = loaded};
  Problems problems;
  if (config_) {
    next.restart_needed = keep_fixed(*config, *config_);
    if (config->identity_key != loaded.config->identity_key) read_plan_files(*config, problems);
  }
  if (const auto enough = check_descriptors(*config, descriptors_); !enough)
    problems.push_back({.key_path = {}, .message = enough.error().message});
  if (auto log = open_log(*config)) {
    next.log_writer = *std::move(log);
  } else {
    problems.push_back(config->positions.problem("access_log.path", log.error().message));
  }
  std::optional<LoadedCertificates> running;
  if (config_) running.emplace(LoadedCertificates{*config_, certificates_});
  next.certificates = load_certificates(*config, running ? &*running : nullptr, problems);
  next.listeners = listeners_.prepare(*config, problems);
  if (!problems.empty()) return problems;
  if (config_) list_changes(next);
  bound_connections(*config, descriptors_);
  next.config = config;
  next.blueprint = std::make_shared<proxy::Blueprint>(config);
  Listeners::start(next.listeners, *config, problems);
  if (!problems.empty()) return problems;
  return {boost::system::in_place_value, std::move(next)};
}

void RunningConfiguration::list_changes(Prepared& next) const {
  const config::Config& config = *next.loaded.config;
  next.changed = differences(*loaded_.config, config);
  const auto renewed = renewed_files({*loaded_.config, certificates_}, {config, next.certificates});
  next.changed.insert(next.changed.end(), renewed.begin(), renewed.end());
  if (next.changed.size() <= listed_changes) return;
  next.changed_omitted = next.changed.size() - listed_changes;
  next.changed.resize(listed_changes);
}

Result<std::shared_ptr<log::LineWriter>> RunningConfiguration::open_log(
    const config::Config& next) {
  const std::string& path = next.access_log.path;
  if (config_ && config_->access_log.path == path) return log_writer_;
  auto opened = log::LineWriter::open(
      path == "off" ? "/dev/null" : path,
      {.report = [](const std::string& sentence) { spdlog::warn("{}", sentence); }});
  if (!opened) return opened.error();
  return std::shared_ptr<log::LineWriter>(std::move(*opened));
}

void RunningConfiguration::reopen_log() const {
  const auto reopened = log_writer_->reopen();
  if (!reopened) spdlog::error("SIGUSR1: {}", reopened.error().message);
}

std::vector<GenerationPlan> RunningConfiguration::commit(Prepared next) {
  drop_unused();
  old_blueprints_.reserve(old_blueprints_.size() + 1);
  old_log_writers_.reserve(old_log_writers_.size() + 1);
  const std::size_t workers = next.config->workers;
  std::vector<WorkerCounters> counters;
  for (std::size_t i = 0; i < workers; ++i) {
    counters.push_back(config_ ? carried_over(*config_, counters_[i], *next.config)
                               : new_counters(*next.config));
  }
  const auto policies = policies_.use(next.config->policies);
  std::vector<GenerationPlan> plans(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    GenerationPlan& plan = plans[i];
    plan.config = next.config;
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
      listener.options = {.proxy_protocol = next.config->listen[l].proxy_protocol,
                          .tls = next.certificates.listeners[l].context};
      if (one.is_new()) listener.socket.emplace(std::move(one.bound.sockets[i]));
    }
  }
  if (blueprint_) old_blueprints_.push_back(std::move(blueprint_));
  if (log_writer_ && log_writer_ != next.log_writer)
    old_log_writers_.push_back(std::move(log_writer_));
  listeners_.commit(std::move(next.listeners));
  loaded_ = std::move(next.loaded);
  config_ = std::move(next.config);
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
  for (std::size_t i = 0; i < config_->key_urls.size(); ++i)
    targets.push_back({.settings = config_->key_urls[i], .tls = certificates_.keys[i]});
  return targets;
}

bool RunningConfiguration::drop_unused() {
  drop_unused_of(old_blueprints_);
  drop_unused_of(old_log_writers_);
  return !old_blueprints_.empty() || !old_log_writers_.empty();
}

}  // namespace weir::app
