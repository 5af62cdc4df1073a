#include "app/running_configuration.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "admin/sums.hpp"
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

template <class Entries>
std::vector<std::string> listed_names(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries)
    names.push_back(entry.name);
  return names;
}

template <class T>
void drop_unused_of(std::vector<std::shared_ptr<T>>& all) {
  std::erase_if(all, [](const auto& one) { return one.use_count() == 1; });
}

}  // namespace

/// The access log, and whether there are enough descriptors.
Result<std::shared_ptr<log::LineWriter>> RunningConfiguration::open_parts(
    const config::Config& next, Problems& problems) const {
  if (const auto enough = check_descriptors(next, descriptors_); !enough)
    problems.push_back({.key_path = {}, .message = enough.error().message});
  auto log_writer = open_log(next);
  if (!log_writer) {
    problems.push_back(
        next.presentation.positions.problem("access_log.path", log_writer.error().message));
  }
  return log_writer;
}

Certificates RunningConfiguration::load_certificates_of(const config::Config& next,
                                                        Problems& problems) const {
  std::optional<LoadedCertificates> running;
  if (is_running()) running.emplace(LoadedCertificates{*config(), running_.certificates});
  return load_certificates(next, running ? &*running : nullptr, problems);
}

namespace {

/// The rules of the rate limit service, which keep the configuration alive; null: it has none.
std::shared_ptr<const rls::DescriptorRules> descriptor_rules_of(
    const std::shared_ptr<const config::Config>& config) {
  if (!config->rate_limit_service) return nullptr;
  return {new rls::DescriptorRules(*config->rate_limit_service),
          [config](const rls::DescriptorRules* rules) { delete rules; }};
}

/// The names of all routes, then that of the rate limit service.
std::vector<std::string> route_names_of(const config::Config& config) {
  auto names = listed_names(config.proxy.routes);
  if (config.rate_limit_service) names.emplace_back(admin::service_route);
  return names;
}

}  // namespace

Result<Certificates, Problems> RunningConfiguration::check(const config::Config& next) const {
  Problems problems;
  open_parts(next, problems);
  auto certificates = load_certificates_of(next, problems);
  if (!problems.empty()) return problems;
  return certificates;
}

Result<RunningConfiguration::Prepared, Problems> RunningConfiguration::prepare(
    LoadedConfig loaded) {
  const config::Config& next = *loaded.config;
  Problems problems;
  auto log_writer = open_parts(next, problems);
  auto certificates = load_certificates_of(next, problems);
  auto listeners = listeners_.prepare(next, problems);
  if (!problems.empty()) return problems;
  auto changed = changes({next, certificates});
  const std::size_t listed = std::min(changed.size(), listed_changes);
  const std::size_t omitted = changed.size() - listed;
  changed.resize(listed);
  warn_of_few_descriptors(next, descriptors_);
  auto request_rules =
      std::make_shared<decision::RequestRules>(next.proxy, next.limiter, loaded.config);
  auto descriptor_rules = descriptor_rules_of(loaded.config);
  Listeners::start(listeners, next, problems);
  if (!problems.empty()) return problems;
  return Prepared{.loaded = std::move(loaded),
                  .request_rules = std::move(request_rules),
                  .descriptor_rules = std::move(descriptor_rules),
                  .certificates = std::move(certificates),
                  .log_writer = *std::move(log_writer),
                  .listeners = std::move(listeners),
                  .changed = std::move(changed),
                  .changed_omitted = omitted};
}

/// The keys whose value or files are not those of the running configuration.
std::vector<std::string> RunningConfiguration::changes(const LoadedCertificates& next) const {
  if (!is_running()) return {};
  auto changed = config::changed_keys(config()->key_digests, next.config.key_digests);
  const auto renewed = renewed_files({*config(), running_.certificates}, next);
  changed.insert(changed.end(), renewed.begin(), renewed.end());
  return changed;
}

Result<std::shared_ptr<log::LineWriter>> RunningConfiguration::open_log(
    const config::Config& next) const {
  const std::string& path = next.access_log.path;
  if (is_running() && config()->access_log.path == path) return log_writer();
  auto opened = log::LineWriter::open(
      path == "off" ? "/dev/null" : path,
      {.report = [](const std::string& sentence) { log_warning({sentence}); }});
  if (!opened) return opened.error();
  return std::shared_ptr<log::LineWriter>(std::move(*opened));
}

void RunningConfiguration::reopen_log() const {
  const auto reopened = log_writer()->reopen();
  if (!reopened) log_error({"SIGUSR1: ", reopened.error().message});
}

std::vector<GenerationPlan> RunningConfiguration::commit(Prepared next) {
  drop_unused();
  old_request_rules_.reserve(old_request_rules_.size() + 1);
  old_log_writers_.reserve(old_log_writers_.size() + 1);
  const std::shared_ptr<const config::Config>& config = next.loaded.config;
  const std::size_t workers = config->workers;
  std::vector<WorkerCounters> counters;
  for (std::size_t i = 0; i < workers; ++i) {
    counters.push_back(is_running() ? carried_over(*this->config(), counters_[i], *config)
                                    : new_counters(*config));
  }
  const auto policies = policies_.use(config->limiter.policies);
  std::vector<std::uint32_t> policy_ids;
  for (const PolicyRegistry::Entry& policy : policies)
    policy_ids.push_back(policy.id);
  const limiter::NameIds name_ids{
      .routes = routes_.use(route_names_of(*config)),
      .identities = identities_.use(listed_names(config->limiter.identities))};
  std::vector<GenerationPlan> plans(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    GenerationPlan& plan = plans[i];
    plan.config = config;
    plan.request_rules = next.request_rules;
    plan.descriptor_rules = next.descriptor_rules;
    for (std::size_t p = 0; p < policies.size(); ++p) {
      plan.policies.push_back({.id = policies[p].id,
                               .revision = policies[p].revision,
                               .counters = counters[i].policies[p]});
    }
    plan.policy_names = policies_.names();
    plan.counters = counters[i].named;
    plan.name_ids = name_ids;
    plan.log_writer = next.log_writer;
    plan.upstream_certificates = next.certificates.upstreams;
    for (std::size_t l = 0; l < next.listeners.all.size(); ++l) {
      Listeners::One& one = next.listeners.all[l];
      ListenerPlan& listener = plan.listeners.emplace_back();
      listener.id = one.id;
      listener.options = {.proxy_protocol = config->listen[l].proxy_protocol,
                          .http2 = config->listen[l].http2,
                          .tls = next.certificates.listeners[l].context,
                          .serves = config->listen[l].serves};
      if (one.is_new()) listener.socket.emplace(std::move(one.bound.sockets[i]));
    }
  }
  if (running_.request_rules) old_request_rules_.push_back(std::move(running_.request_rules));
  if (log_writer() && log_writer() != next.log_writer)
    old_log_writers_.push_back(std::move(running_.log_writer));
  listeners_.commit(std::move(next.listeners));
  running_ = std::move(next);
  counters_ = std::move(counters);
  policy_ids_ = std::move(policy_ids);
  loaded_at_s_ = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  return plans;
}

NextAdmin take_admin(RunningConfiguration::Prepared& prepared) {
  auto& admin = prepared.listeners.admin;
  return {.has_changed = admin.has_changed, .bound = std::exchange(admin.bound, std::nullopt)};
}

std::vector<KeyTarget> key_targets_of(const config::Config& config,
                                      const Certificates& certificates) {
  std::vector<KeyTarget> targets;
  for (std::size_t i = 0; i < config.key_urls.size(); ++i)
    targets.push_back({.settings = config.key_urls[i], .tls = certificates.keys[i]});
  return targets;
}

std::vector<KeyTarget> RunningConfiguration::key_targets() const {
  return key_targets_of(*config(), running_.certificates);
}

std::optional<WebhookTarget> RunningConfiguration::webhook_target() const {
  if (!config()->webhook) return std::nullopt;
  return WebhookTarget{.settings = *config()->webhook, .tls = running_.certificates.webhook};
}

bool RunningConfiguration::drop_unused() {
  drop_unused_of(old_request_rules_);
  drop_unused_of(old_log_writers_);
  return !old_request_rules_.empty() || !old_log_writers_.empty();
}

}  // namespace weir::app
