// A node on a loop of the test's own, and ways to ask it and to wait for it.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <hiredis/hiredis.h>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "redis/node.hpp"
#include "redis/script.hpp"
#include "redis/topology.hpp"
#include "redis_process.hpp"

namespace weir::redis::test {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

inline rules::Policy policy_of(rules::Definition definition) {
  auto compiled = rules::compile(definition);
  if (!compiled.has_value()) throw std::runtime_error(compiled.error().message);
  return compiled.value();
}

/// One request: a claim on `policy`, and its result.
struct Asked final : store::Completion {
  Asked(const rules::Policy& policy, std::uint64_t who, std::int64_t cost) {
    claim.policy = &policy;
    claim.identity = Hash128{who, who};
    claim.demand.cost = cost;
    acquisition = {.claims = {&claim, 1}, .decisions = {&decision, 1}};
  }
  void complete(const store::Result& result, Instant) noexcept override {
    ++times;
    if (answers) ++*answers;
    error = result.error;
    admitted = result.admitted;
    decided = result.decided;
    waited = SteadyClock::now() - asked_at;
  }

  store::Claim claim;
  rules::Decision decision;
  store::Acquisition acquisition;
  bool admitted = false;
  store::ClaimSet decided = 0;
  int times = 0;
  std::size_t* answers = nullptr;
  std::optional<store::Error> error;
  SteadyClock::time_point asked_at = SteadyClock::now();
  SteadyClock::duration waited{};
};

class StoreFixture {
 public:
  /// Generous times, for a busy machine; a test that measures sets its own.
  static options::Redis options_for(const RedisProcess& redis) {
    options::Redis options;
    options.host = "127.0.0.1";
    options.port = redis.port();
    options.connect_timeout = 5s;
    options.timeout = 5s;
    return options;
  }

  explicit StoreFixture(const options::Redis& options) {
    // As the server does: hiredis writes without MSG_NOSIGNAL.
    std::signal(SIGPIPE, SIG_IGN);
    use(options);
  }
  explicit StoreFixture(const RedisProcess& redis) : StoreFixture(options_for(redis)) {}
  ~StoreFixture() {
    topology->stop();
    io.restart();
    io.run();
  }

  /// Another store on the same loop, for a server that is reached through a relay on it.
  void use(const options::Redis& options) {
    const AlgorithmSet one = set_of(rules::Algorithm::gcra);
    const AlgorithmSet other = set_of(rules::Algorithm::fixed_window);
    use(options, {.entries = {.policy_names = {"first", "second"}, .algorithm_sets = {one, other}},
                  .breaker = {.timeout = options.timeout},
                  .seed = 1});
  }
  void use(const options::Redis& options, Topology::Setup setup) {
    topology.emplace(io, options, std::move(setup), clock, counters, node_counters);
    store = topology->nodes().node_at(0);
  }

  /// Runs the handlers that are ready, and waits for none: questions are written, as far as the
  /// socket takes them.
  void run_ready() {
    io.restart();
    io.poll();
  }
  template <class Condition>
  bool run_until(Condition&& condition, SteadyClock::duration limit = 10s) {
    const auto until = SteadyClock::now() + limit;
    while (!condition()) {
      if (SteadyClock::now() >= until) return false;
      io.restart();
      io.run_one_until(std::min(until, SteadyClock::now() + 20ms));
    }
    return true;
  }
  bool run_until_ready(SteadyClock::duration limit = 10s) {
    return run_until([this] { return store->is_ready(); }, limit);
  }
  bool start() {
    store->start();
    return run_until_ready();
  }

  Asked& ask(std::uint64_t who = 1, std::int64_t cost = 1) { return ask(gcra, who, cost); }
  Asked& ask(const rules::Policy& policy, std::uint64_t who, std::int64_t cost) {
    Asked& asked = requests.emplace_back(policy, who, cost);
    asked.answers = &answers;
    ++asks;
    send(asked);
    return asked;
  }
  void send(Asked& asked, Duration waited = 0s) { send(asked, asked, waited); }
  void send(Asked& asked, store::Completion& completion, Duration waited = 0s) {
    const Instant now = clock.now();
    asked.acquisition.arrived_at = now - waited;
    if (store->acquire(asked.acquisition, completion, now))
      throw std::runtime_error("completed within the call");
  }
  bool all_completed() const { return answers == asks; }
  bool run_until_completed(SteadyClock::duration limit = 10s) {
    return run_until([this] { return all_completed(); }, limit);
  }
  /// How one request ended.
  store::Error outcome(std::uint64_t who = 1) {
    Asked& asked = ask(who);
    run_until_completed();
    return asked.error.value_or(store::Error::none);
  }
  /// With a short timeout a busy machine may need more than one request.
  bool run_until_decided() {
    return run_until([this] { return outcome() == store::Error::none; });
  }
  std::uint64_t errors(store::Error error) const {
    return counters.errors[static_cast<std::size_t>(error)].value();
  }

  /// The key of one request stays for 3.6 s.
  rules::Policy gcra = policy_of({.rates = {{.count = 1'000, .per = 3600s}}});
  rules::Policy few = policy_of(
      {.algorithm = rules::Algorithm::fixed_window, .rates = {{.count = 3, .per = 3600s}}});
  MonotonicClock clock;
  StoreCounters counters;
  NodeCountersList node_counters;
  std::size_t asks = 0;
  std::size_t answers = 0;
  std::list<Asked> requests;
  boost::asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  std::optional<Topology> topology;
  Node* store = nullptr;  ///< the node of the topology
};

/// The reply to a command as redis-cli prints it, lines of arrays joined.
class RedisCli {
 public:
  explicit RedisCli(const RedisProcess& redis)
      : context_(redisConnectUnix(redis.unix_path().c_str()), redisFree) {}

  std::string operator()(const std::vector<std::string>& words) {
    std::vector<const char*> argv;
    std::vector<std::size_t> lengths;
    for (const auto& word : words) {
      argv.push_back(word.data());
      lengths.push_back(word.size());
    }
    auto* const reply = static_cast<redisReply*>(redisCommandArgv(
        context_.get(), static_cast<int>(words.size()), argv.data(), lengths.data()));
    if (reply == nullptr) throw std::runtime_error(context_->errstr);
    const std::string text = text_of(*reply);
    freeReplyObject(reply);
    return text;
  }

 private:
  static std::string text_of(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
    if (reply.str != nullptr) return std::string(reply.str, reply.len);
    std::string out;
    for (std::size_t i = 0; i < reply.elements; ++i)
      out += text_of(*reply.element[i]) + "\n";
    return out;
  }
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
};

}  // namespace weir::redis::test
