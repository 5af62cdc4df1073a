#include "app/worker.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "proxy/ticks.hpp"

namespace weir::app {

Worker::Worker(const WorkerShares& shares, std::vector<proxy::ListeningSocket> sockets,
               std::uint64_t seed)
    : limiter_(shares.config, shares.store),
      counters_(shares.config.routes.size(), shares.config.upstreams.size()),
      access_log_(shares.config.access_log, shares.log_writer, seed),
      context_(proxy::ContextShares{.io = io_,
                                    .config = shares.config,
                                    .limiter = limiter_,
                                    .counters = counters_,
                                    .access_log = access_log_,
                                    .clock = shares.clock,
                                    .open_connections = shares.open_connections,
                                    .open_refusals = shares.open_refusals},
               seed),
      ticker_(io_.get_executor()) {
  for (auto& socket : sockets)
    listeners_.push_back(std::make_unique<proxy::Listener>(context_, std::move(socket)));
}

Worker::~Worker() {
  join();
}

void Worker::start() {
  for (auto& listener : listeners_)
    listener->start();
  proxy::spawn(io_, tick());
  thread_ = std::thread([this] { io_.run(); });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
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
  }
}

void Worker::drain(std::function<void()> drained) {
  boost::asio::post(io_, [this, drained = std::move(drained)]() mutable {
    context_.when_empty = [this, drained = std::move(drained)] {
      drained_ = true;
      ticker_.cancel();
      access_log_.flush();
      drained();
    };
    for (auto& listener : listeners_)
      listener->stop();
    // Connections whose accept has completed but was not told yet come first.
    boost::asio::post(io_, [this] { context_.drain(); });
  });
}

void Worker::abort() {
  boost::asio::post(io_, [this] { context_.abort(); });
}

}  // namespace weir::app
