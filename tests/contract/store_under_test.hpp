// The stores that the contract tests run against, and short ways to write claims.
//
// Every store runs the same cases, through the interface that the program uses
// (InterfaceUnderTest), with the instant given by the case. It starts each case empty. The model of
// a store (contract/store_model.hpp) implements StoreUnderTest by itself.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rules/rules.hpp"
#include "store/entries.hpp"
#include "store/looks.hpp"
#include "store/override.hpp"
#include "store/store.hpp"

namespace weir::store::test {

using namespace std::chrono_literals;

class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual bool acquire(std::span<const Claim> claims, Instant now,
                       std::span<rules::Decision> decisions) = 0;
  virtual void peek(std::span<const Claim> claims, Instant now,
                    std::span<rules::Decision> decisions) = 0;
  /// The units that requests in progress hold under the claim's key.
  virtual std::int64_t held(const Claim& claim, Instant now) = 0;
  /// The entries of an attributed window.
  virtual EntryReport entries(const Claim& claim, Instant now) = 0;
  virtual void forget(const Key& key) = 0;
  /// Claims may hold, and settle() ends holds. A store without runs no cases and walks with holds.
  virtual bool supports_holds() const { return false; }
  virtual void settle(std::span<const Settlement> settlements, Instant now) = 0;
  virtual OverrideReport put(const Hash128& identity, const Override& entry, Instant now) = 0;
  virtual OverrideReport remove(const Hash128& identity, const std::string& policy,
                                Instant now) = 0;
};

/// Keeps the result of one call.
struct Received final : Completion {
  void complete(const Result& its_result, Instant) noexcept override {
    ++times;
    result = its_result;
  }
  std::optional<Result> result;
  int times = 0;
};

/// A store::Store, driven until it has completed.
class InterfaceUnderTest : public StoreUnderTest {
 public:
  bool acquire(std::span<const Claim> claims, Instant now,
               std::span<rules::Decision> decisions) override {
    Acquisition acquisition{.claims = claims, .decisions = decisions, .arrived_at = now};
    Received received;
    const auto result = finish(store().acquire(acquisition, received, now), received);
    check(result, claims.size());
    return result.admitted;
  }
  void peek(std::span<const Claim> claims, Instant now,
            std::span<rules::Decision> decisions) override {
    Acquisition acquisition{.claims = claims, .decisions = decisions, .arrived_at = now};
    Received received;
    check(finish(store().peek(acquisition, received, now), received), claims.size());
  }
  std::int64_t held(const Claim& claim, Instant now) override {
    const Claim look = looks_of({&claim, 1}).front();
    rules::Decision decision;
    Acquisition acquisition{
        .claims = {&look, 1}, .decisions = {&decision, 1}, .arrived_at = now, .shows_held = true};
    Received received;
    check(finish(store().peek(acquisition, received, now), received), 1);
    return decision.held_by_others;
  }
  void forget(const Key& key) override {
    Received received;
    check(finish(store().forget(key, received, epoch_of_forgetting), received), 0);
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    store().settle(settlements, now);
  }
  OverrideReport put(const Hash128& identity, const Override& entry, Instant now) override {
    return report([&](auto done) { overrides().put(identity, entry, now, std::move(done)); });
  }
  OverrideReport remove(const Hash128& identity, const std::string& policy, Instant now) override {
    return report([&](auto done) { overrides().remove(identity, policy, now, std::move(done)); });
  }
  OverrideReport list(const std::optional<Hash128>& identity, Instant now,
                      const std::stop_token& over = {}) {
    return report([&](auto done) { overrides().list(identity, now, over, std::move(done)); });
  }
  virtual Store& store() = 0;
  virtual Overrides& overrides() = 0;

 protected:
  /// Runs the loop until the report is there.
  virtual void wait_for(const std::optional<OverrideReport>& report) = 0;
  /// Runs the loop that completes the store's calls until `received` has its result.
  virtual void wait_for(const Received& received) = 0;

 private:
  static constexpr Instant epoch_of_forgetting = instant_from_us(1'700'000'010'000'000);

  template <class Call>
  OverrideReport report(Call&& call) {
    std::optional<OverrideReport> report;
    call([&report](OverrideReport its_report) { report = std::move(its_report); });
    wait_for(report);
    return report.value();
  }
  Result finish(const std::optional<Result>& at_once, Received& received) {
    if (at_once) return *at_once;
    wait_for(received);
    if (received.times != 1) throw std::runtime_error("not completed exactly once");
    return *received.result;
  }
  static void check(const Result& result, std::size_t claims) {
    if (result.error != Error::none)
      throw std::runtime_error("not decided: " + std::string(to_string(result.error)));
    if (claims != 0 && result.decided != first_claims(claims))
      throw std::runtime_error("not all claims are decided");
  }
};

/// A whole second that starts a window of 1, 3 or 10 s.
inline const Instant epoch = instant_from_us(1'700'000'010'000'000);

inline rules::Policy policy(const rules::Definition& definition) {
  return rules::compile(definition).value();
}

inline rules::Policy policy(rules::Algorithm algorithm, std::int64_t count, Duration per) {
  rules::Definition definition;
  definition.algorithm = algorithm;
  definition.rates = {{.count = count, .per = per}};
  if (algorithm == rules::Algorithm::concurrency) {
    definition.rates.clear();
    definition.limit = count;
  }
  if (algorithm == rules::Algorithm::leaky_bucket) {
    definition.queue = count - 1;
    definition.max_delay = per;
  }
  return policy(definition);
}

inline constexpr rules::Algorithm algorithms[] = {
    rules::Algorithm::fixed_window,   rules::Algorithm::attributed_window,
    rules::Algorithm::sliding_window, rules::Algorithm::sliding_log,
    rules::Algorithm::token_bucket,   rules::Algorithm::gcra,
    rules::Algorithm::leaky_bucket};

inline Claim claim(const rules::Policy& policy, std::uint64_t who, std::int64_t cost = 1,
                   std::uint32_t policy_id = 0) {
  Claim result;
  result.policy = &policy;
  result.identity = {.low = who * 0x9e3779b97f4a7c15, .high = who};
  result.policy_id = policy_id;
  result.demand.cost = cost;
  return result;
}

struct Answer {
  bool admitted = false;
  std::vector<rules::Decision> decisions;
};

inline Answer ask(StoreUnderTest& store, Instant now, const std::vector<Claim>& claims) {
  Answer answer;
  answer.decisions.resize(claims.size());
  answer.admitted = store.acquire(claims, now, answer.decisions);
  return answer;
}

}  // namespace weir::store::test
