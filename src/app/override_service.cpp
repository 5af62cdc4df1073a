#include "app/override_service.hpp"

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "json/write.hpp"
#include "loop/calls.hpp"
#include "store/denial_confirmation.hpp"

namespace weir::app {
namespace {

using admin::AdminAnswer;
using admin::AdminCall;
using admin::problem_answer;
using store::OverrideReport;
using Method = AdminCall::Method;
using Outcome = OverrideReport::Outcome;

/// Adds the members that identify an override, and its details as the store keeps them.
void add_entry(json::Object& to, const store::ListedOverride& entry) {
  to.text("hash", to_hex(entry.identity));
  if (!entry.policy.empty()) to.text("policy", entry.policy);
  if (entry.is_malformed) {
    to.flag("malformed", true);
  } else {
    to.members(entry.details);
  }
}

/// The members of the answer to a PUT.
std::string stored_text(const OverridePut& put, const config::Config& config) {
  json::Object stored;
  if (!put.identity.empty()) stored.text("identity", put.identity);
  add_entry(stored,
            {.identity = put.key, .policy = put.entry.policy, .details = put.entry.details});
  if (const std::string why = ineffective_because(put, config); !why.empty())
    stored.text("warning", why);
  return stored.members();
}

/// The members of a list. `policy`: empty for all.
std::string list_text(const OverrideReport& report, std::string_view policy) {
  std::vector<std::string> entries;
  for (const auto& entry : report.overrides) {
    if (!policy.empty() && entry.policy != policy) continue;
    json::Object one;
    add_entry(one, entry);
    entries.push_back(one.str());
  }
  return json::Object()
      .json("overrides", json::list_of(entries))
      .flag("complete", report.is_complete)
      .members();
}

AdminAnswer no_answer(bool is_change) {
  return problem_answer(
      503, is_change
               ? "redis did not answer in time; a change may have been made, so repeat the request"
               : "redis did not list the overrides in time; repeat the request, or name a key to "
                 "read only its overrides");
}

AdminAnswer failure_answer(store::Error error, bool is_change) {
  if (error == store::Error::connection_lost) return no_answer(is_change);
  std::string problem =
      "redis cannot store or list overrides now (" + std::string(to_string(error)) + ")";
  if (error == store::Error::not_connected)
    problem = is_change ? "redis is not reachable: nothing was changed" : "redis is not reachable";
  return problem_answer(503, problem + "; see /readyz and the log, and repeat the request");
}

}  // namespace

/// A request that is not answered yet.
struct OverrideService::Call : PendingAnswers::Call {
  Call(boost::asio::io_context& io, Method its_method, Reply its_reply)
      : PendingAnswers::Call(io, std::move(its_reply)), method(its_method) {}

  bool is_change() const { return method != Method::get; }
  AdminAnswer answer_to(const OverrideReport& report) const;

  const Method method;
  std::string stored{};  ///< of a PUT: the answer's members
  std::string policy{};  ///< of a list or a removal; empty: all
  bool is_shared = false;
};

AdminAnswer OverrideService::Call::answer_to(const OverrideReport& report) const {
  switch (report.outcome) {
    case Outcome::failed:
      return failure_answer(report.error, is_change());
    case Outcome::absent:
      return problem_answer(404, "there is no such override: the key has none for " +
                                     (policy.empty() ? "all policies" : "the policy " + policy));
    case Outcome::full:
      return problem_answer(409, "the identity has 16 overrides already; delete one");
    case Outcome::no_room:
      return problem_answer(409,
                            "10000 identities have overrides already, as many as the memory "
                            "store keeps; delete some, or use store.type: redis");
    case Outcome::done:
      break;
  }
  if (method == Method::remove) return {.status = 204};
  json::Object body;
  body.text("store", is_shared ? "redis" : "memory");
  body.members(method == Method::put ? stored : list_text(report, policy));
  return {.content_type = "application/json", .body = body.str() + '\n'};
}

admin::AdminEndpoint OverrideService::endpoint() {
  return {.path = "/v1/overrides",
          .methods = "GET, HEAD, PUT, DELETE",
          .handle = posted(with_.io, *this),
          .parameters = {"GET, HEAD, DELETE", override_parameters}};
}

void OverrideService::handle(const AdminCall& call, Reply reply) {
  if (answers_.is_stopped()) return reply(PendingAnswers::draining());
  const auto begun = std::make_shared<Call>(with_.io, call.method, std::move(reply));
  auto action = read(call, *begun);
  if (!action) return begun->reply(problem_answer(422, action.error().message));
  start(begun, std::move(*action));
}

/// Overrides end by the wall clock, which may have been set since the process started.
Instant OverrideService::wall_now() {
  const Duration offset = wall_clock_offset(with_.clock);
  with_.memory.set_wall_clock_offset(offset);
  return with_.clock.now() + offset;
}

/// Returns the call of the store that a request asks for.
Result<OverrideService::Action> OverrideService::read(const AdminCall& from, Call& to) {
  const config::Config& config = *with_.running.config();
  const OverrideContext context{.config = config, .policy_names = with_.running.policy_names()};
  if (from.method == Method::put) {
    auto put = read_override(from.body, context, wall_now());
    if (!put) return put.error();
    to.stored = stored_text(*put, config);
    return Action([put = std::move(*put)](auto& overrides, Instant now, Done done) {
      overrides.put(put.key, put.entry, now, std::move(done));
    });
  }
  const auto query = read_override_query(from.query, context, from.method == Method::get);
  if (!query) return query.error();
  to.policy = query->policy;
  if (from.method == Method::remove) {
    return Action([query = *query](auto& overrides, Instant now, Done done) {
      overrides.remove(*query.key, query.policy, now, std::move(done));
    });
  }
  return Action(
      [key = query->key, over = to.over.get_token()](auto& overrides, Instant now, Done done) {
        overrides.list(key, now, over, std::move(done));
      });
}

void OverrideService::start(const std::shared_ptr<Call>& call, Action action) {
  answers_.add(call, with_.longest_wait, no_answer(call->is_change()));
  with_.with_shared([this, call, action = std::move(action)](SharedAccess* shared) {
    store::Overrides& overrides = shared ? shared->overrides : with_.memory;
    const Done done = [this, call, is_shared = shared != nullptr](store::OverrideReport report) {
      loop::post(with_.io, [this, call, is_shared, report = std::move(report)] {
        call->is_shared = is_shared;
        on_report(call, report);
      });
    };
    try {
      action(overrides, wall_now(), done);
    } catch (const std::bad_alloc&) {
      // Nothing is reported, so the alarm of the call answers it.
    }
  });
}

void OverrideService::on_report(const std::shared_ptr<Call>& call, const OverrideReport& report) {
  if (call->is_over()) return;
  AdminAnswer answer = call->answer_to(report);
  const bool is_changed = call->is_change() && report.outcome == Outcome::done;
  if (!call->is_shared || !is_changed) return answers_.answer(*call, std::move(answer));
  answers_.answer_after(call, store::DenialConfirmation::settled_after, std::move(answer));
}

}  // namespace weir::app
