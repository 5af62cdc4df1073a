#include "app/running_configuration.hpp"

#include <chrono>
#include <optional>
#include <spdlog/spdlog.h>
#include <utility>

#include "app/descriptors.hpp"
#include "app/differences.hpp"

namespace weir::app {
namespace {

/// Connections bounded by descriptors.
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

std::vector<config::Diagnostic> problem(std::string key_path, std::string message) {
  return {{.line = 0, .column = 0, .key_path = std::move(key_path), .message = std::move(message)}};
}

template <class T>
void drop_unused_of(std::vector<std::shared_ptr<T>>& all) {
  std::erase_if(all, [](const auto& one) { return one.use_count() == 1; });
}

}  // namespace

Result<RunningConfiguration::Prepared, std::vector<config::Diagnostic>>
RunningConfiguration::prepare(const LoadedConfig& loaded) {
  auto config = std::make_shared<config::Config>(*loaded.config);
  Prepared next{.loaded = loaded};
  if (config_) {
    next.restart_needed = keep_fixed(*config, *config_);
    next.changed = differences(*loaded_.config, *loaded.config);
  }
  if (const auto fewest = fewest_descriptors(*config); descriptors_ < fewest) {
    return problem({}, "the process may have " + std::to_string(descriptors_) +
                           " open files, and needs at least " + std::to_string(fewest) +
                           ": raise the limit with `ulimit -n` or LimitNOFILE=");
  }
  bound_connections(*config, descriptors_);
  auto log = open_log(*config);
  if (!log) return problem("access_log.path", log.error().message);
  next.log_writer = *log;
  std::optional<LoadedCertificates> running;
  if (config_) running.emplace(LoadedCertificates{*config_, certificates_});
  auto certificates = load_certificates(*config, running ? &*running : nullptr);
  if (!certificates) return problem({}, certificates.error().message);
  next.certificates = std::move(*certificates);
  auto listeners = listeners_.prepare(config->listen, config->workers);
  if (!listeners) return std::vector{listeners.error()};
  next.listeners = std::move(*listeners);
  next.config = config;
  next.blueprint = std::make_shared<proxy::Blueprint>(config);
  return {boost::system::in_place_value, std::move(next)};
}

Result<std::shared_ptr<LineWriter>> RunningConfiguration::open_log(const config::Config& next) {
  const std::string& path = next.access_log.path;
  if (config_ && config_->access_log.path == path) return log_writer_;
  auto opened = LineWriter::open(path == "off" ? "/dev/null" : path);
  if (!opened) return opened.error();
  return std::shared_ptr<LineWriter>(std::move(*opened));
}

std::vector<GenerationPlan> RunningConfiguration::commit(Prepared next) {
  drop_unused();
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
    for (std::size_t l = 0; l < next.listeners.size(); ++l) {
      Listeners::One& one = next.listeners[l];
      ListenerPlan& listener = plan.listeners.emplace_back();
      listener.id = one.id;
      listener.options = {.proxy_protocol = next.config->listen[l].proxy_protocol,
                          .tls = next.certificates.listeners[l].context};
      if (one.is_new()) listener.socket.emplace(std::move(one.sockets[i]));
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

bool RunningConfiguration::drop_unused() {
  drop_unused_of(old_blueprints_);
  drop_unused_of(old_log_writers_);
  return !old_blueprints_.empty() || !old_log_writers_.empty();
}

}  // namespace weir::app
