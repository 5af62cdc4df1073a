#include "app/worker.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "proxy/ticks.hpp"

namespace weir::app {
namespace {

limiter::Limiter make_limiter(const WorkerShares& shares, SharedStore* shared) {
  if (shared == nullptr) return {shares.config, shares.store};
  return {shares.config, shared->chain.front(), store::Decider::redis};
}

void tell_of_server(const upstream::Upstream& upstream, std::size_t server, const std::string& why,
                    ServerWatch::Change change) {
  const std::string name = upstream.servers[server].authority();
  switch (change) {
    case ServerWatch::Change::none:
      return;
    case ServerWatch::Change::lost:
      return spdlog::warn("upstream {}: server {} fails and is left out: {}", upstream.name, name,
                          why);
    case ServerWatch::Change::back:
      return spdlog::info("upstream {}: server {} is used again", upstream.name, name);
  }
}

}  // namespace

Worker::Worker(const WorkerShares& shares, std::size_t index,
               std::vector<proxy::ListeningSocket> sockets, std::uint64_t seed)
    : connect_timeout_(shares.config.redis.connect_timeout),
      store_health_(shares.store_health),
      index_(index),
      store_(make_shared_store(shares.config,
                               {.io = io_, .clock = shares.clock, .local = shares.store}, seed)),
      limiter_(make_limiter(shares, store_.get())),
      counters_(shares.config.routes.size(), shares.config.upstreams.size()),
      access_log_(shares.config.access_log, shares.log_writer, seed),
      context_(proxy::ContextShares{.io = io_,
                                    .config = shares.config,
                                    .limiter = limiter_,
                                    .counters = counters_,
                                    .access_log = access_log_,
                                    .clock = shares.clock,
                                    .open_connections = shares.open_connections,
                                    .open_refusals = shares.open_refusals,
                                    .descriptors = shares.descriptors},
               seed),
      ticker_(io_.get_executor()),
      opening_timer_(io_.get_executor()) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    proxy::Manner manner{.proxy_protocol = shares.config.listen[i].proxy_protocol, .tls = {}};
    listeners_.push_back(
        std::make_unique<proxy::Listener>(context_, std::move(sockets[i]), std::move(manner)));
  }
  use(shares.certificates);
  context_.log = [](const std::string& what) { spdlog::warn("{}", what); };
  context_.when_server_changed = [this, &config = shares.config, &watch = shares.server_watch](
                                     std::size_t upstream, std::size_t server, bool in_use) {
    tell_of_server(config.upstreams[upstream], server, context_.pools[upstream]->trouble_of(server),
                   watch.tell(upstream, server, in_use));
  };
}

Worker::~Worker() {
  join();
}

void Worker::start(std::function<void()> listening) {
  when_listening_ = std::move(listening);
  if (store_) {
    proxy::spawn(io_, open());
  } else {
    start_listening();
  }
  proxy::spawn(io_, tick());
  thread_ = std::thread([this] { io_.run(); });
}

void Worker::start_listening() {
  for (auto& listener : listeners_)
    listener->start();
  when_listening_();
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

/// Requests come in once Redis is ready, or known not to be: the first ones, too, are counted where
/// all are.
proxy::Task<> Worker::open() {
  proxy::error_code ec;
  opening_timer_.expires_after(connect_timeout_);
  store_->redis.watch([this] { watching_ ? watch_store() : void(opening_timer_.cancel()); });
  store_->redis.start();
  co_await opening_timer_.async_wait(proxy::into(ec));
  if (draining_) co_return;
  watching_ = true;
  watch_store();
  start_listening();
}

proxy::Task<> Worker::tick() {
  proxy::error_code ec;
  auto next = std::chrono::steady_clock::now();
  // A wait that has already expired can not be cancelled any more, hence the flag.
  while (!drained_) {
    next += proxy::tick_interval;
    ticker_.expires_at(next);
    co_await ticker_.async_wait(proxy::into(ec));
    context_.tick();
    access_log_.flush();
    if (store_) store_->chain.probe(context_.clock.now());
    if (watching_) watch_store();
  }
}

admin::StoreSight Worker::sight_of_store() const {
  using store::Breaker;
  const redis::Store& redis = store_->redis;
  const auto because = [&](std::string_view what, std::string_view otherwise) {
    const std::string_view said = redis.trouble();
    return std::string(what).append(": ").append(said.empty() ? otherwise : said);
  };
  if (!redis.is_ready()) return {.trouble = because("redis is not reachable", "no answer yet")};
  const auto breaker = store_->chain.counters().breaker.load(std::memory_order_relaxed);
  // Once it is lost, a connection alone does not bring it back.
  const bool trusted = told_.deciding || redis.has_decided();
  if (breaker == Breaker::State::closed && trusted) return {.connected = true, .deciding = true};
  return {.connected = true,
          .trouble = because("redis does not decide", to_string(store_->chain.last_error()))};
}

void Worker::watch_store() {
  if (draining_) return;
  tell_of_errors();
  admin::StoreSight sight = sight_of_store();
  if (sight == told_) return;
  told_ = sight;
  switch (store_health_.tell(index_, sight)) {
    case admin::StoreHealth::Change::none:
      return;
    case admin::StoreHealth::Change::lost:
      return spdlog::warn("{}; deciding by on_failure", sight.trouble);
    case admin::StoreHealth::Change::back:
      return spdlog::info("redis is back");
  }
}

void Worker::tell_of_errors() {
  for (std::size_t kind = 0; kind < redis::store_error_count; ++kind) {
    const auto error = static_cast<redis::StoreError>(kind);
    const std::uint64_t count = store_->counters.errors[kind].value();
    if (std::exchange(errors_seen_[kind], count) == count || redis::remedy(error).empty()) continue;
    if (!store_health_.is_news(error, context_.clock.now())) continue;
    spdlog::warn("redis could not decide ({}: {}); {}", to_string(error), store_->redis.said(error),
                 redis::remedy(error));
  }
}

void Worker::drain(std::function<void()> drained) {
  boost::asio::post(io_, [this, drained = std::move(drained)]() mutable {
    draining_ = true;
    opening_timer_.cancel();
    context_.when_empty = [this, drained = std::move(drained)] {
      drained_ = true;
      ticker_.cancel();
      if (store_) store_->redis.stop();
      access_log_.flush();
      drained();
    };
    for (auto& listener : listeners_)
      listener->stop();
    // Connections whose accept has completed but was not told yet come first.
    boost::asio::post(io_, [this] { context_.drain(); });
  });
}

void Worker::use(const Certificates& certificates) {
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    listeners_[i]->set_tls(certificates.listeners[i]);
  for (std::size_t i = 0; i < context_.pools.size(); ++i)
    context_.pools[i]->set_tls(certificates.upstreams[i]);
}

void Worker::renew(const Certificates& certificates) {
  boost::asio::post(io_, [this, certificates] { use(certificates); });
}

void Worker::abort() {
  boost::asio::post(io_, [this] { context_.abort(); });
}

}  // namespace weir::app
