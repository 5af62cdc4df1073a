#include "redis/override_text.hpp"

#include "base/text.hpp"
#include "redis/policy_numbers.hpp"
#include "redis/question_command.hpp"
#include "tls/digest.hpp"

namespace weir::redis {
namespace {

using store::ListedOverride;
using store::Override;

constexpr std::string_view header = "1\n";
constexpr std::size_t sum_digits = 8;
constexpr char unit_separator = 31;
constexpr std::string_view kinds = "nudp";  ///< by Override::Kind

std::string sum_of(std::string_view name, std::string_view rest) {
  std::string text{name};
  return tls::sha1_hex((text += '\t') += rest).substr(0, sum_digits);
}

void append_number_of(std::string& out, std::int64_t number) {
  (out += ' ') += std::to_string(number);
}

void append_numbers(std::string& out, const rules::Policy& policy) {
  out += std::to_string(policy_form(policy));
  append_number_of(out, to_us(policy.refill));
  each_number(policy, [&out](std::int64_t number) { append_number_of(out, number); });
}

void append_plan(std::string& out, std::span<const store::PlanNumbers> plan) {
  for (const auto& [policy, id, numbers] : plan) {
    ((out += unit_separator) += policy) += unit_separator;
    out += numbers ? "n " : "u";
    if (numbers) append_numbers(out, *numbers);
  }
}

/// Empty: it has ended.
std::optional<ListedOverride> listed(std::string_view line, const Hash128& identity, Instant now) {
  const auto name = take_before(line, '\t');
  ListedOverride entry{.identity = identity, .is_malformed = true};
  if (!name) return entry;
  if (*name != "*") entry.policy = *name;
  const auto sum = take_before(line, '\t');
  if (!sum || sum_of(*name, line) != *sum) return entry;
  auto field = take_before(line, '\t');
  if (!field || !take_before(*field, ' ')) return entry;
  const auto until = take_before(*field, ' ');
  const auto until_us = until ? parse_number<std::int64_t>(*until) : std::nullopt;
  if (!until_us) return entry;
  if (*until_us != 0 && instant_from_us(*until_us) <= now) return std::nullopt;
  entry.is_malformed = false;
  entry.details = line;
  return entry;
}

}  // namespace

std::string_view override_name(std::string_view policy) {
  return policy.empty() ? "*" : policy;
}

std::string override_line(const Override& entry) {
  std::string rest{kinds[static_cast<std::size_t>(entry.kind)]};
  append_number_of(rest, entry.until ? to_us(*entry.until) : 0);
  rest += ' ';
  if (entry.kind == Override::Kind::numbers) append_numbers(rest, entry.numbers);
  append_plan(rest, entry.plan);
  (rest += '\t') += entry.details;
  const std::string_view name = override_name(entry.policy);
  std::string line{name};
  ((line += '\t') += sum_of(name, rest)) += '\t';
  return line += rest;
}

std::vector<ListedOverride> overrides_in(std::string_view text, const Hash128& identity,
                                         Instant now) {
  if (!text.starts_with(header)) return {{.identity = identity, .is_malformed = true}};
  text.remove_prefix(header.size());
  std::vector<ListedOverride> all;
  while (const auto line = take_before(text, '\n')) {
    if (auto entry = listed(*line, identity, now)) all.push_back(std::move(*entry));
  }
  if (!text.empty()) all.push_back({.identity = identity, .is_malformed = true});
  return all;
}

std::string overrides_key(std::string_view prefix, const Hash128& identity) {
  std::string key;
  append_overrides_key(key, prefix, identity);
  return key;
}

std::optional<Hash128> identity_of_overrides_key(std::string_view key, std::string_view prefix) {
  constexpr std::size_t digits = 32;
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  if (key.size() != digits + 4 || key.front() != '{' || key.substr(digits + 1) != "}:!")
    return std::nullopt;
  return hash_from_hex(key.substr(1, digits));
}

std::string overrides_pattern(std::string_view prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '^' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern += "{*}:!";
}

std::string generation_key(std::string_view prefix) {
  return std::string(prefix) + "!generation";
}

}  // namespace weir::redis
