#include "cli/explained_call.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/descriptor_arguments.hpp"
#include "cli/route_summary.hpp"
#include "config/data_files.hpp"
#include "config/suggest.hpp"
#include "http/ratelimit_fields.hpp"
#include "offline/instance.hpp"
#include "rls/rate_limit_call.hpp"

namespace weir::cli {
namespace {

using Entries = std::vector<identity::DescriptorEntry>;

/// A decided call. It has a store of its own, in which nothing is used.
struct DecidedCall {
  DecidedCall(const config::Config& config, const rls::DescriptorRules& rules)
      : instance(config.proxy, config.limiter, {.max_keys = 1024}),
        values(config::value_options(config)),
        call_rules{.descriptors = rules, .limits = config.limiter, .values = values} {}

  struct NoCompletion final : store::Completion {
    void complete(const store::Result&, Instant) noexcept override {}
  };

  void decide(std::string_view domain, std::span<const Entries> descriptors, Instant now) {
    rls::Request& request = call.request();
    request.domain = domain;
    for (const Entries& entries : descriptors) {
      request.descriptors.push_back(
          {.first_entry = request.entries.size(), .entry_count = entries.size()});
      request.entries.insert(request.entries.end(), entries.begin(), entries.end());
    }
    invalid = call.prepare(call_rules, rls::Method::decide, instance.limiter());
    if (invalid) return;
    for (std::size_t i = 0; i < call.decisions(); ++i)
      call.decide(i, nobody, now);  // the memory store decides at once
    verdict = call.verdict(now);
    call.answer(response, now);
  }

  offline::Instance instance;
  identity::ValueOptions values;
  rls::CallRules call_rules;
  NoCompletion nobody;
  rls::RateLimitCall call;
  std::optional<rls::InvalidRequest> invalid{};
  limiter::Verdict verdict{};  ///< views `call`
  rls::Response response{};
};

std::string keys_of(const Entries& entries) {
  std::string text;
  for (const identity::DescriptorEntry& entry : entries)
    text.append(text.empty() ? "" : ", ").append(entry.key);
  return text;
}

std::string_view name_of(rls::Code code) {
  return code == rls::Code::over_limit ? "OVER_LIMIT" : "OK";
}

class CallExplainer {
 public:
  CallExplainer(const config::Config& config, const DescribedCall& call, Instant now,
                std::span<const KnownOverrides> overrides)
      : config_(config),
        call_(call),
        now_(now),
        overrides_(overrides),
        rules_(*config.rate_limit_service),
        domain_(rules_.find_domain(call.domain)) {}

  Explanation run() {
    whole_ = decide(call_.descriptors);
    ExplainedCall& to = explanation_.call.emplace();
    to.domain = call_.domain;
    for (std::size_t i = 0; i < call_.descriptors.size(); ++i)
      to.descriptors.push_back(descriptor(i));
    explanation_.verdict = verdict();
    return std::move(explanation_);
  }

 private:
  std::unique_ptr<DecidedCall> decide(std::span<const Entries> descriptors) const {
    auto made = std::make_unique<DecidedCall>(config_, rules_);
    for (const auto& [identity, entries] : overrides_) {
      for (const store::Override& entry : entries)
        made->instance.store().overrides().put(identity, entry, now_,
                                               [](const store::OverrideReport&) {});
    }
    made->decide(call_.domain, descriptors, now_);
    return made;
  }

  ExplainedDescriptor descriptor(std::size_t index) {
    const Entries& entries = call_.descriptors[index];
    const auto nodes = domain_ == nullptr ? std::vector<const options::DescriptorNode*>()
                                          : rls::find_nodes(*domain_, entries);
    ExplainedDescriptor to{.entries = keys_of(entries)};
    for (const options::DescriptorNode* const node : nodes)
      to.matches.push_back(node->text);
    const options::DescriptorLimit* const limit =
        nodes.size() == entries.size() && nodes.back()->limit ? &*nodes.back()->limit : nullptr;
    to.because = why(entries, nodes, limit);
    const auto alone = decide({&entries, 1});
    for (const limiter::LimitVerdict& one : alone->verdict.limits)
      explanation_.limits.push_back(limit_of(index, one, limit));
    if (whole_->invalid) return to;
    const rls::DescriptorStatus& status = whole_->response.statuses[index];
    to.code = name_of(status.code);
    if (status.current_limit || (limit != nullptr && !limit->policy))
      to.remaining = status.limit_remaining;
    return to;
  }

  std::string why(const Entries& entries, std::span<const options::DescriptorNode* const> nodes,
                  const options::DescriptorLimit* limit) const {
    if (domain_ == nullptr) return "no limit has this domain" + hint_on_domain();
    if (nodes.size() < entries.size())
      return "no descriptor of a file matches the entry " +
             config::in_quotes(entries[nodes.size()].key) +
             (nodes.empty() ? "" : " after " + config::in_quotes(nodes.back()->text));
    if (limit == nullptr)
      return "the descriptor " + config::in_quotes(nodes.back()->text) + " has no rate_limit";
    return limit->policy ? "the last descriptor has a rate_limit" : "the rate_limit is unlimited";
  }

  std::string hint_on_domain() const {
    std::vector<std::string_view> known;
    const options::RateLimitService& service = *config_.rate_limit_service;
    for (const options::DescriptorDomain& domain : service.domains)
      known.push_back(domain.name);
    for (const options::PolicyDescriptor& one : service.descriptors)
      if (std::ranges::find(known, one.domain) == known.end()) known.push_back(one.domain);
    return config::hint(call_.domain, known);
  }

  /// `one`: what the descriptor alone has. The next limit of the whole call is the same, unless a
  /// limit of the call replaces this one.
  ExplainedLimit limit_of(std::size_t index, const limiter::LimitVerdict& one,
                          const options::DescriptorLimit* of_file) {
    const limiter::Policy& policy = *one.policy;
    const bool is_of_file = of_file != nullptr && of_file->policy &&
                            &config_.limiter.policies[*of_file->policy] == &policy;
    ExplainedLimit to;
    to.descriptor = index;
    to.policy = &policy;
    to.numbers = one.terms->numbers;
    to.cost = one.cost;
    to.rates = rate_texts(shown_policy(config_, policy), policy.numbers);
    to.hides_numbers = shown_policy(config_, policy).hides_numbers();
    to.identity = {.name = config_.limiter.identities[one.identity_index].name,
                   .source = "entries of descriptor " + std::to_string(index + 1),
                   .is_known = true,
                   .hash = one.identity};
    take_plan(one, to);
    take_override(config_, overrides_, now_, to);
    if (is_of_file && of_file->denies_all && to.numbers_from == "policy") {
      to.numbers_from = "file";
      to.is_denied = true;
    }
    to.because = is_of_file
                     ? "the rate_limit of descriptor " + std::to_string(index + 1)
                     : "rate_limit_service.descriptors for descriptor " + std::to_string(index + 1);
    if (whole_->invalid) return to;
    const auto limits = whole_->verdict.limits;
    if (next_ < limits.size() && limits[next_].policy == &policy &&
        limits[next_].identity == one.identity) {
      to.decision = limits[next_++].decision;
    } else {
      to.because = "another limit of the call has its name in replaces";
    }
    return to;
  }

  void take_plan(const limiter::LimitVerdict& one, ExplainedLimit& to) const {
    const auto planned = std::ranges::find_if(
        one.policy->planned,
        [&](const limiter::PlannedTerms& terms) { return &terms.terms == one.terms; });
    if (planned == one.policy->planned.end()) return;
    to.numbers_from = "plan";
    to.rates = rate_texts(shown_rates(config_, *one.policy, *planned), one.terms->numbers);
    to.hides_numbers |= shown_terms(config_, *one.policy, *planned).hides_numbers();
  }

  ExplainedVerdict verdict() const {
    using limiter::Outcome;
    if (whole_->invalid)
      return {.outcome = "refused", .detail = std::string(whole_->invalid->reason)};
    const limiter::Verdict& from = whole_->verdict;
    ExplainedVerdict to{.detail = std::string(name_of(whole_->response.overall_code))};
    if (from.shadow_denied) to.outcome = "shadow_denied";
    if (from.outcome != Outcome::denied && from.outcome != Outcome::forbidden) return to;
    to.outcome = "denied";
    if (from.deciding != nullptr) to.detail += " by " + from.deciding->name;
    to.hides_times = std::ranges::any_of(explanation_.limits, [](const ExplainedLimit& one) {
      return one.decision && !one.decision->allowed && one.hides_decision();
    });
    if (from.retry_after)
      to.retry_after = http::retry_after_seconds(*from.retry_after, Duration{0}, 0);
    return to;
  }

  const config::Config& config_;
  const DescribedCall& call_;
  Instant now_;
  std::span<const KnownOverrides> overrides_;
  rls::DescriptorRules rules_;
  const rls::DomainRules* domain_;
  std::unique_ptr<DecidedCall> whole_;
  std::size_t next_ = 0;  ///< index into the limits of the whole call
  Explanation explanation_;
};

}  // namespace

Result<DescribedCall> read_call(const CallArguments& arguments) {
  if (arguments.domain.empty())
    return Problem{"--domain: the domain is missing; write that of Envoy's rate limit filter"};
  if (arguments.descriptors.empty())
    return Problem{
        "--descriptor: write at least one, such as --descriptor remote_address=192.0.2.1"};
  if (arguments.descriptors.size() > rls::most_descriptors)
    return Problem{"--descriptor: more than " + std::to_string(rls::most_descriptors)};
  DescribedCall call{.domain = arguments.domain};
  for (const std::vector<std::string>& texts : arguments.descriptors) {
    auto entries = read_entries_of(texts);
    if (!entries) return Problem{"--descriptor: " + entries.error().message};
    call.descriptors.push_back(*std::move(entries));
  }
  return call;
}

Explanation explain_call(const config::Config& config, const DescribedCall& call, Instant now,
                         std::span<const KnownOverrides> overrides) {
  return CallExplainer(config, call, now, overrides).run();
}

}  // namespace weir::cli
