// Several workers that hold units of the same keys, with commands and replies that are lost,
// replies that are late, and workers that die or are cut off. The truth is a list of requests.
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "redis/answer.hpp"
#include "redis/hold_table.hpp"
#include "redis/holds.hpp"
#include "seed.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {
namespace {

using namespace store::test;
using rules::Algorithm;
using store::Claim;

/// The fate of a command and its reply.
enum class Fate : std::uint8_t { answered, lost_before, lost_after, late };

struct Running {
  std::uint64_t who = 0;
  std::int64_t held = 0;
};

/// A worker: its table, and the requests that it has in flight.
struct Worker {
  explicit Worker(std::uint64_t seed) : table(seed, counters) {}
  StoreCounters counters;
  HoldTable table;
  std::vector<Running> running;
  struct Late {
    HoldTable::Sent sent;
    HoldTable::Reply reply;
    Instant sent_at{};
  };
  std::deque<Late> late;
  bool is_cut_off = false;
};

class InstancesWorld {
 public:
  InstancesWorld(Algorithm algorithm, std::uint64_t seed)
      : limit(policy(algorithm, algorithm == Algorithm::concurrency ? 12 : capacity, 1'000h)),
        random(seed),
        server(shared_server()) {
    server("FLUSHALL");
    script = script_for(static_cast<AlgorithmSet>(set_of(algorithm) | with_holds), Clock::argument);
    for (std::uint64_t i = 0; i < 3; ++i)
      workers.push_back(std::make_unique<Worker>(seed * 7 + i));
  }

  std::string scratch;
  std::uint64_t below(std::uint64_t end) { return random() % end; }
  Claim claim_of(std::uint64_t who, std::int64_t cost) const { return holding(limit, who, cost); }

  /// The lease of a field ends if the commands that replace it are lost too often: not here.
  static bool must_arrive(const HeldKey& held) {
    return held.numbers.formers.size() + 1 >= held.numbers.formers.capacity();
  }
  Fate some_fate(bool with_failures) {
    if (!with_failures) return Fate::answered;
    const std::uint64_t dice = below(12);
    return dice == 0   ? Fate::lost_before
           : dice == 1 ? Fate::lost_after
           : dice == 2 ? Fate::late
                       : Fate::answered;
  }

  /// The connection has ended: late replies do not arrive.
  static void lose_late(Worker& worker) {
    for (const Worker::Late& one : worker.late)
      worker.table.lost(one.sent);
    worker.late.clear();
  }
  static void read_late(Worker& worker) {
    while (!worker.late.empty()) {
      worker.table.released_late(worker.late.front().sent, worker.late.front().reply);
      worker.late.pop_front();
    }
  }

  /// A connection whose replies do not arrive is closed long before a lease ends.
  void end_silence(Worker& worker) {
    if (worker.late.empty() || now - worker.late.front().sent_at < hold_lease / 4) return;
    if (below(2) == 0) {
      lose_late(worker);
    } else {
      read_late(worker);
    }
  }

  void request(Worker& worker, std::uint64_t who, Fate fate) {
    const Claim claim = claim_of(who, static_cast<std::int64_t>(below(4)) + 1);
    HeldKey* const held = worker.table.take({claim.identity, claim.policy_id}, limit.algorithm);
    write_policy_arguments(*held, limit, scratch);
    if (must_arrive(*held)) fate = Fate::answered;
    const HoldTable::Sent sent = worker.table.begin(*held);
    std::string command;
    append_held_question(command, {ScriptName::By::text, script}, keys, {&claim, 1}, {&sent, 1},
                         now);
    worker.table.confirm_sent(sent, now);
    if (fate == Fate::lost_before) return lose(worker, sent);
    const Reply reply = server.send(command);
    if (fate == Fate::lost_after) return lose(worker, sent);
    rules::Decision decision{.limit = limit.capacity};
    HoldTable::Reply about;
    bool admitted = false;
    CAPTURE(reply->type, reply->str);
    REQUIRE(read_held_answer(*reply, {&decision, 1}, {&about, 1}, admitted));
    CHECK(about.taken == (admitted ? claim.demand.cost : 0));
    expired += about.ended;
    if (fate == Fate::late) {
      worker.late.push_back({sent, about, now});
      return;
    }
    worker.table.answered(sent, about);
    if (admitted) worker.running.push_back({who, about.taken});
  }

  void end_request(Worker& worker, std::size_t index, std::int64_t actual) {
    const Running ended = worker.running[index];
    worker.running.erase(worker.running.begin() + static_cast<std::ptrdiff_t>(index));
    least += std::min(actual, ended.held);
    most += std::max(actual, ended.held);
    exact += actual;
    const Claim claim = claim_of(ended.who, 1);
    if (HeldKey* const held = worker.table.settle(settlement_of(claim, ended.held, actual)))
      write_policy_arguments(*held, limit, scratch);
  }

  /// Settles and renews what is due. A lost command is sent again later; sometimes the same one
  /// arrives twice.
  void flush(Worker& worker, Fate fate) {
    if (worker.is_cut_off) return;
    worker.table.queue_due(now);
    std::vector<HeldKey*> queued;
    worker.table.take_queued(limit.algorithm, 64, now, queued);
    if (queued.empty()) return;
    std::vector<HoldTable::Sent> sent;
    if (std::ranges::any_of(queued, [](const HeldKey* held) { return must_arrive(*held); }))
      fate = Fate::answered;
    for (HeldKey* const held : queued)
      sent.push_back(worker.table.begin(*held));
    std::string command;
    append_settlements(command, {ScriptName::By::text, script}, keys, sent, now);
    for (const HoldTable::Sent& one : sent)
      worker.table.confirm_sent(one, now);
    if (fate == Fate::lost_before) return lose_all(worker, sent);
    const Reply reply = server.send(command);
    std::vector<HoldTable::Reply> settled(sent.size());
    CAPTURE(reply->type, reply->str);
    REQUIRE(read_settled(*reply, settled));
    for (const HoldTable::Reply& one : settled)
      expired += one.ended;
    if (fate != Fate::answered) return lose_all(worker, sent);
    // A repeated command has no further effect.
    if (below(4) == 0) repeat(command);
    for (std::size_t i = 0; i < sent.size(); ++i)
      worker.table.answered(sent[i], settled[i]);
  }
  void repeat(const std::string& command) {
    const std::int64_t units = units_held();
    server.send(command);
    CHECK(units_held() == units);
  }

  void lose(Worker& worker, const HoldTable::Sent& sent) {
    worker.table.lost(sent);
    lose_late(worker);
  }
  void lose_all(Worker& worker, const std::vector<HoldTable::Sent>& all) {
    for (const HoldTable::Sent& one : all)
      worker.table.lost(one);
    lose_late(worker);
  }

  /// Until nothing is left to send.
  void drain(Worker& worker) {
    read_late(worker);
    for (int i = 0; i < 5; ++i)
      flush(worker, Fate::answered);
  }

  std::int64_t units_held() {
    std::int64_t units = 0;
    const Reply found = server("KEYS", "*:h");
    for (std::size_t i = 0; i < found->elements; ++i) {
      const Reply fields = server("HGETALL", found->element[i]->str);
      for (std::size_t at = 1; at < fields->elements; at += 2) {
        double numbers[4];
        if (fields->element[at]->len != sizeof numbers) continue;
        std::memcpy(numbers, fields->element[at]->str, sizeof numbers);
        units += static_cast<std::int64_t>(numbers[0] - numbers[1]);
      }
    }
    return units;
  }
  std::int64_t units_running() const {
    std::int64_t units = 0;
    for (const auto& worker : workers) {
      for (const Running& one : worker->running)
        units += one.held;
    }
    return units;
  }
  std::int64_t used(std::uint64_t who) {
    Claim look = claim_of(who, 0);
    const HoldTable::Sent none;
    std::string command;
    append_held_question(command, {ScriptName::By::text, script}, keys, {&look, 1}, {&none, 1},
                         now);
    rules::Decision decision{.limit = limit.capacity};
    HoldTable::Reply about;
    bool admitted = false;
    const Reply reply = server.send(command);
    REQUIRE(read_held_answer(*reply, {&decision, 1}, {&about, 1}, admitted));
    expired += about.ended;
    return limit.capacity - decision.remaining;
  }
  std::int64_t used_of_all() {
    std::int64_t units = 0;
    for (std::uint64_t who = 1; who <= identities; ++who)
      units += used(who);
    return units;
  }
  void no_key_is_left_without_ttl() {
    const Reply found = server("KEYS", "*");
    for (std::size_t i = 0; i < found->elements; ++i)
      CHECK(server("PTTL", found->element[i]->str)->integer != -1);
  }

  static constexpr std::int64_t capacity = 100'000;
  static constexpr std::uint64_t identities = 3;
  const rules::Policy limit;
  std::mt19937_64 random;
  Connection server;
  std::string script;
  std::string names[1] = {"p0"};
  KeySpace keys{.prefix = "weir:", .policy_names = names};
  std::vector<std::unique_ptr<Worker>> workers;
  Instant now = epoch;
  std::int64_t exact = 0;    ///< units that ended requests cost
  std::int64_t least = 0;    ///< if each ended request is charged the smaller of held and cost
  std::int64_t most = 0;     ///< the larger
  std::int64_t expired = 0;  ///< units of fields whose lease has ended
};

void step(InstancesWorld& world, bool with_failures) {
  world.now += Duration{static_cast<std::int64_t>(world.below(300'000))};
  for (const auto& one : world.workers)
    world.end_silence(*one);
  Worker& worker = *world.workers[world.below(world.workers.size())];
  if (!worker.is_cut_off) {
    if (world.below(3) == 0) InstancesWorld::read_late(worker);
    world.request(worker, world.below(InstancesWorld::identities) + 1,
                  world.some_fate(with_failures));
  }
  if (!worker.running.empty() && world.below(8) != 0)
    world.end_request(worker, world.below(worker.running.size()),
                      static_cast<std::int64_t>(world.below(7)));
  for (const auto& one : world.workers)
    world.flush(*one, world.some_fate(with_failures));
}

constexpr int steps = std::max(walk_steps / 10, 150);

}  // namespace

TEST_CASE("Lost commands, lost replies and late ones neither leak nor repeat units") {
  const TestSeed seed;
  for (const auto algorithm : {Algorithm::concurrency, Algorithm::fixed_window}) {
    DYNAMIC_SECTION(to_string(algorithm) << " seed " << seed) {
      InstancesWorld world(algorithm, seed);
      for (int i = 0; i < steps; ++i) {
        step(world, true);
        if (i % 20 != 0) continue;
        for (const auto& worker : world.workers)
          world.drain(*worker);
        CAPTURE(i);
        REQUIRE(world.units_held() == world.units_running());
        if (algorithm != Algorithm::concurrency)
          REQUIRE(world.used_of_all() == world.exact + world.units_running());
        world.no_key_is_left_without_ttl();
      }
      CHECK(world.expired == 0);
      for (const auto& worker : world.workers) {
        CHECK(worker->counters.settlements_lost.value() == 0);
        while (!worker->running.empty())
          world.end_request(*worker, 0, 1);
        world.drain(*worker);
        CHECK(worker->table.is_empty());
        CHECK(worker->counters.held.value() == 0);
      }
      CHECK(world.units_held() == 0);
    }
  }
}

TEST_CASE("The units of a worker that dies are released or charged when its lease ends") {
  const TestSeed seed;
  for (const auto algorithm : {Algorithm::concurrency, Algorithm::fixed_window}) {
    DYNAMIC_SECTION(to_string(algorithm) << " seed " << seed) {
      InstancesWorld world(algorithm, seed);
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < steps / 20; ++i)
          step(world, true);
        for (const auto& worker : world.workers)
          world.drain(*worker);
        // One dies; another starts in its place.
        auto& dead = world.workers[world.below(world.workers.size())];
        std::int64_t units = 0;
        for (const Running& one : dead->running)
          units += one.held;
        dead = std::make_unique<Worker>(world.random());
        const std::int64_t before = world.expired;
        // The others live on for longer than a lease.
        for (int i = 0; i < 5; ++i) {
          world.now += hold_lease / 4;
          for (const auto& worker : world.workers)
            world.drain(*worker);
        }
        world.used_of_all();
        CAPTURE(round);
        REQUIRE(world.expired - before == units);
        REQUIRE(world.units_held() == world.units_running());
        if (algorithm != Algorithm::concurrency) {
          world.exact += units;
          REQUIRE(world.used_of_all() == world.exact + world.units_running());
        }
      }
    }
  }
}

TEST_CASE("A worker that is cut off for longer than its lease takes its slots again") {
  const TestSeed seed;
  for (const auto algorithm : {Algorithm::concurrency, Algorithm::fixed_window}) {
    DYNAMIC_SECTION(to_string(algorithm) << " seed " << seed) {
      InstancesWorld world(algorithm, seed);
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < steps / 20; ++i)
          step(world, true);
        Worker& away = *world.workers[world.below(world.workers.size())];
        world.drain(away);
        away.is_cut_off = true;
        for (int i = 0; i < 50; ++i) {
          world.now += hold_lease / 20;
          step(world, false);
        }
        away.is_cut_off = false;
        for (const auto& worker : world.workers)
          world.drain(*worker);
        CAPTURE(round);
        if (algorithm == Algorithm::concurrency) {
          REQUIRE(world.units_held() == world.units_running());
        } else {
          const std::int64_t used = world.used_of_all();
          REQUIRE(used >= world.least);
          REQUIRE(used <= world.most + world.units_running());
        }
        world.no_key_is_left_without_ttl();
      }
      for (const auto& worker : world.workers) {
        while (!worker->running.empty())
          world.end_request(*worker, 0, 1);
        world.drain(*worker);
        CHECK(worker->table.is_empty());
      }
      CHECK(world.units_held() == 0);
    }
  }
}

TEST_CASE("A table is bounded, and keys that are not held are not kept") {
  StoreCounters counters;
  HoldTable table(1, counters, 2);
  const auto slots = policy(Algorithm::concurrency, 5, 1s);
  HeldKey* const one = table.take({.identity = {.low = 1}}, Algorithm::concurrency);
  HeldKey* const two = table.take({.identity = {.low = 2}}, Algorithm::concurrency);
  REQUIRE(one != nullptr);
  REQUIRE(two != nullptr);
  CHECK(table.take({.identity = {.low = 1}}, Algorithm::concurrency) == one);
  CHECK(table.take({.identity = {.low = 3}}, Algorithm::concurrency) == nullptr);
  table.answered(table.begin(*one), {.taken = 1});
  table.not_run(table.begin(*two));
  CHECK(table.size() == 1);
  CHECK(counters.held.value() == 1);
  // A slot that is in use stays until its request ends.
  table.forget({.identity = {.low = 1}}, Algorithm::concurrency);
  CHECK(counters.held.value() == 1);
  CHECK(table.settle({.policy = &slots, .key = {.identity = {.low = 1}}, .held = 1}) == one);
  std::vector<HeldKey*> queued;
  table.take_queued(Algorithm::concurrency, 1, epoch, queued);
  const auto last = table.begin(*one);
  table.confirm_sent(last, epoch);
  table.answered(last, {});
  CHECK(table.is_empty());
  CHECK(counters.held.value() == 0);
  CHECK(table.settle({.policy = &slots, .key = {.identity = {.low = 1}}, .held = 1}) == nullptr);
}

TEST_CASE("A lost command begins another field with the units that are known") {
  StoreCounters counters;
  HoldTable table(1, counters);
  HeldKey& held = *table.take({}, Algorithm::concurrency);
  const auto first = table.begin(held);
  table.confirm_sent(first, epoch);
  table.answered(first, {.taken = 3});
  const auto second = table.begin(held);
  table.confirm_sent(second, epoch);
  table.lost(second);
  const auto third = table.begin(held);
  CHECK(third.field != first.field);
  CHECK(held.numbers.taken == 3);
  REQUIRE(held.numbers.formers.size() == 1);
  CHECK(held.numbers.formers[0].field == first.field);
  // Not again before the reply.
  const auto fourth = table.begin(held);
  CHECK(fourth.field == third.field);
  table.confirm_sent(third, epoch);
  table.answered(third, {});
  CHECK(held.numbers.formers.empty());
}

}  // namespace weir::redis::test
