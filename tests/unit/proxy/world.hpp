// The environment of an exchange: a loop, a context with one generation, and coarse time that the
// test advances.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "limiter/limiter.hpp"
#include "log/line_writer.hpp"
#include "loop/descriptor_budget.hpp"
#include "proxy/context.hpp"
#include "unit/decision/configuration.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::proxy::test {

using loop::test::FarEnd;
using loop::test::large_text;
using loop::test::run;
using loop::test::socket_pair;
using loop::test::StreamPair;

/// An upstream with one server for each of `ports`.
inline options::Upstream upstream_at(const std::vector<std::uint16_t>& ports) {
  options::Upstream upstream;
  upstream.name = "up";
  for (const std::uint16_t port : ports) {
    auto& server = upstream.servers.emplace_back();
    server.host = "127.0.0.1";
    server.port = port;
  }
  return upstream;
}

/// An access log whose lines the test reads.
class LogPipe {
 public:
  LogPipe() { REQUIRE(::pipe(ends_.data()) == 0); }
  ~LogPipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  LogPipe(const LogPipe&) = delete;
  LogPipe& operator=(const LogPipe&) = delete;

  std::string path() const { return "/dev/fd/" + std::to_string(ends_[1]); }
  /// Returns the next line; waits for the writer's thread.
  std::string line() {
    std::string text;
    char byte = 0;
    while (::read(ends_[0], &byte, 1) == 1 && byte != '\n')
      text += byte;
    return text;
  }

 private:
  std::array<int, 2> ends_{};
};

/// Also with upstreams, and the rate limit service.
struct Configuration : decision::test::Configuration {
  std::vector<options::Upstream> upstreams;
  std::optional<options::RateLimitService> rate_limit_service{};
  std::size_t most_holds = 100'000;
};

class World {
 public:
  World(Configuration its_settings, store::Store& store,
        store::Decider decider = store::Decider::memory)
      : settings(std::make_shared<const Configuration>(std::move(its_settings))) {
    context.use(generation(store, decider));
  }
  ~World() {
    context.abort();
    poll();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void poll() { test::run(io); }
  template <class Condition>
  void run_until(Condition&& condition) {
    bool is_true = condition();
    for (int i = 0; i < 1'000 && !is_true; ++i) {
      io.restart();
      io.run_for(std::chrono::milliseconds(10));
      is_true = condition();
    }
    REQUIRE(is_true);
  }
  /// Advances coarse time by `duration`.
  void tick(Duration duration) {
    for (Duration passed{0}; passed < duration; passed += std::chrono::milliseconds(100)) {
      context.tick();
      poll();
    }
  }
  /// Advances coarse time until `condition` is true.
  template <class Condition>
  void tick_until(Condition&& condition) {
    bool is_true = condition();
    for (int i = 0; i < 1'000 && !is_true; ++i) {
      context.tick();
      poll();
      is_true = condition();
    }
    REQUIRE(is_true);
  }
  /// Returns the next line of the access log; there must be one.
  std::string logged() {
    context.flush_logs();
    return log.line();
  }

  asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  const std::shared_ptr<const Configuration> settings;
  const MonotonicClock clock;
  std::atomic<std::size_t> open_connections{0};
  std::atomic<std::size_t> open_refusals{0};
  loop::DescriptorBudget descriptors{64, open_connections};
  AddressConnections address_connections{{.key = {.k0 = 1, .k1 = 2}}};
  HoldDirectory hold_directory{{.k0 = 1, .k1 = 2}, settings->most_holds};
  limiter::TopKeys top_keys{1};
  limiter::RetryAfterTable retry_after{1};
  limiter::QuotaEvents quota_events{1};
  telemetry::SpanQueue spans;
  limiter::SlotQueue slot_queue;
  TrafficCounters traffic;
  const std::shared_ptr<NamedCounters> counters = std::make_shared<NamedCounters>();
  LogPipe log;
  const std::unique_ptr<log::LineWriter> writer =
      std::move(log::LineWriter::open(log.path()).value());
  Context context{{.io = io,
                   .counters = traffic,
                   .clock = clock,
                   .open_connections = open_connections,
                   .open_refusals = open_refusals,
                   .descriptors = descriptors,
                   .address_connections = address_connections,
                   .hold_directory = hold_directory,
                   .top_keys = top_keys,
                   .retry_after = retry_after,
                   .quota_events = quota_events,
                   .spans = spans},
                  1};

  /// A generation with the same settings, for Context::use(). Without upstreams only.
  std::unique_ptr<Generation> next_generation(store::Store& store) {
    return generation(store, store::Decider::memory);
  }

 private:
  std::unique_ptr<Generation> generation(store::Store& store, store::Decider decider) {
    for (std::size_t i = 0; i <= settings->proxy.routes.size(); ++i)
      counters->routes.push_back(std::make_shared<RouteCounters>());
    std::vector<std::unique_ptr<upstream::Pool>> pools;
    for (const auto& upstream : settings->upstreams) {
      counters->upstreams.push_back(std::make_shared<UpstreamCounters>());
      auto& in_use = counters->servers_in_use.emplace_back();
      for (std::size_t i = 0; i < upstream.servers.size(); ++i)
        in_use.push_back(std::make_shared<Gauge>());
    }
    for (std::size_t i = 0; i < settings->upstreams.size(); ++i) {
      pools.push_back(std::make_unique<upstream::Pool>(
          upstream::PoolDependencies{.servers = context.server_dependencies(),
                                     .settings = settings->upstreams[i],
                                     .in_use = counters->servers_in_use[i],
                                     .tls = nullptr},
          nullptr, 1));
    }
    return std::unique_ptr<Generation>(new Generation{
        .request_rules =
            std::make_shared<decision::RequestRules>(settings->proxy, settings->limiter, settings),
        .store = nullptr,
        .limiter = std::make_unique<limiter::Limiter>(
            settings->limiter, store, decider, std::vector<limiter::PolicyRecord>{},
            identity::TokenReadings::Counters{}, nullptr, &slot_queue),
        .counters = counters,
        .descriptor_rules = settings->rate_limit_service ? std::make_shared<rls::DescriptorRules>(
                                                               *settings->rate_limit_service)
                                                         : nullptr,
        .access_log = std::make_shared<log::AccessLog>(log::AccessLogOptions{}, *writer),
        .pools = std::move(pools),
        .number = 1});
  }
};

}  // namespace weir::proxy::test
