// A remote store that a test controls: it answers when the test calls answer(), from a memory store
// of its own whose time stands still unless the test moves it.
#pragma once

#include <new>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "store/link.hpp"
#include "store/memory_store.hpp"
#include "store/remote_store.hpp"

namespace weir::store::test {

class FakeStore final : public RemoteStore {
 public:
  struct Asked {
    Acquisition* acquisition = nullptr;  ///< nullptr: a key to forget
    Completion* completion = nullptr;
    Duration waited{0};
  };

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override {
    ++questions;
    if (writes_asked_at) acquisition.asked_at = now;
    return take({&acquisition, &completion, now - acquisition.arrived_at});
  }
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion, Instant) override {
    ++peeks;
    return take({&acquisition, &completion});
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant) override {
    ++forgotten;
    server.forget(key);
    return take({nullptr, &completion});
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    ++settle_calls;
    settled_at = now;
    settled.insert(settled.end(), settlements.begin(), settlements.end());
  }
  bool is_ready() const override { return ready; }
  bool has_decided() const override { return decided; }
  std::uint64_t replies() const override { return replied; }
  std::size_t unanswered() const override { return pending.size() + late; }
  bool is_silent() const override { return silent; }
  void reconnect() override {
    ++reconnects;
    late = 0;
    ready = false;
  }
  std::optional<Result> probe(Completion& completion, Instant) override {
    ++probes;
    return take({nullptr, &completion});
  }

  bool read_generation(GenerationReceiver& receiver) override {
    if (!ready) return false;
    ++generation_reads;
    reading = &receiver;
    return true;
  }
  /// The reply to the read of the generation.
  void answer_generation(std::uint64_t generation, Instant now) {
    std::exchange(reading, nullptr)->on_generation(generation, now);
  }

  /// Completes the call that waits longest: with a decision, or with `error`.
  void answer(Instant now, Error error = Error::none) {
    const Asked first = pending.front();
    pending.erase(pending.begin());
    finish(first, now, error);
  }
  /// Completes the latest call.
  void answer_last(Instant now, Error error = Error::none) {
    const Asked last = pending.back();
    pending.pop_back();
    finish(last, now, error);
  }
  /// The replies to questions that have timed out.
  void reply_late() { replied += std::exchange(late, 0); }
  void answer_all(Instant now, Error error = Error::none) {
    while (!pending.empty())
      answer(now, error);
  }

  static constexpr MemoryStoreOptions server_options{.max_keys = 1'000, .seed = 5};
  MemoryStore server{server_options};
  Instant server_now = epoch;
  bool at_once = false;  ///< returns its results instead
  Error fails_at_once = Error::none;
  bool writes_asked_at = false;  ///< as the circuit breaker does, for links tested without it
  bool ready = true;
  bool decided = true;
  bool silent = false;
  std::uint64_t replied = 0;
  std::size_t late = 0;  ///< questions that have timed out and are without a reply
  std::vector<Asked> pending;
  int questions = 0;
  int peeks = 0;
  int forgotten = 0;
  int probes = 0;
  GenerationReceiver* reading = nullptr;
  int generation_reads = 0;
  int reconnects = 0;
  int settle_calls = 0;
  std::vector<Settlement> settled;
  Instant settled_at{};

 private:
  std::optional<Result> take(const Asked& asked) {
    if (at_once) return result_of(asked, fails_at_once);
    pending.push_back(asked);
    return std::nullopt;
  }
  void finish(const Asked& asked, Instant now, Error error) {
    const Result result = result_of(asked, error);
    asked.completion->complete(result, now);
  }
  Result result_of(const Asked& asked, Error error) {
    decided = error == Error::none;
    if (error == Error::timeout) {
      ++late;
    } else if (error != Error::connection_lost) {
      ++replied;
    }
    Result result{.error = error, .decider = Decider::redis};
    if (error != Error::none || asked.acquisition == nullptr) return result;
    const auto claims = asked.acquisition->claims;
    result.admitted = server.decide(claims, server_now, asked.acquisition->decisions);
    for (std::uint32_t i = 0; !result.admitted && i < asked.acquisition->repeats; ++i)
      REQUIRE_FALSE(server.decide(claims, server_now, asked.acquisition->decisions));
    result.decided = first_claims(claims.size());
    return result;
  }
};

/// A store without memory for the next `failures` requests. The others go on to `next`.
class ScarceStore final : public Link {
 public:
  explicit ScarceStore(Store& next) : Link(next) {}
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override {
    completions.push_back(&completion);
    if (failures > 0) {
      --failures;
      throw std::bad_alloc();
    }
    return next_.acquire(acquisition, completion, now);
  }

  int failures = 0;
  std::vector<Completion*> completions;
};

/// One request that is decided by the link under test.
class Request final : public Completion {
 public:
  explicit Request(std::vector<Claim> its_claims)
      : claims(std::move(its_claims)), decisions(claims.size()) {
    acquisition.claims = claims;
    acquisition.decisions = decisions;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Arrives and is decided, or waits.
  void come(Store& store, Duration after) { ask(store, after, after); }
  void ask(Store& store, Duration arrived_after, Duration after) {
    acquisition.arrived_at = epoch + arrived_after;
    acquisition.asked_at.reset();
    result = store.acquire(acquisition, *this, epoch + after);
    times = result ? 1 : 0;
  }
  void complete(const Result& its_result, Instant) noexcept override {
    ++times;
    result = its_result;
  }
  bool waits() const { return times == 0; }
  bool admitted() const { return result && result->error == Error::none && result->admitted; }
  bool denied() const { return result && result->error == Error::none && !result->admitted; }
  Decider decider() const { return result.value().decider; }

  std::vector<Claim> claims;
  std::vector<rules::Decision> decisions;
  Acquisition acquisition;
  std::optional<Result> result;
  int times = 0;  ///< must end at 1
};

inline rules::Policy gcra(std::int64_t count, Duration per = 3'600s) {
  return policy(rules::Algorithm::gcra, count, per);
}

/// A claim that Redis decides by `shared_policy`, and this instance alone by `local_policy`.
inline Claim shared_claim(const rules::Policy& shared_policy, const rules::Policy& local_policy,
                          std::uint64_t who = 1, std::uint32_t policy_id = 0) {
  Claim result = claim(shared_policy, who, 1, policy_id);
  result.local_policy = &local_policy;
  return result;
}

}  // namespace weir::store::test
