// Claims beside holds, and settlements, as commands of lua/held_claims.lua.
#include <array>

#include "redis/holds.hpp"
#include "redis/resp.hpp"

namespace weir::redis {
namespace {

constexpr std::size_t field_arguments = 8;
constexpr std::size_t keys_of_claim = 3;

/// The first argument of a claim.
enum class NumbersOf : std::uint8_t { reads, holds, settles, holds_with_lease, settles_with_lease };
/// Added to it if a refund follows the numbers of the field.
constexpr std::int64_t with_refund = 4;

constexpr std::size_t arguments_of_field(const HoldTable::Sent& sent) {
  return field_arguments + (sent.refund > 0 ? 1 : 0);
}

std::array<char, 16> hex_of(std::uint64_t number) {
  std::array<char, 16> digits;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, number >>= 4)
    *digit = "0123456789abcdef"[number & 15];
  return digits;
}

std::string_view view_of(const std::array<char, 16>& text) {
  return {text.data(), text.size()};
}

void append_formers(std::string& out, const FieldNumbers& numbers) {
  std::string text;
  for (const FieldNumbers::Former& former : numbers.formers) {
    text += view_of(hex_of(former.field));
    text += ' ';
    text += std::to_string(former.charged);
    text += ' ';
  }
  append_bulk(out, text);
}

void append_charge_texts(std::string& out, std::span<const ChargeText> texts) {
  std::string lines;
  for (const ChargeText& text : texts) {
    lines += std::to_string(text.units);
    lines += '\t';
    lines += text.attributes;
    lines += '\n';
  }
  append_bulk(out, lines);
}

void append_field(std::string& out, NumbersOf kind, const HoldTable::Sent& sent) {
  const FieldNumbers& numbers = sent.held->numbers;
  append_number(out, static_cast<std::int64_t>(kind) + (sent.refund > 0 ? with_refund : 0));
  append_bulk(out, view_of(hex_of(numbers.field)));
  append_number(out, numbers.taken);
  append_number(out, numbers.sent_released);
  append_number(out, numbers.sent_charged);
  append_number(out, numbers.released);
  append_number(out, numbers.charged);
  append_formers(out, numbers);
  append_charge_texts(out, sent.held->texts);
  if (sent.refund > 0) append_number(out, sent.refund);
}

void append_keys(std::string& out, const KeySpace& keys, const store::Key& key,
                 rules::Algorithm algorithm) {
  append_key_bulk(out, keys, key.identity, key.policy_id, algorithm);
  append_overrides_key_bulk(out, keys, key.identity);
  append_key_bulk(out, keys, key.identity, key.policy_id, algorithm, holds_suffix);
}

void append_head(std::string& out, ScriptName script, std::size_t claims, std::size_t arguments) {
  append_array_header(out, 3 + keys_of_claim * claims + arguments);
  append_bulk(out, script.by == ScriptName::By::sha ? "EVALSHA" : "EVAL");
  append_bulk(out, script.value);
  append_number(out, static_cast<std::int64_t>(keys_of_claim * claims));
}

}  // namespace

void append_held_question(std::string& out, ScriptName script, const KeySpace& keys,
                          std::span<const store::Claim> claims,
                          std::span<const HoldTable::Sent> held, std::optional<Instant> now) {
  std::size_t arguments = now ? 1 : 0;
  for (std::size_t i = 0; i < claims.size(); ++i)
    arguments +=
        1 + (held[i].held != nullptr ? arguments_of_field(held[i]) : 0) + arguments_of(claims[i]);
  append_head(out, script, claims.size(), arguments);
  for (const store::Claim& claim : claims)
    append_keys(out, keys, {claim.identity, claim.policy_id}, claim.policy->algorithm);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (held[i].held != nullptr) {
      append_field(out, held[i].has_lease ? NumbersOf::holds_with_lease : NumbersOf::holds,
                   held[i]);
    } else {
      append_number(out, static_cast<std::int64_t>(NumbersOf::reads));
    }
    append_arguments(out, claims[i], 0);
  }
  if (now) append_number(out, to_us(*now));
}

void append_settlements(std::string& out, ScriptName script, const KeySpace& keys,
                        std::span<const HoldTable::Sent> held, std::optional<Instant> now) {
  std::size_t arguments = now ? 1 : 0;
  for (const HoldTable::Sent& one : held)
    arguments += 1 + arguments_of_field(one) + one.held->argument_count;
  append_head(out, script, held.size(), arguments);
  for (const HoldTable::Sent& one : held)
    append_keys(out, keys, one.held->key, one.held->algorithm);
  for (const HoldTable::Sent& one : held) {
    append_field(out, one.has_lease ? NumbersOf::settles_with_lease : NumbersOf::settles, one);
    out += one.held->policy_arguments;
  }
  if (now) append_number(out, to_us(*now));
}

void write_policy_arguments(HeldKey& held, const rules::Policy& policy, std::string& scratch) {
  store::Claim claim;
  claim.policy = &policy;
  claim.demand.cost = 0;
  scratch.clear();
  append_arguments(scratch, claim, 0);
  held.policy_arguments = scratch;
  held.argument_count = arguments_of(claim);
}

}  // namespace weir::redis
