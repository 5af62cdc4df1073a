// A rate limit service on the memory store, whose rules and calls are short to write.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contract/store_under_test.hpp"
#include "limiter/limiter.hpp"
#include "rls/rate_limit_call.hpp"
#include "store/memory_store.hpp"

namespace weir::rls::test {

using namespace std::chrono_literals;
using options::RateLimitUnit;

inline const Instant start = instant_from_us(1'700'000'010'000'000);

struct Asked {
  std::vector<Entry> entries;
  std::optional<std::uint64_t> hits{};
  bool is_negative = false;
  std::optional<StatedLimit> limit{};
};

struct Service {
  explicit Service(bool charges_each = false) {
    options.charges_each = charges_each;
    limits.identity_key = {.k0 = 1, .k1 = 2};
    limits.identities = {{.name = "client", .source = {identity::FromClientAddress{}}},
                         {.name = "descriptor", .source = {identity::AllOf{}}}};
    options.identity = 1;
    options.domains = {{.name = "d"}};
    options.stated_policy = add_policy("stated", 1, RateLimitUnit::minute);
  }

  std::size_t add_policy(const std::string& name, std::int64_t count, RateLimitUnit unit) {
    limiter::Policy policy;
    policy.name = name;
    policy.definition = {.algorithm = rules::Algorithm::fixed_window,
                         .rates = {{.count = count, .per = options::length_of(unit)}},
                         .anchor = rules::Anchor::clock,
                         .count_rejected = options.charges_each};
    policy.numbers = rules::compile(policy.definition).value();
    policy.policy_item = http::policy_item(name, policy.numbers.capacity, policy.numbers.refill);
    policy.name_item = http::name_item(name);
    limits.policies.push_back(std::move(policy));
    return limits.policies.size() - 1;
  }

  /// Adds a rule for every value of `key`.
  options::DescriptorLimit& limit(const std::string& key, std::uint32_t count,
                                  RateLimitUnit unit = RateLimitUnit::minute) {
    options::DescriptorNode node;
    node.text = node.key = key;
    node.limit = options::DescriptorLimit{
        .policy = add_policy("d." + key, std::max<std::uint32_t>(count, 1), unit),
        .requests_per_unit = count,
        .unit = unit,
        .denies_all = count == 0};
    options.domains[0].descriptors.push_back(std::move(node));
    return *options.domains[0].descriptors.back().limit;
  }
  limiter::Policy& policy_of(const options::DescriptorLimit& limit) {
    return limits.policies[*limit.policy];
  }

  /// Reads no message: sets the request itself.
  std::optional<InvalidRequest> prepare(const std::string& domain, const std::vector<Asked>& asked,
                                        Method method, std::uint32_t hits) {
    if (!limiter) {
      rules = std::make_unique<DescriptorRules>(options);
      limiter = std::make_unique<limiter::Limiter>(limits, *first_store);
      call_rules = std::make_unique<CallRules>(
          CallRules{.descriptors = *rules, .limits = limits, .values = {.client = client}});
    }
    Request& request = call.request();
    request.clear();
    request.domain = domain;
    request.hits_addend = hits;
    for (const Asked& one : asked) {
      request.descriptors.push_back({.first_entry = request.entries.size(),
                                     .entry_count = one.entries.size(),
                                     .limit = one.limit,
                                     .hits_addend = one.hits,
                                     .is_negative_hits = one.is_negative});
      request.entries.insert(request.entries.end(), one.entries.begin(), one.entries.end());
    }
    return call.prepare(*call_rules, method, *limiter);
  }

  const Response& ask(const std::vector<Asked>& asked, Method method = Method::decide,
                      std::uint32_t hits = 0) {
    static const std::string domain = "d";
    response.clear();
    if (prepare(domain, asked, method, hits)) return response;
    for (std::size_t i = 0; i < call.decisions(); ++i)
      call.decide(i, nobody, now);
    call.settle(nobody, now);
    verdict = call.verdict(now);
    call.answer(response, now);
    return response;
  }

  options::RateLimitService options;
  limiter::Options limits;
  identity::ClientAddressOptions client;
  store::MemoryStore store{{.max_keys = 10'000, .seed = 3}};
  store::Store* first_store = &store;  ///< of the chain
  std::unique_ptr<DescriptorRules> rules;
  std::unique_ptr<limiter::Limiter> limiter;
  std::unique_ptr<CallRules> call_rules;
  RateLimitCall call;
  Response response;
  limiter::Verdict verdict;  ///< of the last call
  NamedHits names;           ///< of count_hits()
  Instant now = start;
  store::test::Received nobody;  ///< the memory store decides at once
};

/// The codes of the statuses: `O` OK, `X` OVER_LIMIT.
inline std::string codes(const Response& response) {
  std::string text;
  for (const DescriptorStatus& status : response.statuses)
    text += status.code == Code::over_limit ? 'X' : 'O';
  return text;
}

}  // namespace weir::rls::test
