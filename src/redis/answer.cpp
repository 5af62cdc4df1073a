#include "redis/answer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <hiredis/hiredis.h>

#include <boost/container/static_vector.hpp>

#include "rules/span.hpp"
#include "store/claim.hpp"
#include "store/lease.hpp"

namespace weir::redis {

namespace {

constexpr std::size_t number_bytes = 8;
constexpr std::size_t numbers_of_claim = 6;
constexpr std::size_t numbers_of_holds = 5;  ///< of a claim, after its decision
constexpr std::size_t numbers_of_override = 4;
constexpr std::size_t numbers_of_settlement = 2;

class Numbers {
 public:
  explicit Numbers(const char* at) : at_(at) {}

  /// The next number. If it is not a whole number of at least `least`, good() becomes false.
  std::int64_t next(std::int64_t least = 0) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < number_bytes; ++i)
      bits |= std::uint64_t{static_cast<unsigned char>(at_[i])} << (8 * i);
    at_ += number_bytes;
    const auto value = std::bit_cast<double>(bits);
    const bool whole = std::abs(value) <= static_cast<double>(rules::exact_limit) &&
                       std::trunc(value) == value && value >= static_cast<double>(least);
    good_ = good_ && whole;
    return whole ? static_cast<std::int64_t>(value) : 0;
  }
  std::int64_t next_up_to(std::int64_t most) {
    const std::int64_t value = next();
    good_ = good_ && value <= most;
    return value <= most ? value : 0;
  }
  bool next_flag() { return next_up_to(1) == 1; }
  void skip(std::size_t count) { at_ += count * number_bytes; }
  bool good() const { return good_; }

 private:
  const char* at_;
  bool good_ = true;
};

rules::Decision decision_from(Numbers& numbers, std::int64_t limit) {
  rules::Decision decision{.limit = limit};
  decision.allowed = numbers.next_flag();
  decision.remaining = numbers.next();
  decision.reset_after = Duration{numbers.next()};
  decision.more_after = Duration{numbers.next()};
  decision.delay = Duration{numbers.next()};
  const std::int64_t retry_after = numbers.next(-1);
  if (retry_after >= 0) decision.retry_after = Duration{retry_after};
  return decision;
}

/// Adds the override of a claim to its decision: its effect, capacity, refill and end.
void add_override(rules::Decision& decision, Numbers& numbers) {
  using rules::OverrideEffect;
  decision.override_effect = static_cast<OverrideEffect>(
      numbers.next_up_to(static_cast<std::int64_t>(OverrideEffect::malformed)));
  const std::int64_t capacity = numbers.next();
  const Duration refill{numbers.next()};
  if (decision.override_effect == OverrideEffect::numbers) {
    decision.limit = capacity;
    decision.refill = refill;
  }
  const std::int64_t ends_after = numbers.next();
  if (ends_after > 0) decision.ends_after = Duration{ends_after};
}

using Decisions = boost::container::static_vector<rules::Decision, store::claims_per_request>;

HoldTable::Reply holds_from(Numbers& numbers, rules::Decision& decision) {
  HoldTable::Reply reply;
  reply.taken = decision.held = numbers.next();
  decision.by_holds = numbers.next_flag();
  decision.held_by_others = numbers.next();
  reply.lost = numbers.next();
  reply.ended = numbers.next();
  return reply;
}

/// Reads all decisions; `limits` has those of the policies. Empty if a number is out of range.
/// `holds`: one for each decision, or none.
Decisions decisions_from(Numbers& numbers, std::span<const rules::Decision> limits,
                         std::span<HoldTable::Reply> holds, bool has_overrides) {
  Decisions decisions;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    decisions.push_back(decision_from(numbers, limits[i].limit));
    if (!holds.empty()) holds[i] = holds_from(numbers, decisions[i]);
  }
  if (has_overrides) {
    for (rules::Decision& decision : decisions)
      add_override(decision, numbers);
  }
  const bool fits = std::ranges::all_of(decisions, [](const rules::Decision& decision) {
    return decision.remaining <= decision.limit;
  });
  if (!numbers.good() || !fits) decisions.clear();
  return decisions;
}

/// Whether a reply has the length of one for so many claims.
struct Shape {
  bool is_valid = false;
  bool has_overrides = false;
};

Shape shape_of(const redisReply& reply, std::size_t claims, std::size_t numbers_of_each) {
  if (reply.type != REDIS_REPLY_STRING) return {};
  const auto size = static_cast<std::size_t>(reply.len);
  const std::size_t plain = number_bytes * (1 + numbers_of_each * claims);
  const bool has_overrides = size == plain + number_bytes * numbers_of_override * claims;
  return {.is_valid = size == plain || has_overrides, .has_overrides = has_overrides};
}

bool read(const redisReply& reply, std::span<rules::Decision> decisions,
          std::span<HoldTable::Reply> holds, bool& admitted) {
  const std::size_t more = holds.empty() ? 0 : numbers_of_holds;
  const Shape shape = shape_of(reply, decisions.size(), numbers_of_claim + more);
  if (!shape.is_valid) return false;
  Numbers numbers(reply.str);
  const bool is_admitted = numbers.next_flag();
  const Decisions all = decisions_from(numbers, decisions, holds, shape.has_overrides);
  if (all.size() != decisions.size()) return false;
  admitted = is_admitted;
  std::ranges::copy(all, decisions.begin());
  return true;
}

}  // namespace

bool read_answer(const redisReply& reply, std::span<rules::Decision> decisions, bool& admitted) {
  return read(reply, decisions, {}, admitted);
}

bool read_held_answer(const redisReply& reply, std::span<rules::Decision> decisions,
                      std::span<HoldTable::Reply> holds, bool& admitted) {
  return read(reply, decisions, holds, admitted);
}

bool read_holds(const redisReply& reply, std::span<HoldTable::Reply> holds) {
  if (!shape_of(reply, holds.size(), numbers_of_claim + numbers_of_holds).is_valid) return false;
  Numbers numbers(reply.str);
  numbers.skip(1);
  for (HoldTable::Reply& one : holds) {
    numbers.skip(numbers_of_claim);
    rules::Decision unused;
    one = holds_from(numbers, unused);
  }
  return numbers.good();
}

bool read_settled(const redisReply& reply, std::span<HoldTable::Reply> settled) {
  if (reply.type != REDIS_REPLY_STRING) return false;
  if (reply.len != number_bytes * numbers_of_settlement * settled.size()) return false;
  Numbers numbers(reply.str);
  for (HoldTable::Reply& one : settled) {
    one.lost = numbers.next();
    one.ended = numbers.next();
  }
  return numbers.good();
}

store::Result result_of(const redisReply& reply, store::Acquisition* acquisition) {
  if (acquisition == nullptr)
    return failed(reply.type == REDIS_REPLY_INTEGER ? store::Error::none : store::Error::other);
  const std::size_t claims = acquisition->claims.size();
  store::Result result{.decider = store::Decider::redis};
  if (!read_answer(reply, acquisition->decisions.first(claims), result.admitted))
    return failed(store::Error::other);
  result.decided = store::first_claims(claims);
  return result;
}

store::Result held_result_of(const redisReply& reply, const store::Acquisition& acquisition,
                             std::span<HoldTable::Reply> holds) {
  const std::size_t claims = acquisition.claims.size();
  store::Result result{.decider = store::Decider::redis};
  if (!read_held_answer(reply, acquisition.decisions.first(claims), holds, result.admitted))
    return failed(store::Error::other);
  result.decided = store::first_claims(claims);
  for (std::size_t i = 0; i < claims && !acquisition.shows_held; ++i)
    store::expect_leases_back(acquisition.claims[i], acquisition.decisions[i]);
  return result;
}

}  // namespace weir::redis
