#include "redis/question_command.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <hiredis/hiredis.h>

#include <boost/container/static_vector.hpp>

#include "redis/policy_numbers.hpp"
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

void append_overrides_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity) {
  append_bulk_header(out, keys.prefix.size() + identity_digits + 4);
  append_overrides_key(out, keys.prefix, identity);
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
  return policy_form(*claim.policy) + (claim.shadow ? 8 : 0) + (claim.demand.overdraft ? 16 : 0);
}

void append_arguments(std::string& out, const Claim& claim) {
  append_number(out, form_of(claim));
  append_number(out, std::clamp<std::int64_t>(claim.demand.cost, 0, rules::exact_limit));
  each_number(*claim.policy, [&out](std::int64_t number) { append_number(out, number); });
  if (claim.policy->algorithm == Algorithm::attributed_window)
    append_attributes(out, claim.attributes);
}

// The reply: doubles that are whole numbers below 2^53.

constexpr std::size_t number_bytes = 8;
constexpr std::size_t numbers_of_claim = 6;
constexpr std::size_t numbers_of_override = 4;

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
  if (decision.override_effect == OverrideEffect::numbers) decision.limit = capacity;
  decision.refill = Duration{numbers.next()};
  const std::int64_t ends_after = numbers.next();
  if (ends_after > 0) decision.ends_after = Duration{ends_after};
}

using Decisions = boost::container::static_vector<rules::Decision, store::claims_per_request>;

/// Reads all decisions; `limits` has those of the policies. Empty if a number is out of range.
Decisions decisions_from(Numbers& numbers, std::span<const rules::Decision> limits,
                         bool has_overrides) {
  Decisions decisions;
  for (const rules::Decision& limit : limits)
    decisions.push_back(decision_from(numbers, limit.limit));
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

}  // namespace

void append_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                std::uint32_t policy_id) {
  out += keys.prefix;
  out += '{';
  append_hex(out, identity);
  out += "}:";
  out += policy_name(keys, policy_id);
}

void append_overrides_key(std::string& out, std::string_view prefix, const Hash128& identity) {
  out += prefix;
  out += '{';
  append_hex(out, identity);
  out += "}:!";
}

AlgorithmSet algorithms_of(std::span<const Claim> claims) {
  AlgorithmSet set = 0;
  for (const Claim& claim : claims)
    set = static_cast<AlgorithmSet>(set | set_of(claim.policy->algorithm));
  return set;
}

void append_question(std::string& out, ScriptName script, const KeySpace& keys,
                     std::span<const Claim> claims, std::optional<Instant> now) {
  std::size_t words = 3 + 2 * claims.size() + (now ? 1 : 0);
  for (const Claim& claim : claims)
    words += arguments_of(claim);
  append_array_header(out, words);
  append_bulk(out, script.by == ScriptName::By::sha ? "EVALSHA" : "EVAL");
  append_bulk(out, script.value);
  append_number(out, 2 * std::ssize(claims));
  for (const Claim& claim : claims) {
    append_key_bulk(out, keys, claim.identity, claim.policy_id);
    append_overrides_key_bulk(out, keys, claim.identity);
  }
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
  const auto size = static_cast<std::size_t>(reply.len);
  const std::size_t plain = number_bytes * (1 + numbers_of_claim * decisions.size());
  const bool has_overrides = size == plain + number_bytes * numbers_of_override * decisions.size();
  if (size != plain && !has_overrides) return false;
  Numbers numbers(reply.str);
  const bool is_admitted = numbers.next_flag();
  const Decisions read = decisions_from(numbers, decisions, has_overrides);
  if (read.size() != decisions.size()) return false;
  admitted = is_admitted;
  std::ranges::copy(read, decisions.begin());
  return true;
}

}  // namespace weir::redis
