#include "app/worker.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/log.hpp"
#include "app/other_instances.hpp"
#include "base/siphash.hpp"
#include "loop/ticks.hpp"

namespace weir::app {
namespace {

void log_server(const std::string& upstream, const std::string& server, const std::string& error,
                ServerWatch::Change change) {
  switch (change) {
    case ServerWatch::Change::none:
      return;
    case ServerWatch::Change::down:
      return log_warning({"upstream ", upstream, ": server ", server, " marked down: ", error});
    case ServerWatch::Change::up:
      return log_info({"upstream ", upstream, ": server ", server, " marked up"});
  }
}

/// The same for every spelling of the server's URL.
std::string unique_name(const std::string& upstream, const upstream::PooledServer& server) {
  const options::Server& settings = server.settings();
  return upstream + (settings.secure ? " https " : " http ") + settings.authority();
}

void log_unusable_claims(const identity::TokenProvider& provider) {
  const std::uint64_t unusable = provider.state->unusable_claims.load(std::memory_order_relaxed);
  auto& logged = provider.state->logged_claims;
  if (unusable == logged.load(std::memory_order_relaxed)) return;
  const std::uint64_t unlogged = unusable & ~logged.fetch_or(unusable);
  for (std::size_t i = 0; i < provider.shown_claims.size(); ++i) {
    if ((unlogged >> i & 1U) != 0)
      log_warning({"jwt provider ", provider.name, ": claim ", provider.shown_claims[i],
                   " is a list or an object in a token; it identifies nobody"});
  }
}

/// The same for every line about the override of this key and policy.
std::uint64_t override_subject(const limiter::Policy& policy, const Hash128& identity) {
  return siphash128({.k0 = identity.low, .k1 = identity.high}, policy.name).low;
}

void log_malformed_override(const limiter::Policy& policy, const Hash128& identity) {
  log_warning({"override of policy ", policy.name, " for hash:", to_hex(identity),
               " cannot be read, or the policy's algorithm has changed; using the policy's own "
               "numbers. Put or delete the override again"});
}

/// Overrides in memory end by the wall clock. The first worker does this for all.
void look_after(store::OverrideTable& overrides, const MonotonicClock& clock) {
  const Duration offset = wall_clock_offset(clock);
  overrides.set_wall_clock_offset(offset);
  overrides.remove_ended(clock.now() + offset);
}

/// Tokens are valid by the wall clock. A claim that cannot identify a client is logged once.
void look_after_tokens(proxy::Generation& generation, const MonotonicClock& clock) {
  const auto& providers = generation.request_rules->limits.token_providers;
  if (providers.empty()) return;
  generation.limiter->tokens().set_wall_clock_offset(wall_clock_offset(clock));
  for (const identity::TokenProvider& provider : providers)
    log_unusable_claims(provider);
}

/// Ends a store that no generation uses. Its last reports come in the next pass of the loop.
void end_store(boost::asio::io_context& io, std::shared_ptr<SharedStore> store) {
  store->redis.nodes().watch(nullptr);
  store->redis.stop();
  boost::asio::post(io, [last = std::move(store)] {});
}

void log_last(StoreMonitor& monitor, const SharedStore& store, Instant now) {
  try {
    for (const LogLine& line : monitor.finish(store.read(), now))
      write_to_log(line);
  } catch (const std::bad_alloc&) {
    // The metrics have the number of these requests.
  }
}

}  // namespace

Worker::Worker(SharedState& shared, std::size_t index, GenerationPlan plan, std::uint64_t seed)
    : shared_(shared),
      index_(index),
      seed_(seed),
      context_(proxy::ContextDependencies{.io = io_,
                                          .counters = counters_,
                                          .clock = shared.clock,
                                          .open_connections = shared.open_connections,
                                          .open_refusals = shared.open_refusals,
                                          .descriptors = shared.descriptors,
                                          .address_connections = shared.address_connections,
                                          .hold_directory = shared.hold_directory,
                                          .top_keys = shared.top_keys[index],
                                          .retry_after = shared.retry_after,
                                          .quota_events = shared.quota_events,
                                          .spans = shared.spans[index]},
               seed),
      ticker_(io_.get_executor()),
      opening_timer_(io_.get_executor()),
      monitor_(shared.store_health, index),
      instances_(shared.store_health, seed) {
  context_.log = [](const std::string& what) { log_warning({what}); };
  context_.when_server_changed = [&watch = shared.server_watch](
                                     const std::string& upstream,
                                     const upstream::PooledServer& server, bool in_use) {
    const std::string name = server.settings().authority();
    log_server(upstream, name, server.last_error(),
               watch.report(unique_name(upstream, server), in_use));
  };
  context_.when_server_removed = [&watch = shared.server_watch](
                                     const std::string& upstream,
                                     const upstream::PooledServer& server) {
    watch.remove(unique_name(upstream, server));
  };
  open_listeners(plan.listeners);
  auto store = make_store(plan);
  use(std::move(plan), std::move(store));
}

Worker::~Worker() {
  join();
}

/// The running store if its options are the same, else a new one; nullptr with the memory store.
std::shared_ptr<SharedStore> Worker::make_store(const GenerationPlan& plan) {
  const config::Config& config = *plan.config;
  if (config.store_type != config::StoreType::redis) return nullptr;
  // Also one that is replaced: until then calls of the admin server use it with the new policies.
  if (store_) store_->extend(config, plan.policy_names);
  if (store_ && store_->options == config.redis.connection) return store_;
  const SharedStore::Dependencies dependencies{
      .io = io_, .clock = context_.clock, .local = shared_.store, .counters = store_counters_};
  return std::make_shared<SharedStore>(config, plan.policy_names, dependencies, seed_);
}

std::unique_ptr<limiter::Limiter> Worker::make_limiter(GenerationPlan& plan,
                                                       const std::shared_ptr<SharedStore>& store) {
  const bool is_shared = store != nullptr;
  auto limiter = std::make_unique<limiter::Limiter>(
      plan.config->limiter,
      is_shared ? store->chain.front() : static_cast<store::Store&>(shared_.store),
      is_shared ? store::Decider::redis : store::Decider::memory, std::move(plan.policies),
      plan.counters->token_providers, &shared_.unknown_plans, &shared_.slot_queue);
  limiter->watch_overrides([this](const limiter::Policy& policy, const Hash128& identity) {
    if (shared_.override_warnings.may_log(override_subject(policy, identity), context_.clock.now()))
      log_malformed_override(policy, identity);
  });
  return limiter;
}

std::shared_ptr<log::AccessLog> Worker::access_log_of(const GenerationPlan& plan) const {
  const bool is_same = context_.generation && plan.log_writer == log_writer_ &&
                       plan.config->access_log == log_options_;
  if (is_same) return context_.generation->access_log;
  return {new log::AccessLog(plan.config->access_log, *plan.log_writer, seed_ + generations_),
          [writer = plan.log_writer](log::AccessLog* log) { delete log; }};
}

std::vector<std::unique_ptr<upstream::Pool>> Worker::make_pools(const GenerationPlan& plan) {
  std::unordered_map<std::string_view, const upstream::Pool*> running;
  if (context_.generation) {
    for (const auto& pool : context_.generation->pools)
      running.emplace(pool->settings().name, pool.get());
  }
  const auto& upstreams = plan.config->upstreams;
  std::vector<std::unique_ptr<upstream::Pool>> pools;
  for (std::size_t i = 0; i < upstreams.size(); ++i) {
    const auto& certificates = plan.upstream_certificates[i];
    pools.push_back(std::make_unique<upstream::Pool>(
        upstream::PoolDependencies{.servers = context_.server_dependencies(),
                                   .settings = upstreams[i],
                                   .in_use = plan.counters->servers_in_use[i],
                                   .tls = certificates.context,
                                   .has_same_certificates = !certificates.has_changed},
        running[upstreams[i].name], context_.random.next()));
  }
  return pools;
}

/// Makes all parts first, which may fail and changes nothing; then replaces the running ones.
void Worker::use(GenerationPlan plan, std::shared_ptr<SharedStore> store) {
  std::vector<RunningListener> listeners;
  listeners.reserve(plan.listeners.size());
  leaving_.reserve(leaving_.size() + 1);
  removed_listeners_.reserve(removed_listeners_.size() + listeners_.size() + opened_.size());
  auto log_options = plan.config->access_log;
  auto log_writer = plan.log_writer;
  auto pools = make_pools(plan);
  auto access_log = access_log_of(plan);
  auto limiter = make_limiter(plan, store);
  auto instance_terms = instances_.terms_of(*plan.config);
  if (store) divide_quotas(*limiter, instances_.replicas(instance_terms), index_ == 0);
  context_.use(std::unique_ptr<proxy::Generation>(
      new proxy::Generation{.request_rules = std::move(plan.request_rules),
                            .store = store,
                            .limiter = std::move(limiter),
                            .counters = std::move(plan.counters),
                            .name_ids = std::move(plan.name_ids),
                            .descriptor_rules = std::move(plan.descriptor_rules),
                            .event_percents = plan.config->event_percents,
                            .access_log = std::move(access_log),
                            .pools = std::move(pools),
                            .number = ++generations_}));
  log_options_ = std::move(log_options);
  log_writer_ = std::move(log_writer);
  const bool is_other_store = store_ != store;
  if (store_ && is_other_store) {
    if (!store) log_last(monitor_, *store_, context_.clock.now());
    store_->redis.nodes().watch(nullptr);
    store_->end_leases(context_.clock.now());
    leaving_.push_back(std::move(store_));
    monitor_.begin(generations_);
  }
  store_ = std::move(store);
  if (store_) {
    store_->apply(plan.config->redis, shared_.workers, context_.clock.now());
    instances_.use(std::move(instance_terms), is_other_store);
  }
  look_after_tokens(*context_.generation, context_.clock);
  use_listeners(plan.listeners, std::move(listeners));
}

/// Opens the new ones, which do not accept yet.
void Worker::open_listeners(std::vector<ListenerPlan>& plans) {
  opened_.reserve(opened_.size() + plans.size());
  for (ListenerPlan& plan : plans) {
    if (!plan.socket) continue;
    opened_.push_back(
        {plan.id, std::make_unique<proxy::Listener>(context_, std::move(*plan.socket),
                                                    proxy::ListenerOptions(plan.options))});
  }
}

/// The kernel already queues connections for sockets that listen, so a worker that keeps its
/// configuration serves them with it.
void Worker::accept_on_opened() {
  if (!is_listening_) return;
  for (auto& one : opened_) {
    try {
      one.listener->start();
    } catch (const std::exception& thrown) {
      context_.warn_of(thrown, "a new listener accepts connections after the next reload only");
    }
  }
}

/// `next` is empty and has capacity for all.
void Worker::use_listeners(std::vector<ListenerPlan>& plans, std::vector<RunningListener> next) {
  const auto take = [&next](std::vector<RunningListener>& from, std::uint64_t id) {
    const auto found =
        std::find_if(from.begin(), from.end(), [id](const auto& one) { return one.id == id; });
    if (found == from.end()) return false;
    next.push_back(std::move(*found));
    from.erase(found);
    return true;
  };
  for (ListenerPlan& plan : plans) {
    if (take(listeners_, plan.id)) {
      next.back().listener->use(std::move(plan.options));
    } else if (take(opened_, plan.id)) {
      next.back().listener->use(std::move(plan.options));
      if (is_listening_) next.back().listener->start();
    }
  }
  for (auto* const list : {&opened_, &listeners_}) {
    for (auto& gone : *list) {
      gone.listener->remove();
      removed_listeners_.push_back(std::move(gone.listener));
    }
  }
  opened_.clear();
  listeners_ = std::move(next);
}

void Worker::start(std::function<void()> listening) {
  when_listening_ = std::move(listening);
  if (store_) {
    loop::spawn(io_, open());
  } else {
    start_listening();
  }
  loop::spawn(io_, tick());
  thread_ = std::thread([this] { io_.run(); });
}

void Worker::start_listening() {
  is_listening_ = true;
  for (auto& one : listeners_)
    one.listener->start();
  when_listening_();
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::apply(GenerationPlan plan, Applied applied) {
  boost::asio::post(io_, [this, plan = std::move(plan), applied = std::move(applied)]() mutable {
    loop::spawn(io_, replace(std::move(plan), std::move(applied)));
  });
}

void Worker::post(std::function<void(proxy::Context&)> task) {
  boost::asio::post(io_, [this, task = std::move(task)] { task(context_); });
}

void Worker::with_shared(std::function<void(SharedAccess*)> task) {
  boost::asio::post(io_, [this, task = std::move(task)] {
    if (!store_) return task(nullptr);
    SharedAccess access{.overrides = store_->redis.overrides(),
                        .decisions = store_->chain.front(),
                        .entries = store_->redis.entries(),
                        .event_marks = store_->redis.event_marks()};
    task(&access);
  });
}

loop::Task<> Worker::replace(GenerationPlan plan, Applied applied) {
  std::string problem;
  std::shared_ptr<SharedStore> store;
  try {
    open_listeners(plan.listeners);
    store = make_store(plan);
    if (store && store != store_) co_await await_ready(*store);
    if (!draining_) use(std::move(plan), store);
    if (watching_) watch_store();
  } catch (const std::exception& thrown) {  // out of memory, or of descriptors
    problem = "worker " + std::to_string(index_) + " keeps its configuration: " + thrown.what();
    accept_on_opened();
  }
  if (store && store != store_) end_store(io_, std::move(store));
  applied(problem);
}

/// Waits until the store is ready or an attempt has failed, so that the first requests are counted
/// in Redis too.
loop::Task<> Worker::await_ready(SharedStore& store) {
  error_code ec;
  bool is_known = false;
  opening_timer_.expires_after(store.options.connect_timeout);
  store.redis.nodes().watch([this, &is_known] {
    is_known = true;
    opening_timer_.cancel();
  });
  store.redis.start();
  if (!is_known && !draining_) co_await opening_timer_.async_wait(loop::into(ec));
  store.redis.nodes().watch([this] { watch_store(); });
}

loop::Task<> Worker::open() {
  co_await await_ready(*store_);
  if (draining_) co_return;
  watching_ = true;
  watch_store();
  start_listening();
}

loop::Task<> Worker::tick() {
  error_code ec;
  auto due = std::chrono::steady_clock::now();
  // The flag is needed because a wait that has expired cannot be cancelled.
  while (!ended_) {
    due = loop::next_tick(due, std::chrono::steady_clock::now());
    ticker_.expires_at(due);
    co_await ticker_.async_wait(loop::into(ec));
    look_after_tokens(*context_.generation, context_.clock);
    if (index_ == 0) look_after(shared_.store.overrides(), context_.clock);
    context_.tick();
    sweep();
    if (store_) store_->chain.probe(context_.clock.now());
    if (watching_) watch_store();
    if (store_) follow_replicas(context_, instances_, index_ == 0);
    if (index_ == 0 && store_ && !draining_)
      announce(store_->redis, instances_, context_.clock.now());
  }
}

/// Destroys listeners and stores that only earlier generations used.
void Worker::sweep() {
  std::erase_if(removed_listeners_, [](const auto& one) { return one->has_ended(); });
  const auto unused = std::partition(leaving_.begin(), leaving_.end(), [](const auto& store) {
    return store.use_count() > 1 || store->is_settling();
  });
  std::for_each(unused, leaving_.end(),
                [this](std::shared_ptr<SharedStore>& store) { end_store(io_, std::move(store)); });
  leaving_.erase(unused, leaving_.end());
}

void Worker::watch_store() {
  if (draining_ || !store_) return;
  for (const LogLine& line : monitor_.update(store_->read(), context_.clock.now()))
    write_to_log(line);
}

void Worker::drain(std::function<void()> drained) {
  boost::asio::post(io_, [this, drained = std::move(drained)]() mutable {
    draining_ = true;
    opening_timer_.cancel();
    context_.when_empty = std::move(drained);
    for (auto* const list : {&opened_, &listeners_}) {
      for (auto& one : *list)
        one.listener->stop();
    }
    // Handlers of completed accepts run first.
    boost::asio::post(io_, [this] { context_.drain(); });
  });
}

void Worker::end(std::function<void()> ended) {
  boost::asio::post(io_, [this, ended = std::move(ended)]() mutable {
    context_.holds.end_all();
    Stores stores = leaving_;
    if (store_) {
      store_->end_leases(context_.clock.now());
      stores.push_back(store_);
    }
    loop::spawn(io_, end_settled(std::move(stores), opening_timer_, context_.clock,
                                 [this, ended = std::move(ended)] {
                                   ended_ = true;
                                   ticker_.cancel();
                                   if (store_) log_last(monitor_, *store_, context_.clock.now());
                                   context_.flush_logs();
                                   ended();
                                 }));
  });
}

void Worker::abort() {
  boost::asio::post(io_, [this] { context_.abort(); });
}

}  // namespace weir::app
