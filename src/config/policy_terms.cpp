// The numbers of a policy or a plan: rate, rates, burst, limit, queue and max_delay.
#include <utility>

#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "http/ratelimit_fields.hpp"
#include "limiter/local_shares.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_rates = 64;

/// Removes the setting, so that the next fault is found. Returns false if it is absent, or must not
/// be missing.
bool drop(rules::Setting setting, rules::Definition& definition) {
  using rules::Setting;
  switch (setting) {
    case Setting::rate:
      return false;
    case Setting::burst:
      return std::exchange(definition.burst, std::nullopt).has_value();
    case Setting::anchor:
      return std::exchange(definition.anchor, std::nullopt).has_value();
    case Setting::count_rejected:
      return std::exchange(definition.count_rejected, false);
    case Setting::queue:
      return std::exchange(definition.queue, std::nullopt).has_value();
    case Setting::max_delay:
      return std::exchange(definition.max_delay, std::nullopt).has_value();
    case Setting::limit:
      return definition.algorithm != rules::Algorithm::concurrency &&
             std::exchange(definition.limit, std::nullopt).has_value();
  }
  return false;
}

/// Compiles the definition without its wrong settings until all of them are found. Returns false if
/// one cannot be left out.
bool compile_numbers(const Cursor& in, bool hides_numbers, rules::Definition definition,
                     rules::Policy& to) {
  for (;;) {
    const auto numbers = rules::compile(definition);
    if (numbers) {
      to = *numbers;
      return true;
    }
    const auto& [setting, message] = numbers.error();
    const bool is_dropped = drop(setting, definition);
    const std::string_view rate = in.has("rates") ? "rates" : "rate";
    in.at_key(setting == rules::Setting::rate ? rate : to_string(setting))
        .error(hides_numbers ? without_numbers(message) : message);
    if (!is_dropped) return false;
  }
}

/// Checks that this instance has a share of the policy while Redis does not decide.
void check_share(const Cursor& in, const TermsFor& about, const limiter::Terms& terms) {
  const auto share =
      limiter::local_share(about.policy, terms.numbers, about.config.fixed_replicas());
  if (share) return;
  const bool is_hidden =
      about.hides_numbers || in.shown_root()["store"]["redis"]["replicas"].is_hidden();
  const std::string& message = share.error().message;
  in.at_key("on_failure")
      .error((is_hidden ? without_numbers(message) : message) +
             " while Redis is down; use fewer store.redis.replicas, or on_failure: allow or deny "
             "for this policy");
}

}  // namespace

void read_rate(const Cursor& in, rules::Definition& to) {
  const auto text = in.text();
  if (!text) return;
  const Result<rules::Rate> rate = parse_rate(*text);
  if (!rate) return in.error_showing(rate.error().message, rate_hint(in.node().text));
  to.rates.push_back(*rate);
}

void read_rates(const Cursor& in, rules::Definition& to) {
  for_each_item(in, "a list of rates, such as [10/1s, 100/1m]", most_rates,
                [&](const Cursor& item) { read_rate(item, to); });
}

void read_burst(const Cursor& in, rules::Definition& to) {
  to.burst = read_integer(in, {1, largest_exact});
}

void read_limit(const Cursor& in, rules::Definition& to) {
  to.limit = read_integer(in, {1, largest_exact});
}

void read_queue(const Cursor& in, rules::Definition& to) {
  to.queue = read_integer(in, {0, largest_exact});
}

void read_max_delay(const Cursor& in, rules::Definition& to) {
  read_duration(in, to.max_delay.emplace(0), {Duration{0}, Duration::max()});
}

bool has_both_rates(const Cursor& in) {
  const bool has_both = in.has("rate") && in.has("rates");
  if (has_both) in.at_key("rates").error("rate and rates exclude each other; keep one");
  return has_both;
}

void compile_terms(const Cursor& in, const TermsFor& about, const rules::Definition& definition,
                   limiter::Terms& to) {
  if (definition.rates.empty() && !definition.limit) return;
  if (!compile_numbers(in, about.hides_numbers, definition, to.numbers)) return;
  to.definition = definition;
  check_share(in, about, to);
  to.policy_item = http::policy_item(about.policy.name, to.numbers.capacity, to.numbers.refill);
}

}  // namespace weir::config
