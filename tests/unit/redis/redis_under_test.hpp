// The Redis store as the contract of stores sees it: the class that the program uses, before a real
// server, with instants that the case chooses. Besides, a blocking connection to look at the keys.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <hiredis/hiredis.h>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "contract/store_under_test.hpp"
#include "redis/answer.hpp"
#include "redis/node.hpp"
#include "redis/question_command.hpp"
#include "redis/script.hpp"
#include "redis/topology.hpp"
#include "unit/redis/redis_process.hpp"

namespace weir::redis::test {

// Every step is a round trip, which a sanitizer makes several times as long. A sanitizer reports
// what a walk does to memory, for which a short walk is enough. The release build compares the
// decisions of the whole walk.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int walk_steps = 500;
inline constexpr std::uint64_t most_seeds = 1;
#else
inline constexpr int walk_steps = 10'000;
inline constexpr std::uint64_t most_seeds = 10;
#endif

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

class Connection {
 public:
  explicit Connection(const RedisProcess& server)
      : context_(redisConnectUnix(server.unix_path().c_str())) {
    if (!context_ || context_->err != 0) throw std::runtime_error("no connection to redis-server");
  }
  ~Connection() { redisFree(context_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A command that is already written out.
  Reply send(const std::string& command) {
    redisAppendFormattedCommand(context_, command.data(), command.size());
    void* reply = nullptr;
    redisGetReply(context_, &reply);
    if (!reply) throw std::runtime_error("redis-server ended the connection");
    return Reply(static_cast<redisReply*>(reply));
  }
  template <class... Words>
  Reply operator()(const Words&... words) {
    const std::string texts[] = {std::string(words)...};
    const char* arguments[sizeof...(words)];
    std::size_t sizes[sizeof...(words)];
    for (std::size_t i = 0; i < sizeof...(words); ++i) {
      arguments[i] = texts[i].data();
      sizes[i] = texts[i].size();
    }
    return Reply(
        static_cast<redisReply*>(redisCommandArgv(context_, sizeof...(words), arguments, sizes)));
  }
  std::string text(const Reply& reply) const {
    return {reply->str, static_cast<std::size_t>(reply->len)};
  }

 private:
  redisContext* context_;
};

/// One for all cases: starting it takes longer than most of them.
inline RedisProcess& shared_server() {
  static RedisProcess server;
  return server;
}

/// Every set of algorithms, so that each script decides the claims that it is made for.
inline std::vector<AlgorithmSet> all_algorithm_sets() {
  std::vector<AlgorithmSet> sets;
  for (AlgorithmSet set = 1; set < 1U << std::size(store::test::algorithms); ++set)
    sets.push_back(set);
  return sets;
}

/// The store that the program uses. Its scripts take the time from the cases.
class RedisUnderTest : public store::test::InterfaceUnderTest {
 public:
  /// `holds`: all claims are decided beside holds.
  explicit RedisUnderTest(const std::string& user = {}, const std::string& password = {},
                          bool holds = false)
      : redis(shared_server()) {
    for (int i = 0; i < 40; ++i)
      names_.push_back("p" + std::to_string(i));
    redis("FLUSHALL");
    options::Redis options;
    options.unix_path = shared_server().unix_path();
    options.user = user;
    options.password = Secret(password);
    options.connect_timeout = options.timeout = patience;
    topology_.emplace(
        io_, options,
        Topology::Setup{.entries = {.policy_names = names_,
                                    .algorithm_sets = all_algorithm_sets(),
                                    .holding_policies = std::vector<bool>(names_.size(), holds)},
                        .seed = 1,
                        .script_clock = Clock::argument},
        clock_, counters_, node_counters_);
    store_ = topology_->nodes().node_at(0);
    store_->start();
    run_until([this] { return store_->is_ready(); });
  }
  ~RedisUnderTest() override {
    topology_->stop();
    io_.restart();
    io_.run();
  }

  store::Store& store() override { return *store_; }
  bool supports_holds() const override { return true; }
  /// Each by itself, so that several on one key are not sent as one.
  void settle(std::span<const store::Settlement> settlements, Instant now) override {
    renew_leases(now);
    for (const store::Settlement& settlement : settlements) {
      store_->settle({&settlement, 1}, now);
      io_.restart();
      io_.poll();
      run_until([this] { return store_->unanswered() == 0; });
    }
  }
  store::Overrides& overrides() override { return topology_->overrides(); }
  /// The list ends by the server's clock, not by that of the case.
  store::EntryReport entries(const store::Claim& claim, Instant) override {
    std::optional<store::EntryReport> report;
    topology_->entries().read_entries(
        claim.identity, names_[claim.policy_id],
        [&report](store::EntryReport its_report) { report = std::move(its_report); });
    run_until([&report] { return report.has_value(); });
    return *report;
  }

  store::MarkReport mark(const store::EventMark& mark, Instant now) {
    std::optional<store::MarkReport> report;
    topology_->event_marks().mark(mark, now, [&report](const auto& its) { report = its; });
    run_until([&report] { return report.has_value(); });
    return *report;
  }

  bool acquire(std::span<const store::Claim> claims, Instant now,
               std::span<rules::Decision> decisions) override {
    renew_leases(now);
    const bool stepped_back = now < latest_;
    latest_ = std::max(latest_, now);
    const bool admitted = InterfaceUnderTest::acquire(claims, now, decisions);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const Duration reset_after = decisions[i].reset_after;
      const Instant answered = reset_after > Duration{0} ? now + reset_after : Instant{};
      Instant& whole_at = whole_at_[key_of(claims[i])];
      if (decisions[i].by_holds) {
        whole_at = {};  // the state alone may be whole earlier
        continue;
      }
      // Then it counts from the latest instant that the key was charged at.
      whole_at = stepped_back ? std::max(whole_at, answered) : answered;
    }
    return admitted;
  }

  /// Every key there is expires, and none before it is whole: by the server's time, and by that of
  /// the cases, in which keys of one string know when they expire.
  void every_key_outlives_its_recovery() {
    constexpr auto extra = std::chrono::milliseconds(60'000);
    const Reply found = redis("KEYS", "*");
    for (std::size_t i = 0; i < found->elements; ++i) {
      const std::string key = found->element[i]->str;
      if (key.ends_with(":h")) {
        CHECK(redis("PTTL", key)->integer > 0);
        continue;
      }
      if (key.ends_with("}:!") || key.ends_with("!generation")) continue;
      const Reply ttl = redis("PTTL", key);
      CAPTURE(key, ttl->integer);
      CHECK(ttl->integer != -1);
      // The cases' time does not pass by itself, the server's does; lua/clock_argument.lua lets
      // keys live longer for it.
      const auto passed =
          std::chrono::steady_clock::now() - begun_at_ + std::chrono::milliseconds(5);
      CHECK(std::chrono::milliseconds(ttl->integer) - extra + passed >= whole_at_[key] - latest_);
      if (const auto expires_at = expiry_in(redis("GET", key)))
        CHECK(*expires_at >= whole_at_[key]);
    }
  }
  StoreCounters& counters() { return counters_; }
  std::string key_of(const store::Claim& claim) const {
    std::string key;
    append_key(key, keys(), claim.identity, claim.policy_id, claim.policy->algorithm);
    return key;
  }
  long long size() { return redis("DBSIZE")->integer; }

  Connection redis;

 private:
  /// As the store does by its own clock, which does not follow that of the cases.
  void renew_leases(Instant now) {
    if (now < renewed_at_ + hold_lease / 3) return;
    renewed_at_ = now;
    const Reply found = redis("KEYS", "*:h");
    for (std::size_t i = 0; i < found->elements; ++i) {
      const std::string key = found->element[i]->str;
      const Reply fields = redis("HGETALL", key);
      for (std::size_t at = 0; at + 1 < fields->elements; at += 2) {
        std::string value(fields->element[at + 1]->str, fields->element[at + 1]->len);
        const auto ends_us = static_cast<double>(to_us(now + hold_lease));
        if (value.size() != 4 * sizeof ends_us) continue;  // the debt
        std::memcpy(value.data() + 3 * sizeof ends_us, &ends_us, sizeof ends_us);
        redis("HSET", key, std::string(fields->element[at]->str), value);
      }
    }
  }
  /// The numbers of lua/value.lua and lua/sliding_window.lua after the mark and the latest instant.
  static std::optional<Instant> expiry_in(const Reply& value) {
    constexpr std::size_t at = 9;
    double expires_us = 0;
    if (value->type != REDIS_REPLY_STRING) return {};
    REQUIRE(static_cast<std::size_t>(value->len) >= at + sizeof expires_us);
    std::memcpy(&expires_us, value->str + at, sizeof expires_us);
    return instant_from_us(static_cast<std::int64_t>(expires_us));
  }
  KeySpace keys() const { return {.prefix = "weir:", .policy_names = names_}; }

 protected:
  void wait_for(const store::test::Received& received) override {
    run_until([&] { return received.times > 0; });
  }
  void wait_for(const std::optional<store::OverrideReport>& report) override {
    run_until([&] { return report.has_value(); });
  }

 private:
  static constexpr Duration patience = std::chrono::seconds(30);

  template <class Condition>
  void run_until(Condition&& condition) {
    while (!condition()) {
      io_.restart();
      if (io_.run_one_for(patience) == 0)
        throw std::runtime_error("no answer of redis-server: " + std::string(store_->last_error()));
    }
  }

  std::vector<std::string> names_;
  std::map<std::string, Instant> whole_at_;
  MonotonicClock clock_;
  StoreCounters counters_;
  NodeCountersList node_counters_;
  boost::asio::io_context io_;
  std::optional<Topology> topology_;
  Node* store_ = nullptr;
  Instant latest_{};
  Instant renewed_at_{};
  std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();
};

}  // namespace weir::redis::test
