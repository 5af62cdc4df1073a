// Processes that share a Redis server and lease its quotas, in virtual time: the link and the table
// of holds that the program uses, the scripts in a real server, and a network of this test between.
// Processes die, pause and are cut off.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "contract/hold_contract.hpp"
#include "redis/answer.hpp"
#include "redis/hold_table.hpp"
#include "redis/holds.hpp"
#include "store/leases.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {

using namespace store::test;

struct Admitted {
  Instant at{};
  std::int64_t cost = 0;
};

struct Denied {
  Instant at{};
  Duration retry_after{0};
};

class LeaseWorld;

/// The commands of one process, as redis::Node and redis::Holds send them.
class ProcessStore final : public store::GuardedStore {
 public:
  ProcessStore(LeaseWorld& world, std::size_t process, std::uint64_t seed)
      : world_(world), process_(process), table_(seed, counters_) {}

  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override;
  std::optional<store::Result> peek(store::Acquisition&, store::Completion&, Instant) override {
    return store::Result{.error = store::Error::other};
  }
  std::optional<store::Result> forget(const store::Key&, store::Completion&, Instant) override {
    return store::Result{.error = store::Error::other};
  }
  void settle(std::span<const store::Settlement> settlements, Instant now) override;
  bool is_trusted(const Hash128&) const override { return is_connected; }
  bool read_generation(store::GenerationReceiver&) override { return false; }
  void probe(Instant) override {}
  void set_breaker(int, Duration) override {}
  store::NodeControl::State state() const override { return store::NodeControl::State::closed; }
  store::Error last_error() const override { return store::Error::none; }

  /// Sends what is due, as the timer of redis::Holds does.
  void renew(Instant now);
  /// The connection has ended: no reply arrives any more.
  void disconnect();

  bool is_connected = true;

 private:
  /// A command without its reply yet.
  struct Sent {
    std::vector<HoldTable::Sent> holds;
    store::Acquisition* acquisition = nullptr;  ///< nullptr: a settlement, or it has timed out
    store::Completion* completion = nullptr;
  };
  void flush(Instant now);
  void on_reply(Sent& sent, const redisReply& reply, Instant delivered_at, Instant now);
  void transmit(std::string command, std::shared_ptr<Sent> sent, Instant delivered_at);

  LeaseWorld& world_;
  std::size_t process_;
  StoreCounters counters_;
  HoldTable table_;
  std::deque<std::shared_ptr<Sent>> unanswered_;
  std::string scratch_;
  Instant last_delivery_{};
  Instant last_reply_{};
  bool is_flush_due_ = false;
};

/// A request of a client, from its arrival to its decision.
struct ClientRequest final : store::Completion {
  explicit ClientRequest(LeaseWorld& its_world) : world(its_world) {}
  void complete(const store::Result& its_result, Instant now) noexcept override;

  LeaseWorld& world;
  std::vector<store::Claim> claims;
  std::vector<rules::Decision> decisions;
  store::Acquisition acquisition;
  Instant decided_at{};  ///< by Redis: when the script ran
  int times = 0;
};

struct Process {
  Process(LeaseWorld& world, std::size_t index, std::uint64_t seed);
  store::ChainCounters counters;
  ProcessStore remote;
  store::Leases leases;
  std::vector<std::unique_ptr<ClientRequest>> requests;
};

class LeaseWorld {
 public:
  static constexpr std::size_t process_count = 4;
  static constexpr Duration timeout = std::chrono::milliseconds(25);

  /// `its_workers`: of which each process is one.
  LeaseWorld(const rules::Policy& its_policy, std::uint64_t seed, std::size_t its_workers = 1)
      : policy(its_policy), workers(its_workers), random(seed), server(shared_server()) {
    server("FLUSHALL");
    script = script_for(static_cast<AlgorithmSet>(set_of(policy.algorithm) | with_holds),
                        Clock::argument);
    for (std::size_t i = 0; i < process_count; ++i)
      start(i);
  }

  std::uint64_t below(std::uint64_t end) { return random() % end; }
  Duration below(Duration end) {
    return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(to_us(end))))};
  }

  // ---- events ----

  /// `process`: it happens there, not before the end of its pause, and not if it has died.
  void at(Instant when, std::size_t process, std::function<void()> what) {
    const auto alive = std::weak_ptr(processes[process]);
    events.push({when, ++sequence, process, [alive, what = std::move(what)] {
                   if (!alive.expired()) what();
                 }});
  }
  /// In the network or at the server.
  void outside(Instant when, std::function<void()> what) {
    events.push({when, ++sequence, process_count, std::move(what)});
  }
  void run_until(Instant end) {
    while (!events.empty() && events.top().at <= end) {
      Event next = events.top();
      events.pop();
      now = std::max(now, next.at);
      if (next.process < process_count && now < paused_until[next.process]) {
        next.at = paused_until[next.process];
        events.push(std::move(next));
        continue;
      }
      next.what();
    }
    now = end;
  }

  // ---- processes ----

  void start(std::size_t i) {
    processes[i] = std::make_shared<Process>(*this, i, random());
    processes[i]->leases.use({.share = share, .workers = workers}, now);
    tick(i, 1);
  }
  void kill(std::size_t i) { start(i); }
  void pause(std::size_t i, Duration length) { paused_until[i] = now + length; }
  /// Nothing arrives from now on; the process notices after a while.
  void cut_off(std::size_t i, Duration length) {
    cut_off_until[i] = now + length;
    at(now + below(length), i, [this, i] { processes[i]->remote.disconnect(); });
    at(now + length, i, [this, i] {
      processes[i]->remote.disconnect();
      processes[i]->remote.is_connected = true;
      processes[i]->remote.renew(now);
    });
  }
  bool is_cut_off(std::size_t i) const { return now < cut_off_until[i]; }

  void tick(std::size_t i, int count) {
    at(now + std::chrono::milliseconds(100), i, [this, i, count] {
      processes[i]->leases.tick(now);
      if (count % 5 == 0) processes[i]->remote.renew(now);
      tick(i, count + 1);
    });
  }

  /// A request for one key, or for both.
  void request(std::size_t i) { request(i, below(3)); }
  /// `who`: 0 for the first key, 1 for the second, 2 for both.
  void request(std::size_t i, std::uint64_t who) {
    Process& process = *processes[i];
    std::erase_if(process.requests, [](const auto& one) { return one->times > 0; });
    auto& made = process.requests.emplace_back(std::make_unique<ClientRequest>(*this));
    if (who != 1) made->claims.push_back(claim_of(1));
    if (who != 0) made->claims.push_back(claim_of(2));
    made->decisions.resize(made->claims.size());
    made->acquisition = {.claims = made->claims, .decisions = made->decisions, .arrived_at = now};
    made->decided_at = now;
    ++requests;
    if (const auto result = process.leases.acquire(made->acquisition, *made, now))
      made->complete(*result, now);
  }
  std::int64_t some_cost() {
    return least_cost +
           static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most_cost - least_cost + 1)));
  }
  store::Claim claim_of(std::uint64_t who) {
    store::Claim one = claim(policy, who, some_cost());
    one.lease = &units;
    return one;
  }

  /// Requests at all processes, about `rate` a second at each, for a time.
  void load(Duration length, std::uint64_t rate) {
    const Instant end = now + length;
    const Duration longest{2'000'000 / static_cast<std::int64_t>(rate * process_count)};
    while (now < end) {
      run_until(now + Duration{1} + below(longest));
      const std::size_t i = below(process_count);
      if (now >= paused_until[i]) request(i);
    }
  }

  const rules::Policy policy;
  const std::size_t workers;
  std::mt19937_64 random;
  Connection server;
  std::string script;
  std::string names[1] = {"p0"};
  KeySpace keys{.prefix = "weir:", .policy_names = names};
  std::shared_ptr<Gauge> units = std::make_shared<Gauge>();
  int share = 20;
  Instant now = epoch;
  std::array<std::shared_ptr<Process>, process_count> processes;
  std::array<Instant, process_count> paused_until{};
  std::array<Instant, process_count> cut_off_until{};
  std::map<std::uint64_t, std::vector<Admitted>> admitted;  ///< by identity
  std::vector<Denied> denied;
  std::int64_t least_cost = 1;
  std::int64_t most_cost = 3;
  std::uint64_t requests = 0;
  std::uint64_t commands = 0;
  std::uint64_t failures = 0;

 private:
  struct Event {
    Instant at{};
    std::uint64_t sequence = 0;
    std::size_t process = 0;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return std::tie(other.at, other.sequence) < std::tie(at, sequence);
    }
  };
  std::priority_queue<Event> events;
  std::uint64_t sequence = 0;
};

inline Process::Process(LeaseWorld& world, std::size_t index, std::uint64_t seed)
    : remote(world, index, seed), leases(remote, remote, LeaseWorld::timeout, seed, counters) {}

inline void ClientRequest::complete(const store::Result& its_result, Instant now) noexcept {
  ++times;
  // Every request is decided in time, unless its process was paused.
  if (its_result.error != store::Error::none) {
    ++world.failures;
    return;
  }
  if (!its_result.admitted) {
    Denied denied{.at = now};
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (store::contains(its_result.decided, i) && !decisions[i].allowed)
        denied.retry_after =
            std::max(denied.retry_after, decisions[i].retry_after.value_or(Duration{0}));
    }
    world.denied.push_back(denied);
    return;
  }
  const bool is_leased = !acquisition.asked_at;
  for (const store::Claim& one : claims)
    world.admitted[one.identity.high].push_back({is_leased ? now : decided_at, one.demand.cost});
}

// ---- the network ----

inline std::optional<store::Result> ProcessStore::acquire(store::Acquisition& acquisition,
                                                          store::Completion& completion,
                                                          Instant now) {
  if (!is_connected) return store::Result{.error = store::Error::not_connected};
  auto sent = std::make_shared<Sent>();
  sent->acquisition = &acquisition;
  sent->completion = &completion;
  acquisition.asked_at = now;
  for (std::size_t i = 0; i < acquisition.claims.size(); ++i) {
    const store::Claim& claim = acquisition.claims[i];
    acquisition.decisions[i].limit = claim.policy->capacity;
    if (!claim.holds) {
      sent->holds.emplace_back();
      continue;
    }
    HeldKey* const held = table_.take({claim.identity, claim.policy_id}, claim.policy->algorithm);
    write_policy_arguments(*held, *claim.policy, scratch_);
    sent->holds.push_back(table_.begin(*held));
  }
  const Instant delivered_at =
      std::max(last_delivery_, now + Duration{50} + world_.below(Duration{2'000}));
  std::string command;
  append_held_question(command, {ScriptName::By::text, world_.script}, world_.keys,
                       acquisition.claims, sent->holds, delivered_at);
  transmit(std::move(command), sent, delivered_at);
  world_.at(acquisition.arrived_at + LeaseWorld::timeout, process_, [this, sent] {
    if (sent->acquisition == nullptr) return;
    sent->acquisition = nullptr;
    sent->completion->complete({.error = store::Error::timeout}, world_.now);
  });
  return std::nullopt;
}

inline void ProcessStore::settle(std::span<const store::Settlement> settlements, Instant now) {
  for (const store::Settlement& settlement : settlements) {
    if (HeldKey* const held = table_.settle(settlement))
      write_policy_arguments(*held, *settlement.policy, scratch_);
  }
  if (std::exchange(is_flush_due_, true)) return;
  world_.at(now, process_, [this] {
    is_flush_due_ = false;
    flush(world_.now);
  });
}

inline void ProcessStore::renew(Instant now) {
  table_.queue_due(now);
  flush(now);
}

inline void ProcessStore::flush(Instant now) {
  if (!is_connected) return;
  std::vector<HeldKey*> queued;
  table_.take_queued(world_.policy.algorithm, 64, now, queued);
  if (queued.empty()) return;
  auto sent = std::make_shared<Sent>();
  for (HeldKey* const held : queued)
    sent->holds.push_back(table_.begin(*held));
  const Instant delivered_at =
      std::max(last_delivery_, now + Duration{50} + world_.below(Duration{2'000}));
  std::string command;
  append_settlements(command, {ScriptName::By::text, world_.script}, world_.keys, sent->holds,
                     delivered_at);
  transmit(std::move(command), sent, delivered_at);
}

inline void ProcessStore::transmit(std::string command, std::shared_ptr<Sent> sent,
                                   Instant delivered_at) {
  for (const HoldTable::Sent& one : sent->holds) {
    if (one.held != nullptr) table_.confirm_sent(one, world_.now);
  }
  unanswered_.push_back(sent);
  last_delivery_ = delivered_at;
  last_reply_ = std::max(last_reply_, delivered_at + Duration{50} + world_.below(Duration{2'000}));
  // The server executes it even if the process has died meanwhile.
  world_.outside(delivered_at, [&world = world_, alive = std::weak_ptr(world_.processes[process_]),
                                process = process_, command = std::move(command), sent,
                                delivered_at, replied_at = last_reply_] {
    if (world.is_cut_off(process)) return;
    ++world.commands;
    const std::shared_ptr<redisReply> reply = world.server.send(command);
    if (alive.expired()) return;
    world.at(replied_at, process, [&world, process, sent, reply, delivered_at] {
      if (!world.is_cut_off(process))
        world.processes[process]->remote.on_reply(*sent, *reply, delivered_at, world.now);
    });
  });
}

inline void ProcessStore::on_reply(Sent& sent, const redisReply& reply, Instant delivered_at,
                                   Instant now) {
  // Its connection may have ended.
  if (unanswered_.empty() || unanswered_.front().get() != &sent) return;
  const auto kept = unanswered_.front();
  unanswered_.pop_front();
  std::vector<HoldTable::Reply> holds(sent.holds.size());
  store::Acquisition* const acquisition = std::exchange(sent.acquisition, nullptr);
  store::Result result;
  if (sent.completion == nullptr) {
    if (!read_settled(reply, holds)) throw std::runtime_error("not a reply to settlements");
  } else if (acquisition == nullptr) {
    if (!read_holds(reply, holds)) throw std::runtime_error("not a reply about holds");
  } else {
    result = held_result_of(reply, *acquisition, holds);
    if (result.error != store::Error::none) throw std::runtime_error("not decided");
  }
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (sent.holds[i].held == nullptr) continue;
    if (sent.completion == nullptr || acquisition != nullptr) {
      table_.answered(sent.holds[i], holds[i]);
    } else {
      table_.released_late(sent.holds[i], holds[i]);
    }
  }
  if (acquisition != nullptr) {
    if (auto* const client = dynamic_cast<ClientRequest*>(sent.completion))
      client->decided_at = delivered_at;
    sent.completion->complete(result, now);
  }
  flush(now);
}

inline void ProcessStore::disconnect() {
  is_connected = false;
  const auto lost = std::exchange(unanswered_, {});
  for (const auto& sent : lost) {
    for (const HoldTable::Sent& one : sent->holds) {
      if (one.held != nullptr) table_.lost(one);
    }
  }
  for (const auto& sent : lost) {
    if (std::exchange(sent->acquisition, nullptr) != nullptr)
      sent->completion->complete({.error = store::Error::connection_lost}, world_.now);
  }
}

}  // namespace weir::redis::test
