#include "app/override_request.hpp"

#include <algorithm>
#include <array>

#include "app/override_key.hpp"
#include "base/rfc3339.hpp"
#include "config/key_path.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"
#include "config/written.hpp"
#include "http/characters.hpp"
#include "http/json_text.hpp"
#include "identity/parameters.hpp"
#include "jwt/json.hpp"
#include "rules/span.hpp"

namespace weir::app {
namespace {

using jwt::Json;
using jwt::JsonKind;
using store::Override;

constexpr std::size_t most_note = 200;
constexpr std::array<std::string_view, 5> number_members{"rate", "rates", "burst", "limit",
                                                         "queue"};
constexpr std::string_view members =
    "identity, key, policy, rate, rates, burst, limit, queue, plan, deny, unlimited, until, note";
/// Policies in an override with a plan for all policies: each decision reads all of them.
constexpr std::size_t most_planned = 64;

std::string no_policy(std::string_view name, const config::Config& config) {
  std::vector<std::string_view> names;
  for (const limiter::Policy& policy : config.policies)
    names.push_back(policy.name);
  return "policy: no policy has the name " + config::in_quotes(name) + config::hint(name, names);
}

/// Reads the members of the body. After a problem it does nothing more.
class Reader {
 public:
  Reader(const Json& body, const OverrideContext& context) : body_(body), context_(context) {}

  Result<OverridePut> read(Instant now) {
    check_names();
    if (problem_.empty()) read_key();
    if (problem_.empty()) read_policy();
    if (problem_.empty()) read_kind();
    if (problem_.empty()) read_until(now);
    if (problem_.empty()) read_note();
    if (!problem_.empty()) return Problem{problem_};
    return put_;
  }

 private:
  void fail(std::string_view member, std::string_view what) {
    if (problem_.empty()) problem_ = std::string(member).append(": ").append(what);
  }
  void check_names() {
    constexpr std::array<std::string_view, 8> others{"identity", "key",       "policy", "plan",
                                                     "deny",     "unlimited", "until",  "note"};
    for (const auto& member : body_.members) {
      if (std::ranges::find(others, member.name) != others.end() ||
          std::ranges::find(number_members, member.name) != number_members.end())
        continue;
      problem_ = "unknown member " + config::in_quotes(member.name) + "; known are " +
                 std::string(members);
    }
  }
  std::string_view text_of(std::string_view name) {
    const Json* const value = body_.find(name);
    if (value == nullptr) return {};
    if (value->kind != JsonKind::string || value->text.empty())
      fail(name, "expected a string that is not empty");
    return value->text;
  }
  bool flag(std::string_view name) {
    const Json* const value = body_.find(name);
    if (value == nullptr) return false;
    if (value->kind != JsonKind::boolean || value->text != "true")
      fail(name, "expected true; leave it out otherwise");
    return true;
  }
  std::optional<std::int64_t> integer(std::string_view name) {
    const Json* const value = body_.find(name);
    if (value == nullptr) return std::nullopt;
    const auto number = config::parse_integer(value->text);
    if (value->kind == JsonKind::number && number) return *number;
    fail(name, "expected a whole number");
    return std::nullopt;
  }

  void read_key() {
    const OverrideOwner written{.identity = text_of("identity"), .key = text_of("key")};
    if (!problem_.empty()) return;
    auto key = find_override_key(written, context_.config);
    if (!key) {
      problem_ = key.error().message;
      return;
    }
    put_.identity = std::move(key->identity);
    put_.key = key->hash;
  }
  void read_policy() {
    const std::string_view name = text_of("policy");
    if (name.empty()) return;
    const auto& policies = context_.config.policies;
    const auto found = std::ranges::find(policies, name, &limiter::Policy::name);
    if (found == policies.end()) {
      problem_ = no_policy(name, context_.config);
      return;
    }
    policy_ = &*found;
    put_.entry.policy = name;
    put_.entry.policy_id = id_of(name);
  }
  std::uint32_t id_of(std::string_view policy) const {
    const auto& names = context_.policy_names;
    return static_cast<std::uint32_t>(std::ranges::find(names, policy) - names.begin());
  }

  void read_kind() {
    const bool denies = flag("deny");
    const bool is_unlimited = flag("unlimited");
    const bool has_numbers = std::ranges::any_of(
        number_members, [this](std::string_view name) { return body_.find(name) != nullptr; });
    const bool has_plan = body_.find("plan") != nullptr;
    if (!problem_.empty()) return;
    if (denies + is_unlimited + has_numbers + has_plan != 1) {
      problem_ =
          kinds_written() +
          "expected one of: numbers (rate, rates, burst, limit, queue), plan, deny, unlimited";
      return;
    }
    put_.entry.kind = denies         ? Override::Kind::denied
                      : is_unlimited ? Override::Kind::unlimited
                                     : Override::Kind::numbers;
    if (denies) add_detail("deny", "true");
    if (is_unlimited) add_detail("unlimited", "true");
    if (has_numbers) read_numbers();
    if (has_plan) read_plan();
  }

  /// `deny, rate exclude each other; `, or nothing if there is none.
  std::string kinds_written() const {
    std::string text;
    for (const std::string_view name :
         {"rate", "rates", "burst", "limit", "queue", "plan", "deny", "unlimited"}) {
      if (body_.find(name) == nullptr) continue;
      if (!text.empty()) text += ", ";
      text += name;
    }
    return text.empty() ? text : text + " exclude each other; ";
  }
  void read_plan() {
    const std::string_view name = text_of("plan");
    if (name.empty()) return;
    const auto plan = context_.config.plans.find(name);
    if (!plan) {
      const auto& names = context_.config.plans.names;
      const std::vector<std::string_view> known(names.begin(), names.end());
      return fail("plan",
                  "no plan has the name " + config::in_quotes(name) + config::hint(name, known));
    }
    add_string("plan", name);
    if (policy_ != nullptr) return set_terms(planned_numbers(*policy_, *plan));
    Override& entry = put_.entry;
    entry.kind = Override::Kind::plan;
    for (const limiter::Policy& policy : context_.config.policies) {
      // Policies that no plan changes have their own numbers under each plan.
      if (policy.planned.empty()) continue;
      entry.plan.push_back({.policy = policy.name,
                            .policy_id = id_of(policy.name),
                            .numbers = planned_numbers(policy, *plan)});
    }
    if (entry.plan.size() > most_planned) {
      fail("plan", "plans change " + std::to_string(entry.plan.size()) + " policies, more than " +
                       std::to_string(most_planned) + "; name a policy");
    }
  }
  /// Empty: the plan sets unlimited.
  static std::optional<rules::Policy> planned_numbers(const limiter::Policy& policy,
                                                      std::size_t plan) {
    const limiter::PlannedTerms* const planned = policy.under(plan);
    if (planned == nullptr) return policy.numbers;
    return planned->unlimited ? std::nullopt : std::optional(planned->terms.numbers);
  }
  void set_terms(const std::optional<rules::Policy>& numbers) {
    if (!numbers) {
      put_.entry.kind = Override::Kind::unlimited;
    } else {
      set_numbers(*numbers);
    }
  }
  void set_numbers(const rules::Policy& numbers) {
    if (numbers.capacity < policy_->cost)
      return fail("policy " + policy_->name,
                  "these numbers are below its cost, so no request would pass; use more, or deny");
    put_.entry.numbers = numbers;
  }
  void read_numbers() {
    if (policy_ == nullptr) {
      problem_ = "policy is missing: numbers are for one policy";
      return;
    }
    if (limiter::is_concurrency(*policy_) && body_.find("queue") != nullptr) {
      return fail("queue",
                  "an override cannot change the queue of a concurrency policy, which belongs to "
                  "the instance; change it in the configuration, or override limit");
    }
    rules::Definition definition = policy_->definition;
    read_rates(definition);
    read_count("burst", definition.burst);
    read_count("limit", definition.limit);
    read_count("queue", definition.queue);
    if (!problem_.empty()) return;
    const auto numbers = rules::compile(definition);
    if (!numbers) return fail("policy " + policy_->name, about_numbers(numbers.error().message));
    set_numbers(*numbers);
  }
  void read_count(std::string_view name, std::optional<std::int64_t>& to) {
    const auto count = integer(name);
    if (!count) return;
    to = count;
    add_detail(name, std::to_string(*count));
  }
  /// The policy's own numbers may have to be hidden.
  std::string about_numbers(const std::string& message) const {
    const std::string path = config::key_path("policies", policy_->name);
    return context_.config.written.hides_numbers_of(path) ? config::without_numbers(message)
                                                          : message;
  }
  void read_rates(rules::Definition& definition) {
    const Json* const rate = body_.find("rate");
    const Json* const rates = body_.find("rates");
    if (rate != nullptr && rates != nullptr)
      return fail("rates", "rate and rates exclude each other; keep one");
    if (rate == nullptr && rates == nullptr) return;
    definition.rates.clear();
    if (rate != nullptr) {
      add_rate("rate", *rate, definition);
      add_string("rate", rate->text);
      return;
    }
    if (rates->kind != JsonKind::list || rates->members.empty())
      return fail("rates", "expected a list of rates, such as [\"10/1s\", \"100/1m\"]");
    std::string list;
    for (const auto& one : rates->members) {
      add_rate("rates", one.value, definition);
      list += list.empty() ? '[' : ',';
      http::append_json_string(list, one.value.text);
    }
    add_detail("rates", list + ']');
  }
  void add_rate(std::string_view name, const Json& value, rules::Definition& to) {
    if (value.kind != JsonKind::string)
      return fail(name, "expected COUNT/DURATION in quotes, such as \"100/1m\"");
    const auto rate = config::parse_rate(value.text);
    if (!rate) return fail(name, rate.error().message);
    to.rates.push_back(*rate);
  }

  void read_until(Instant now) {
    const std::string_view text = text_of("until");
    if (text.empty()) return;
    const auto until = parse_rfc3339(text);
    if (!until || to_us(*until) > rules::exact_limit)
      return fail("until", "expected a time such as 2026-12-01T00:00:00Z (RFC 3339)");
    if (*until <= now) return fail("until", "the time has passed; give a later one, or none");
    put_.entry.until = until;
    add_string("until", text);
  }
  void read_note() {
    const std::string_view note = text_of("note");
    if (note.size() > most_note)
      return fail("note", "longer than " + std::to_string(most_note) + " bytes; shorten it");
    if (std::any_of(note.begin(), note.end(), http::is_control))
      return fail("note", "has control characters; write it in one line");
    if (!note.empty()) add_string("note", note);
  }

  void add_string(std::string_view name, std::string_view value) {
    std::string text;
    http::append_json_string(text, value);
    add_detail(name, text);
  }
  void add_detail(std::string_view name, std::string_view value) {
    std::string& details = put_.entry.details;
    if (!details.empty()) details += ',';
    details.append("\"").append(name).append("\":").append(value);
  }

  const Json& body_;
  const OverrideContext& context_;
  const limiter::Policy* policy_ = nullptr;
  OverridePut put_;
  std::string problem_;
};

/// Empty: a '%' has no two hexadecimal digits after it.
std::optional<std::string> decoded(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const auto digits = text.substr(at + 1, 2);
    if (digits.size() < 2 || http::hex_value(digits[0]) < 0 || http::hex_value(digits[1]) < 0)
      return std::nullopt;
  }
  std::string plain;
  for (identity::PercentDecoder decoder{text}; !decoder.at_end();)
    plain += decoder.next();
  return plain;
}

const char* about_body(jwt::JsonError error) {
  switch (error) {
    case jwt::JsonError::duplicate_member:
      return "a member of the body appears twice; write it once";
    case jwt::JsonError::too_deep:
    case jwt::JsonError::too_many_values:
      return "the body has more values than an override has";
    case jwt::JsonError::syntax:
      break;
  }
  return "the body is not a JSON object in UTF-8";
}

}  // namespace

Result<OverridePut> read_override(std::string_view body, const OverrideContext& context,
                                  Instant now) {
  const auto json = jwt::read_json(body, {.depth = 4, .values = 64});
  if (!json) return Problem{about_body(json.error())};
  if (json->kind != JsonKind::object)
    return Problem{"the body is JSON, but not a JSON object such as {\"key\": \"...\"}"};
  return Reader(*json, context).read(now);
}

Result<OverrideQuery> read_override_query(std::string_view query, const OverrideContext& context,
                                          bool lists) {
  std::optional<std::string> identity;
  std::optional<std::string> key;
  std::optional<std::string> policy;
  OverrideQuery result;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::string_view name = pair.substr(0, pair.find('='));
    auto value = decoded(pair.substr(std::min(name.size() + 1, pair.size())));
    std::optional<std::string>* const target = name == "identity" ? &identity
                                               : name == "key"    ? &key
                                               : name == "policy" ? &policy
                                                                  : nullptr;
    if (target == nullptr)
      return Problem{"unknown parameter " + config::in_quotes(name) +
                     "; known are identity, key, policy"};
    if (*target)
      return Problem{"the parameter " + std::string(name) + " appears twice; write it once"};
    if (!value) {
      return Problem{std::string(name) +
                     ": % is not followed by two hexadecimal digits; write %25 for a percent sign"};
    }
    *target = std::move(value);
  }
  result.policy = policy.value_or("");
  const auto& policies = context.config.policies;
  if (lists && policy && std::ranges::none_of(policies, [&](const limiter::Policy& one) {
        return one.name == result.policy;
      }))
    return Problem{no_policy(result.policy, context.config)};
  if (!key && !identity && lists) return result;
  const auto found = find_override_key({.identity = identity.value_or(""), .key = key.value_or("")},
                                       context.config);
  if (!found) return found.error();
  result.key = found->hash;
  return result;
}

}  // namespace weir::app
