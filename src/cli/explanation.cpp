#include "cli/explanation.hpp"

#include <algorithm>
#include <utility>

#include "cli/route_summary.hpp"
#include "decision/decision.hpp"
#include "decision/head_inspection.hpp"
#include "decision/refusals.hpp"
#include "grpc/fields.hpp"
#include "grpc/status.hpp"
#include "http/head_parser.hpp"
#include "http/ratelimit_fields.hpp"
#include "identity/client_address.hpp"
#include "limiter/limiter.hpp"
#include "proxy/failure.hpp"
#include "routing/mismatch.hpp"
#include "routing/original_request.hpp"
#include "store/memory_store.hpp"

namespace weir::cli {
namespace {

config::Shown shown_route(const config::Config& config, const options::Route& route) {
  return config.shown()["routes"][static_cast<std::size_t>(&route - config.proxy.routes.data())];
}

/// Describes one request that an instance has received.
class Explainer {
 public:
  Explainer(const config::Config& config, offline::Instance& instance, const Received& received,
            std::span<const KnownOverrides> overrides)
      : config_(config),
        overrides_(overrides),
        instance_(instance),
        request_(received.request),
        trace_(received.trace),
        decision_(received.request.decision()) {}

  Explanation run() {
    using State = offline::Request::State;
    if (request_.state() != State::malformed) list_skipped();
    if (request_.refusal()) {
      refuse(*request_.refusal());
    } else {
      describe_decision();
    }
    describe_request();
    add_grpc_status();
    return std::move(explanation_);
  }

 private:
  /// Lists the routes before the one that takes the request.
  void list_skipped() {
    const auto& candidates = decision_.routes().routed().candidates;
    const bool has_routes = !request_.refusal();
    if (!has_routes && *request_.refusal() != decision::no_route) return;
    list_skipped(candidates.empty() ? config_.proxy.routes.size() : candidates.front().route);
  }

  /// Lists the routes before `taken` that do not match.
  void list_skipped(std::size_t taken) {
    for (std::size_t i = 0; i < taken; ++i) {
      const options::Route& route = config_.proxy.routes[i];
      const auto mismatch = routing::why_skipped(route, i, decision_.routes().routed());
      if (!mismatch) continue;
      explanation_.skipped.push_back({route.name, describe(*mismatch, texts_of(i))});
    }
  }

  /// Values from variables are shown as the configuration has them.
  routing::MatchTexts texts_of(std::size_t route) const {
    const config::Shown shown = config_.shown()["routes"][route]["match"];
    routing::MatchTexts texts(config_.proxy.routes[route].match);
    texts.host = shown["host"](texts.host);
    texts.path = shown["path"](texts.path);
    for (std::size_t i = 0; i < texts.methods.size(); ++i)
      texts.methods[i] = shown["methods"][i](texts.methods[i]);
    return texts;
  }

  void describe_decision() {
    const options::Route& route = *decision_.route();
    explanation_.route = &route;
    if (route.upstream) explanation_.upstream = &config_.upstreams[*route.upstream];
    if (!route.rewrite.is_empty()) explanation_.upstream_path = new_path(route);
    if (route.match.address)
      explanation_.address = explain_address(config_, *route.match.address, received().client);
    // The readings of the tokens are those of the request that was received last.
    identity::TokenReadings& tokens = instance_.limiter().tokens();
    tokens.begin(request_.arrived_at());
    list_limits(trace_, tokens, request_.arrived_at());
    conclude(request_.verdict());
  }

  /// Not shown if a part of it comes from a variable.
  std::string new_path(const options::Route& route) const {
    std::string text;
    route.rewrite.append_target(text, received().view.path, received().view.path);
    return config::unless_hidden(shown_route(config_, route)["path"].is_hidden(), std::move(text));
  }

  void conclude(const limiter::Verdict& verdict) {
    using limiter::Outcome;
    switch (verdict.outcome) {
      case Outcome::identity_required:
        return refuse(decision::identity_required);
      case Outcome::token_invalid:
        return refuse(401, jwt::description_of(*verdict.token_fault.rejection));
      case Outcome::token_unverifiable:
        return need_keys(config_.limiter.token_providers[verdict.token_fault.provider]);
      case Outcome::too_many_limits:
        return refuse(decision::too_many_limits);
      case Outcome::identity_ambiguous:
        return refuse(400, identity::describe(verdict.ambiguity));
      case Outcome::forbidden:
        return refuse(decision::identity_denied);
      case Outcome::failed:
        return refuse(decision::undecided);
      case Outcome::denied:
        return deny(verdict);
      case Outcome::unlimited:
      case Outcome::allowed:
        break;
    }
    const options::Route& route = *decision_.route();
    if (!route.rewrite.is_empty() && routing::has_hidden_dot_segment(received().view.path))
      return refuse(routing::hidden_dot_segment);
    ExplainedVerdict& to = explanation_.verdict;
    to.delay = verdict.delay;
    to.hides_times = hides_any([&](const rules::Decision& one) { return one.delay > Duration{0}; });
    if (verdict.delay > Duration{0}) to.outcome = "delayed";
    if (verdict.shadow_denied) to.outcome = "shadow_denied";
    if (route.upstream) return;
    to.status = route.respond.status;
    to.hides_status = shown_route(config_, route)["respond"]["status"].is_hidden();
  }

  void deny(const limiter::Verdict& verdict) {
    explanation_.verdict = {
        .outcome = "denied",
        .status = verdict.deciding->status,
        .hides_status = shown_policy(config_, *verdict.deciding)["status"].is_hidden(),
        .hides_times = hides_any([](const rules::Decision& one) { return !one.allowed; }),
        .detail = {}};
    if (verdict.retry_after)
      explanation_.verdict.retry_after =
          http::retry_after_seconds(*verdict.retry_after, Duration{0}, 0);
  }

  /// A request of an explanation has no protocol: a call is what it would be over HTTP/2. The
  /// answer is that of proxy::grpc_answer().
  void add_grpc_status() {
    ExplainedVerdict& to = explanation_.verdict;
    const options::Route* const route = decision_.route();
    if (!to.status || *to.status < 400 || (route != nullptr && route->decide)) return;
    if (request_.state() == offline::Request::State::malformed) return;
    const auto* const type = received().view.find(http::FieldId::content_type);
    if (type == nullptr || !grpc::is_grpc(type->value)) return;
    const bool is_denial = to.outcome == "denied";
    to.grpc_status = is_denial ? config_.proxy.grpc.denied_code
                               : grpc::code_of(grpc::status_of_http(*to.status));
    to.hides_grpc_status =
        is_denial ? config_.shown()["grpc"]["denied_code"].is_hidden() : to.hides_status;
  }

  /// The keys of a URL are fetched by a running instance only.
  void need_keys(const identity::TokenProvider& provider) {
    explanation_.verdict = {
        .outcome = "unknown",
        .detail = "explain opens no connection, so it has no keys for tokens of the provider " +
                  provider.name +
                  " (jwks: {url}); save the JWK set of that URL to a file, and use jwks: {file: "
                  "NAME} in a copy of the configuration"};
  }

  void refuse(const http::Refusal& refusal) { refuse(refusal.status, refusal.detail); }
  void refuse(int status, std::string_view detail) {
    explanation_.verdict = {
        .outcome = "refused",
        .status = status,
        .detail = config_.presentation.written.without_values(std::string(detail))};
  }

  /// True if a decision of this kind follows from a number that is not shown.
  template <class Predicate>
  bool hides_any(Predicate is_of_kind) const {
    return std::any_of(explanation_.limits.begin(), explanation_.limits.end(),
                       [&](const ExplainedLimit& one) {
                         return one.decision && is_of_kind(*one.decision) && one.hides_decision();
                       });
  }

  /// Lists the limits of all routes that the request may be for. The trace has those that were
  /// evaluated, in their order.
  void list_limits(const limiter::Trace& trace, identity::TokenReadings& tokens, Instant now) {
    const auto evidence = decision_.routes().evidence();
    if (!evidence.empty() && !config_.limiter.plans.names.empty()) {
      explanation_.plan = explain_plan(
          config_, trace.plan ? *trace.plan : unused_plan(evidence.front().evidence, tokens));
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < evidence.size(); ++i) {
      const auto& candidates = decision_.routes().routed().candidates;
      const options::Route& route = config_.proxy.routes[candidates[i].route];
      for (std::size_t j = 0; j < route.limits.size(); ++j) {
        ExplainedLimit& to = explanation_.limits.emplace_back(limit_of(route, j));
        if (next == trace.limits.size()) {
          to.because = "not evaluated: the limit before refuses the request";
          continue;
        }
        const limiter::TracedLimit& traced = trace.limits[next++];
        take_plan(traced, to);
        take_identities(traced, evidence[i].evidence, tokens, to);
        take_override(config_, overrides_, now, to);
        to.because = why(traced, trace.plan, evidence[i].evidence.client, to);
        if (!to.is_unlimited) take_decision(traced, to);
      }
    }
    hide_merged_costs();
  }

  /// The plan of a request whose limits need none.
  limiter::PlanReading unused_plan(const identity::Evidence& evidence,
                                   identity::TokenReadings& tokens) const {
    return limiter::read_plan(config_.limiter.plans, evidence, tokens, [&](std::size_t index) {
      return identity::resolve(config_.limiter.identities[index].source, evidence,
                               config_.limiter.identity_key, tokens);
    });
  }

  /// Limits of several routes that are charged once have the highest of their costs.
  void hide_merged_costs() {
    auto& limits = explanation_.limits;
    for (ExplainedLimit& to : limits) {
      if (!to.decision) continue;
      to.hides_cost = std::any_of(limits.begin(), limits.end(), [&to](const ExplainedLimit& one) {
        return one.hides_cost && one.decision && one.policy == to.policy &&
               one.identity.hash == to.identity.hash;
      });
    }
  }

  ExplainedLimit limit_of(const options::Route& route, std::size_t index) const {
    const limiter::Limit& limit = route.limits[index];
    const limiter::Policy& policy = config_.limiter.policies[limit.policy];
    const config::Shown shown_limit = shown_route(config_, route)["limits"][index];
    ExplainedLimit to;
    to.route = &route;
    to.policy = &policy;
    to.numbers = policy.numbers;
    to.cost = limit.cost;
    to.rates = rate_texts(shown_policy(config_, policy), policy.numbers);
    to.hides_numbers = shown_policy(config_, policy).hides_numbers();
    to.hides_cost = shown_limit["cost"].is_hidden();
    to.identity = identity_of(limit.identity);
    to.held_until = hold_text(shown_limit, limit, policy);
    to.holds = !to.held_until.empty();
    return to;
  }

  /// Shows the numbers that the plan of the request sets, if it sets some.
  void take_plan(const limiter::TracedLimit& traced, ExplainedLimit& to) const {
    const limiter::PlannedTerms* const planned = traced.planned;
    if (planned == nullptr) return;
    to.numbers_from = "plan";
    to.is_unlimited = planned->unlimited;
    if (planned->unlimited) return;
    to.numbers = planned->terms.numbers;
    to.rates = rate_texts(shown_rates(config_, *to.policy, *planned), planned->terms.numbers);
    to.hides_numbers |= shown_terms(config_, *to.policy, *planned).hides_numbers();
  }

  /// Shows the identity that counts, or the first one that was looked for.
  void take_identities(const limiter::TracedLimit& traced, const identity::Evidence& evidence,
                       identity::TokenReadings& tokens, ExplainedLimit& to) const {
    using State = identity::Resolution::State;
    if (traced.identities.empty()) return;
    const bool has_other =
        traced.identities.size() > 1 && traced.identities.back().resolution.state != State::absent;
    const limiter::TracedIdentity& shown =
        has_other ? traced.identities.back() : traced.identities.front();
    to.identity = identity_of(shown.index);
    to.identity.is_known = true;
    if (shown.resolution.state != State::found) return;
    to.identity.hash = shown.resolution.key;
    // The first source that is present counts.
    const identity::Definition& definition = config_.limiter.identities[shown.index];
    const auto* const any = std::get_if<identity::AnyOf>(&definition.source.from);
    const identity::Source source =
        config_.shown()["identities"][definition.name](definition.source);
    for (std::size_t i = 0; any != nullptr && i < any->sources.size(); ++i) {
      if (identity::resolve(any->sources[i], evidence, config_.limiter.identity_key, tokens).key !=
          shown.resolution.key)
        continue;
      to.identity.source = identity::describe(std::get<identity::AnyOf>(source.from).sources[i]);
      break;
    }
  }

  ExplainedIdentity identity_of(std::size_t index) const {
    const identity::Definition& definition = config_.limiter.identities[index];
    const identity::Source shown =
        config_.shown()["identities"][definition.name](definition.source);
    return {.name = definition.name, .source = identity::describe(shown), .hash = {}};
  }

  /// Adds the conditions, and returns why the limit applies, or does not. A condition that fails is
  /// the only reason.
  std::string why(const limiter::TracedLimit& traced,
                  const std::optional<limiter::PlanReading>& plan, const IpAddress& client,
                  ExplainedLimit& to) const {
    using limiter::Fate;
    if (traced.fate == Fate::preflight)
      return "not charged: a CORS preflight request, and charge_preflight is not set";
    std::string conditions = explain_conditions(
        config_, traced, plan.value_or(limiter::PlanReading{}), client, to.conditions);
    if (!traced.conditions.empty() && decides(traced.conditions.back())) return conditions;
    if (to.is_unlimited) return "the " + std::string(to.numbers_from) + " sets unlimited";
    std::string because = conditions + (conditions.empty() ? "" : "; ");
    if (traced.identities.empty()) because += "the plan is ambiguous";
    for (const limiter::TracedIdentity& one : traced.identities) {
      if (&one != &traced.identities.front()) because += ", ";
      because += state_text(config_.limiter.identities[one.index].name, one.resolution.state);
    }
    using State = identity::Resolution::State;
    const bool is_found =
        !traced.identities.empty() && traced.identities.back().resolution.state == State::found;
    if (traced.fate == Fate::required) because += ", and it is required";
    if (traced.fate == Fate::too_many) because += ", but the request has too many limits";
    if (is_found && traced.fate == Fate::ambiguous) because += ", but an attribute is ambiguous";
    if (is_found && traced.fate == Fate::token_invalid)
      because += ", but an attribute needs a valid token";
    return because;
  }

  static std::string state_text(const std::string& name, identity::Resolution::State state) {
    using State = identity::Resolution::State;
    switch (state) {
      case State::found:
        return name + " is present";
      case State::absent:
        return name + " is absent";
      case State::ambiguous:
        return name + " is ambiguous";
      case State::invalid:
        break;
    }
    return name + " needs a valid token";
  }

  /// The decision about the limit's claim, if the store has decided.
  void take_decision(const limiter::TracedLimit& traced, ExplainedLimit& to) const {
    using limiter::Fate;
    if (traced.fate != Fate::claimed && traced.fate != Fate::merged) return;
    if (limiter::is_before_store(request_.verdict().outcome)) {
      to.because += "; not decided";
      return;
    }
    const limiter::Evaluation& evaluation = decision_.evaluation();
    to.decision = evaluation.decisions[traced.claim];
    to.cost = evaluation.claims[traced.claim].demand.cost;
    if (traced.fate == Fate::merged)
      to.because += "; charged once with the same limit of another route";
  }

  void describe_request() {
    const http::RequestView& request = received().view;
    explanation_.request =
        request.path.empty() ? shown_head(request_.head()) : shown_request(request);
    explanation_.client = received().client.to_string();
    if (request_.state() == offline::Request::State::malformed) return;
    const routing::RoutedRequest& routed = decision_.routes().routed();
    if (!routed.has_read_original) return;
    const bool decides = explanation_.route != nullptr && explanation_.route->decide;
    if (decides || !routing::original_request_fields(request).empty())
      explanation_.original =
          shown_original(request, routed.original.request, received().peer_is_trusted);
  }

  const http::ReceivedRequest& received() const { return request_.received(); }

  const config::Config& config_;
  std::span<const KnownOverrides> overrides_;
  offline::Instance& instance_;
  const offline::Request& request_;
  const limiter::Trace& trace_;
  const decision::Decision& decision_;
  Explanation explanation_;
};

}  // namespace

void take_override(const config::Config& config, std::span<const KnownOverrides> overrides,
                   Instant now, ExplainedLimit& to) {
  using rules::OverrideEffect;
  if (!to.identity.hash) return;
  const auto known = std::ranges::find(overrides, *to.identity.hash, &KnownOverrides::identity);
  if (known == overrides.end()) return;
  const auto index = static_cast<std::uint32_t>(to.policy - config.limiter.policies.data());
  const auto found = store::in_force(known->entries, index, to.policy->numbers, now);
  if (found.effect == OverrideEffect::none || found.effect == OverrideEffect::malformed) return;
  to.numbers_from = "override";
  to.is_unlimited = found.effect == OverrideEffect::unlimited;
  to.is_denied = found.effect == OverrideEffect::denied;
  if (found.numbers == nullptr) return;
  to.numbers = *found.numbers;
  to.rates = rate_texts(config.shown()["overrides"], to.numbers);
  // Numbers that the override does not set are those of the policy, and those of a plan that it
  // names are the plan's.
  for (const limiter::PlannedTerms& planned : to.policy->planned)
    to.hides_numbers |= shown_terms(config, *to.policy, planned).hides_numbers();
}

Explanation explain(const config::Config& config, offline::Instance& instance,
                    const Received& received, std::span<const KnownOverrides> overrides) {
  return Explainer(config, instance, received, overrides).run();
}

Explanation explain(const config::Config& config, const IpAddress& peer, std::string_view head,
                    Instant now, std::span<const KnownOverrides> overrides) {
  offline::Instance instance(config.proxy, config.limiter, {.max_keys = 1024});
  for (const auto& [identity, entries] : overrides) {
    for (const store::Override& entry : entries)
      instance.store().overrides().put(identity, entry, now, [](const store::OverrideReport&) {});
  }
  limiter::Trace trace;
  const offline::Request& request = instance.receive({.head = head, .peer = peer}, now, &trace);
  return explain(config, instance, {.request = request, .trace = trace}, overrides);
}

}  // namespace weir::cli
