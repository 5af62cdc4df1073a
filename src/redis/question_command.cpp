#include "redis/question_command.hpp"

#include <algorithm>
#include <array>

#include "redis/policy_numbers.hpp"
#include "redis/resp.hpp"
#include "rules/attributed_window.hpp"
#include "rules/span.hpp"

namespace weir::redis {
namespace {

using rules::Algorithm;
using store::Claim;

constexpr std::size_t identity_digits = 32;
constexpr std::size_t state_code_size = 2;

std::string_view policy_name(const KeySpace& keys, std::uint32_t policy_id) {
  if (policy_id == no_policy) return {};
  return keys.policy_names[policy_id];
}

/// The part of a key before its state_code().
void append_policy_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                       std::uint32_t policy_id) {
  out += keys.prefix;
  out += '{';
  append_hex(out, identity);
  out += "}:";
  out += policy_name(keys, policy_id);
  out += ':';
}

constexpr std::string_view event_marks_code = "e1";

/// Replaces control characters: tabs and line ends separate the parts of a list, and others make it
/// unreadable.
char printable_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f ? ' ' : c;
}

void append_texts(std::string& out, const auto& attributes) {
  const char* divider = "";
  for (const std::string_view attribute : attributes) {
    out += divider;
    for (const char c : rules::attribute_text(attribute))
      out += printable_character(c);
    divider = "\t";
  }
}

void append_attributes(std::string& out, std::span<const std::string_view> attributes) {
  std::size_t size = attributes.empty() ? 0 : attributes.size() - 1;
  for (const std::string_view attribute : attributes)
    size += rules::attribute_text(attribute).size();
  append_bulk_header(out, size);
  append_texts(out, attributes);
  out += "\r\n";
}

// The arguments of one claim, as lua/arguments.lua reads them.

constexpr std::size_t common_arguments = 5;

std::int64_t form_of(const Claim& claim) {
  return policy_form(*claim.policy) + (claim.shadow ? 8 : 0) + (claim.demand.overdraft ? 16 : 0) +
         (claim.is_exempt ? 128 : 0);
}

}  // namespace

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

void append_arguments(std::string& out, const Claim& claim, std::uint32_t repeats) {
  append_number(out,
                form_of(claim) + (claim.policy->count_rejected ? std::int64_t{256} * repeats : 0));
  append_number(out, std::clamp<std::int64_t>(claim.demand.cost, 0, rules::exact_limit));
  each_number(*claim.policy, [&out](std::int64_t number) { append_number(out, number); });
  if (claim.policy->algorithm == Algorithm::attributed_window)
    append_attributes(out, claim.attributes);
}

std::string joined_attributes(std::span<const std::string> attributes) {
  std::string joined;
  append_texts(joined, attributes);
  return joined;
}

std::string_view state_code(Algorithm algorithm) {
  static constexpr std::array<std::string_view, rules::algorithm_count> codes{
      "f1", "a1", "w1", "l2", "t1", "g1", "b1", "c1"};
  return codes[static_cast<std::size_t>(algorithm)];
}

void append_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                std::uint32_t policy_id, Algorithm algorithm) {
  append_policy_key(out, keys, identity, policy_id);
  out += state_code(algorithm);
}

void append_event_marks_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                            std::uint32_t policy_id) {
  append_policy_key(out, keys, identity, policy_id);
  out += event_marks_code;
}

void append_overrides_key(std::string& out, std::string_view prefix, const Hash128& identity) {
  out += prefix;
  out += '{';
  append_hex(out, identity);
  out += "}:!";
}

void append_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity,
                     std::uint32_t policy_id, Algorithm algorithm, std::string_view suffix) {
  append_bulk_header(out, keys.prefix.size() + identity_digits + 4 +
                              policy_name(keys, policy_id).size() + state_code_size +
                              suffix.size());
  append_key(out, keys, identity, policy_id, algorithm);
  out += suffix;
  out += "\r\n";
}

void append_overrides_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity) {
  append_bulk_header(out, keys.prefix.size() + identity_digits + 4);
  append_overrides_key(out, keys.prefix, identity);
  out += "\r\n";
}

AlgorithmSet algorithms_of(std::span<const Claim> claims) {
  AlgorithmSet set = 0;
  for (const Claim& claim : claims)
    set = static_cast<AlgorithmSet>(set | set_of(claim.policy->algorithm));
  return set;
}

QuestionParts append_question(std::string& out, ScriptName script, const KeySpace& keys,
                              std::span<const Claim> claims, std::optional<Instant> now,
                              std::uint32_t repeats) {
  QuestionParts parts{.claims = claims.size()};
  for (const Claim& claim : claims)
    parts.arguments += arguments_of(claim);
  append_array_header(out, 3 + 2 * claims.size() + parts.arguments + (now ? 1 : 0));
  append_bulk(out, script.by == ScriptName::By::sha ? "EVALSHA" : "EVAL");
  append_bulk(out, script.value);
  append_number(out, 2 * std::ssize(claims));
  parts.keys_at = out.size();
  for (const Claim& claim : claims) {
    append_key_bulk(out, keys, claim.identity, claim.policy_id, claim.policy->algorithm);
    append_overrides_key_bulk(out, keys, claim.identity);
  }
  parts.arguments_at = out.size();
  for (const Claim& claim : claims)
    append_arguments(out, claim, repeats);
  parts.time_at = out.size();
  if (now) append_number(out, to_us(*now));
  return parts;
}

void append_forget(std::string& out, const KeySpace& keys, const Hash128& identity,
                   std::uint32_t policy_id) {
  append_array_header(out, 2 + 2 * rules::algorithm_count);
  append_bulk(out, "DEL");
  for (std::size_t i = 0; i < rules::algorithm_count; ++i) {
    append_key_bulk(out, keys, identity, policy_id, static_cast<Algorithm>(i));
    append_key_bulk(out, keys, identity, policy_id, static_cast<Algorithm>(i), holds_suffix);
  }
  std::string marks;
  append_event_marks_key(marks, keys, identity, policy_id);
  append_bulk(out, marks);
}

}  // namespace weir::redis
