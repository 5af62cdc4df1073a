#include "redis/question_command.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <hiredis/hiredis.h>

#include "redis/resp.hpp"
#include "rules/attributed_window.hpp"
#include "rules/span.hpp"

namespace weir::redis {
namespace {

using rules::Algorithm;
using store::Claim;

constexpr std::size_t identity_digits = 32;

std::string_view policy_name(const KeySpace& keys, std::uint32_t policy_id) {
  if (policy_id == no_policy) return {};
  return keys.policy_names[policy_id];
}

void append_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity,
                     std::uint32_t policy_id) {
  append_bulk_header(
      out, keys.prefix.size() + identity_digits + 3 + policy_name(keys, policy_id).size());
  append_key(out, keys, identity, policy_id);
  out += "\r\n";
}

/// Replaces control characters: tabs and line ends separate the parts of a list, and others make it
/// unreadable.
char printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f ? ' ' : c;
}

void append_attributes(std::string& out, std::span<const std::string_view> attributes) {
  std::size_t size = attributes.empty() ? 0 : attributes.size() - 1;
  for (const std::string_view attribute : attributes)
    size += rules::attribute_text(attribute).size();
  append_bulk_header(out, size);
  const char* divider = "";
  for (const std::string_view attribute : attributes) {
    out += divider;
    for (const char c : rules::attribute_text(attribute))
      out += printable(c);
    divider = "\t";
  }
  out += "\r\n";
}

// The arguments of one claim, as lua/arguments.lua reads them.

constexpr std::size_t common_arguments = 5;

std::size_t arguments_of(const Claim& claim) {
  switch (claim.policy->algorithm) {
    case Algorithm::leaky_bucket:
    case Algorithm::attributed_window:
      return common_arguments + 1;
    case Algorithm::sliding_window:
      return common_arguments + 1 + 2 * (claim.policy->rates.size() - 1);
    default:
      return common_arguments;
  }
}

std::int64_t form_of(const Claim& claim) {
  return static_cast<std::int64_t>(claim.policy->algorithm) + (claim.shadow ? 8 : 0) +
         (claim.demand.overdraft ? 16 : 0) + (claim.policy->count_rejected ? 32 : 0) +
         (claim.policy->anchor == rules::Anchor::clock ? 64 : 0);
}

void append_tiers(std::string& out, const rules::Policy& policy) {
  append_number(out, std::ssize(policy.rates));
  for (const rules::Rate& rate : std::span(policy.rates).subspan(1)) {
    append_number(out, rate.count);
    append_number(out, to_us(rate.per));
  }
}

void append_arguments(std::string& out, const Claim& claim) {
  const rules::Policy& policy = *claim.policy;
  append_number(out, form_of(claim));
  append_number(out, std::clamp<std::int64_t>(claim.demand.cost, 0, rules::exact_limit));
  append_number(out, policy.capacity);
  append_number(out, policy.rates[0].count);
  append_number(out, to_us(policy.rates[0].per));
  if (policy.algorithm == Algorithm::leaky_bucket) append_number(out, to_us(policy.max_delay));
  if (policy.algorithm == Algorithm::attributed_window) append_attributes(out, claim.attributes);
  if (policy.algorithm == Algorithm::sliding_window) append_tiers(out, policy);
}

// The reply: doubles that are whole numbers below 2^53.

constexpr std::size_t number_bytes = 8;
constexpr std::size_t numbers_of_claim = 6;

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
  bool next_flag() {
    const std::int64_t value = next();
    good_ = good_ && value <= 1;
    return value == 1;
  }
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

}  // namespace

void append_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                std::uint32_t policy_id) {
  out += keys.prefix;
  out += '{';
  append_hex(out, identity);
  out += "}:";
  out += policy_name(keys, policy_id);
}

AlgorithmSet algorithms_of(std::span<const Claim> claims) {
  AlgorithmSet set = 0;
  for (const Claim& claim : claims)
    set = static_cast<AlgorithmSet>(set | set_of(claim.policy->algorithm));
  return set;
}

void append_question(std::string& out, ScriptName script, const KeySpace& keys,
                     std::span<const Claim> claims, std::optional<Instant> now) {
  std::size_t words = 3 + claims.size() + (now ? 1 : 0);
  for (const Claim& claim : claims)
    words += arguments_of(claim);
  append_array_header(out, words);
  append_bulk(out, script.by == ScriptName::By::sha ? "EVALSHA" : "EVAL");
  append_bulk(out, script.value);
  append_number(out, std::ssize(claims));
  for (const Claim& claim : claims)
    append_key_bulk(out, keys, claim.identity, claim.policy_id);
  for (const Claim& claim : claims)
    append_arguments(out, claim);
  if (now) append_number(out, to_us(*now));
}

void append_forget(std::string& out, const KeySpace& keys, const Hash128& identity,
                   std::uint32_t policy_id) {
  append_array_header(out, 2);
  append_bulk(out, "DEL");
  append_key_bulk(out, keys, identity, policy_id);
}

bool read_answer(const redisReply& reply, std::span<rules::Decision> decisions, bool& admitted) {
  if (reply.type != REDIS_REPLY_STRING) return false;
  if (static_cast<std::size_t>(reply.len) !=
      number_bytes * (1 + numbers_of_claim * decisions.size())) {
    return false;
  }
  // The first pass checks, the second one writes.
  Numbers check(reply.str);
  check.next_flag();
  for (const rules::Decision& decision : decisions) {
    if (decision_from(check, decision.limit).remaining > decision.limit) return false;
  }
  if (!check.good()) return false;
  Numbers numbers(reply.str);
  admitted = numbers.next_flag();
  for (rules::Decision& decision : decisions)
    decision = decision_from(numbers, decision.limit);
  return true;
}

}  // namespace weir::redis
