#include "app/limit_service.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "json/write.hpp"
#include "loop/calls.hpp"
#include "rules/policy.hpp"
#include "store/denial_confirmation.hpp"

namespace weir::app {
namespace {

using admin::AdminAnswer;
using admin::AdminCall;
using admin::problem_answer;

std::string seconds(Duration duration) {
  const std::int64_t us = to_us(duration);
  std::string text = std::to_string(us / 1'000'000);
  if (us % 1'000'000 == 0) return text;
  std::string fraction = std::to_string(us % 1'000'000);
  fraction.insert(0, 6 - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + '.' + fraction;
}

bool is_by_override(const rules::Decision& decision) {
  using rules::OverrideEffect;
  return decision.override_effect != OverrideEffect::none &&
         decision.override_effect != OverrideEffect::malformed;
}

/// Whether the policy is that of a limit with requests_per_unit 0. Its numbers are not used.
bool denies_all(std::span<const options::DescriptorNode> nodes, std::size_t policy) {
  return std::ranges::any_of(nodes, [&](const options::DescriptorNode& node) {
    const bool is_it = node.limit && node.limit->policy == policy && node.limit->denies_all;
    return is_it || denies_all(node.children, policy);
  });
}

bool denies_all(const config::Config& config, const limiter::Policy& policy) {
  if (!config.rate_limit_service) return false;
  const auto index = static_cast<std::size_t>(&policy - config.limiter.policies.data());
  return std::ranges::any_of(config.rate_limit_service->domains,
                             [&](const options::DescriptorDomain& domain) {
                               return denies_all(domain.descriptors, index);
                             });
}

/// The numbers in force, with the names of `weir explain --json`.
std::string numbers_text(const rules::Decision& decision, const LimitQuery& query) {
  using rules::OverrideEffect;
  const rules::Policy& policy = query.policy->terms_of(query.planned).numbers;
  const bool is_override = is_by_override(decision);
  json::Object numbers;
  if (decision.override_effect == OverrideEffect::unlimited ||
      (!is_override && query.is_exempt())) {
    numbers.flag("unlimited", true);
  } else if (decision.override_effect == OverrideEffect::denied) {
    numbers.flag("denied", true);
  } else {
    numbers.number("limit", decision.limit);
    if (policy.algorithm != rules::Algorithm::concurrency)
      numbers.json("window", seconds(decision.refill.value_or(policy.refill)));
  }
  numbers.text("from", is_override ? "override" : query.planned != nullptr ? "plan" : "policy");
  if (decision.ends_after) numbers.json("ends_after", seconds(*decision.ends_after));
  return numbers.str();
}

/// Adds the entries of an attributed window, which show who has used it up.
void add_entries(json::Object& to, const store::EntryReport& report,
                 const limiter::Policy& policy) {
  std::vector<std::string> entries;
  for (const rules::AttributedEntry& entry : report.entries) {
    json::Object attributes;
    for (std::size_t i = 0; i < std::min(entry.attributes.size(), policy.attributes.size()); ++i)
      attributes.text(policy.attributes[i].text, entry.attributes[i]);
    entries.push_back(json::Object()
                          .json("at", seconds(entry.at.time_since_epoch()))
                          .number("units", entry.units)
                          .json("attributes", attributes.str())
                          .str());
  }
  to.json("entries", json::list_of(entries)).flag("entries_complete", report.is_complete);
}

/// `effect`: of the failed call on the key.
AdminAnswer unread_answer(store::Error error, std::string_view effect) {
  std::string why = error == store::Error::not_connected
                        ? "redis is not reachable"
                        : "redis did not answer (" + std::string(to_string(error)) + ")";
  return problem_answer(
      503, why.append(effect).append("; see /readyz and the log, and repeat the request"));
}

constexpr std::string_view no_effect;
constexpr std::string_view may_be_reset = ": the reset may have been made";

/// The effect of a reset that Redis has not confirmed.
std::string_view effect_of_reset(store::Error error) {
  const bool is_unsent = error == store::Error::not_connected || error == store::Error::overloaded;
  return is_unsent ? ": nothing was changed" : may_be_reset;
}

}  // namespace

/// A request that is not answered yet.
struct LimitService::Call : PendingAnswers::Call {
  Call(boost::asio::io_context& io, admin::Reply its_reply, LimitQuery its_query,
       std::shared_ptr<const config::Config> its_config)
      : PendingAnswers::Call(io, std::move(its_reply)),
        query(std::move(its_query)),
        config(std::move(its_config)) {}

  bool resets = false;
  bool is_shared = false;      ///< Redis has decided
  rules::Decision decision{};  ///< once it is there
  const LimitQuery query;
  const std::shared_ptr<const config::Config> config;  ///< has the policy
};

/// A call of a store. Keeps itself until the store has completed it.
struct LimitService::Question final : store::Completion {
  Question(LimitService& its_service, std::shared_ptr<Call> its_call, bool is_of_shared)
      : service(its_service), call(std::move(its_call)), is_shared(is_of_shared) {
    const rules::Policy& numbers = call->query.policy->terms_of(call->query.planned).numbers;
    claims[0] = {.policy = &numbers,
                 .local_policy = &numbers,
                 .identity = call->query.key.hash,
                 .policy_id = call->query.policy_id,
                 .is_exempt = call->query.is_exempt(),
                 .demand = {.cost = 0},
                 .attributes = {}};
  }

  /// Asks on the thread of the store.
  static void ask(const std::shared_ptr<Question>& question, store::Store& store, Instant now) {
    question->self = question;
    Call& call = *question->call;
    question->acquisition = {.claims = question->claims,
                             .decisions = question->decisions,
                             .arrived_at = now,
                             .shows_held = true};
    const auto at_once =
        call.resets
            ? store.forget({.identity = call.query.key.hash, .policy_id = call.query.policy_id},
                           *question, now)
            : store.peek(question->acquisition, *question, now);
    if (at_once) question->complete(*at_once, now);
  }

  void complete(const store::Result& its_result, Instant) noexcept override {
    result = its_result;
    const auto own = std::exchange(self, nullptr);
    try {
      loop::post(service.with_.io, [own] { own->service.on_result(own->call, *own); });
    } catch (const std::bad_alloc&) {
      // The alarm of the call answers it.
    }
  }

  LimitService& service;
  const std::shared_ptr<Call> call;
  const bool is_shared;
  std::array<store::Claim, 1> claims;
  std::array<rules::Decision, 1> decisions;
  store::Acquisition acquisition;
  store::Result result;
  std::shared_ptr<Question> self;
};

admin::AdminEndpoint LimitService::endpoint() {
  return {.path = "/v1/limits",
          .methods = "GET, HEAD, DELETE",
          .handle = posted(with_.io, *this),
          .parameters = {"GET, HEAD, DELETE", limit_parameters}};
}

void LimitService::handle(const AdminCall& call, admin::Reply reply) {
  if (answers_.is_stopped()) return reply(PendingAnswers::draining());
  const auto config = with_.running.config();
  const auto query = read_limit_query(
      call.query, {.config = *config, .policy_names = with_.running.policy_names()});
  if (!query) return reply(problem_answer(422, query.error().message));
  const auto begun = std::make_shared<Call>(with_.io, std::move(reply), *query, config);
  begun->resets = call.method == AdminCall::Method::remove;
  answers_.add(begun, with_.longest_wait,
               unread_answer(store::Error::timeout, begun->resets ? may_be_reset : no_effect));
  ask(begun);
}

void LimitService::ask(const std::shared_ptr<Call>& call) {
  with_.with_shared([this, call](SharedAccess* shared) {
    std::shared_ptr<Question> question;
    try {
      question = std::make_shared<Question>(*this, call, shared != nullptr);
      store::Store& store = shared ? shared->decisions : static_cast<store::Store&>(with_.memory);
      Question::ask(question, store, with_.clock.now());
    } catch (const std::bad_alloc&) {
      if (question) question->self.reset();  // the alarm of the call answers it
    }
  });
}

void LimitService::on_result(const std::shared_ptr<Call>& call, const Question& question) {
  if (call->is_over()) return;
  if (call->resets) return on_forgotten(call, question.result.error, question.is_shared);
  if (question.result.error != store::Error::none)
    return answers_.answer(*call, unread_answer(question.result.error, no_effect));
  call->is_shared = question.is_shared;
  call->decision = question.decisions[0];
  const limiter::Policy& policy = *call->query.policy;
  if (policy.numbers.algorithm != rules::Algorithm::attributed_window) return show(*call, nullptr);
  if (question.is_shared) return read_entries(call);
  const store::EntryReport entries =
      with_.memory.entries({.identity = call->query.key.hash, .policy_id = call->query.policy_id},
                           *question.claims[0].policy, with_.clock.now());
  show(*call, &entries);
}

void LimitService::read_entries(const std::shared_ptr<Call>& call) {
  with_.with_shared([this, call](SharedAccess* shared) {
    const auto done = [this, call](const store::EntryReport& report) {
      loop::post(with_.io, [this, call, report] {
        if (call->is_over()) return;
        if (report.error != store::Error::none)
          return answers_.answer(*call, unread_answer(report.error, no_effect));
        show(*call, &report);
      });
    };
    try {
      if (!shared) return done({});  // a reload has replaced the store
      shared->entries.read_entries(call->query.key.hash, call->query.policy->name, done);
    } catch (const std::bad_alloc&) {
      // The alarm of the call answers it.
    }
  });
}

/// `entries`: nullptr if the policy has none.
void LimitService::show(Call& call, const store::EntryReport* entries) {
  const LimitQuery& query = call.query;
  rules::Decision& decision = call.decision;
  const bool is_denied = denies_all(*call.config, *query.policy);
  if (is_denied) decision = {};
  const bool never_passes = is_denied || decision.override_effect == rules::OverrideEffect::denied;
  json::Object body;
  body.text("store", call.is_shared ? "redis" : "memory");
  if (!query.key.identity.empty()) body.text("identity", query.key.identity);
  body.text("hash", to_hex(query.key.hash))
      .text("policy", query.policy->name)
      .text("algorithm", rules::to_string(query.policy->numbers.algorithm));
  if (!query.plan.empty()) body.text("plan", query.plan);
  body.json("numbers", is_denied ? json::Object().flag("denied", true).text("from", "file").str()
                                 : numbers_text(decision, query))
      .number("remaining", decision.remaining)
      .number("held", decision.held_by_others)
      .json("reset_after", seconds(decision.reset_after))
      .json("retry_after",
            never_passes || decision.remaining > 0 ? "null" : seconds(decision.more_after));
  if (entries != nullptr) add_entries(body, *entries, *query.policy);
  answers_.answer(call, {.content_type = "application/json", .body = body.str() + '\n'});
}

/// Other workers and instances may remember a denial of the key.
void LimitService::on_forgotten(const std::shared_ptr<Call>& call, store::Error error,
                                bool is_shared) {
  if (error != store::Error::none)
    return answers_.answer(*call, unread_answer(error, effect_of_reset(error)));
  with_.events.forget({.identity = call->query.key.hash, .policy_id = call->query.policy_id});
  if (!is_shared) return answers_.answer(*call, {.status = 204});
  with_.with_shared([this, call](SharedAccess* shared) {
    const auto done = [this, call](const store::OverrideReport& report) {
      loop::post(with_.io, [this, call, failed = report.error] {
        if (call->is_over()) return;
        if (failed != store::Error::none)
          return answers_.answer(*call, unread_answer(failed, may_be_reset));
        answers_.answer_after(call, store::DenialConfirmation::settled_after, {.status = 204});
      });
    };
    try {
      if (!shared) return done({});  // a reload has replaced the store, with its denials
      shared->overrides.end_denials(done);
    } catch (const std::bad_alloc&) {
      // The alarm of the call answers it.
    }
  });
}

}  // namespace weir::app
