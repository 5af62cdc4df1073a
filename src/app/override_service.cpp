#include "app/override_service.hpp"

#include <algorithm>
#include <new>
#include <stop_token>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/override_effect.hpp"
#include "app/override_request.hpp"
#include "http/json_text.hpp"
#include "store/denial_confirmation.hpp"

namespace weir::app {
namespace {

using admin::AdminAnswer;
using admin::OverrideCall;
using admin::problem_answer;
using store::OverrideReport;
using Outcome = OverrideReport::Outcome;

constexpr std::string_view no_answer =
    "redis did not answer in time; a change may have been made, so repeat the request";

constexpr std::string_view no_list =
    "redis did not list the overrides in time; repeat the request, or name a key to read only its "
    "overrides";

constexpr std::string_view not_reachable =
    "redis is not reachable; see /readyz and the log, and repeat the request";

constexpr std::string_view not_reachable_for_change =
    "redis is not reachable: nothing was changed; see /readyz and the log, and repeat the request";

constexpr std::string_view draining = "the process is draining";

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out.append(out.empty() || out.back() == '{' ? "\"" : ",\"").append(name).append("\":");
  http::append_json_string(out, value);
}

std::string hex(const Hash128& hash) {
  std::string text;
  append_hex(text, hash);
  return text;
}

/// The members of the answer to a change.
std::string subject_of(const OverridePut& put, const config::Config& config) {
  std::string text;
  if (!put.identity.empty()) append_member(text, "identity", put.identity);
  append_member(text, "hash", hex(put.key));
  if (!put.entry.policy.empty()) append_member(text, "policy", put.entry.policy);
  text.append(",").append(put.entry.details);
  if (const std::string why = ineffective_because(put, config); !why.empty())
    append_member(text, "warning", why);
  return text;
}

void append_listed(std::string& out, const store::ListedOverride& entry) {
  out += '{';
  append_member(out, "hash", hex(entry.identity));
  if (!entry.policy.empty()) append_member(out, "policy", entry.policy);
  if (entry.is_malformed)
    out += ",\"malformed\":true";
  else if (!entry.details.empty())
    (out += ',') += entry.details;
  out += '}';
}

std::string list_of(const OverrideReport& report, std::string_view policy) {
  std::string text = "\"overrides\":[";
  for (const auto& entry : report.overrides) {
    if (!policy.empty() && entry.policy != policy) continue;
    if (text.back() != '[') text += ',';
    append_listed(text, entry);
  }
  return text.append("],\"complete\":").append(report.is_complete ? "true" : "false");
}

std::string_view timeout_text(bool is_change) {
  return is_change ? no_answer : no_list;
}

AdminAnswer failure_answer(const OverrideReport& report, bool is_change) {
  if (report.error == store::Error::not_connected)
    return problem_answer(503, is_change ? not_reachable_for_change : not_reachable);
  if (report.error == store::Error::connection_lost)
    return problem_answer(503, timeout_text(is_change));
  return problem_answer(503, std::string("redis cannot store or list overrides now (")
                                 .append(to_string(report.error))
                                 .append("); see /readyz and the log, and repeat the request"));
}

}  // namespace

/// A request that is not answered yet.
struct OverrideService::Call {
  Call(boost::asio::io_context& io, Reply its_reply) : reply(std::move(its_reply)), timer(io) {}

  bool is_over() const { return over.stop_requested(); }

  Reply reply;
  boost::asio::steady_timer timer;
  std::stop_source over{};  ///< the store's threads read it too
  std::string subject{};    ///< JSON members without braces that identify the changed override
  std::string policy{};     ///< of a list or a removal; empty: all
  bool is_shared = false;
  bool is_change = false;
  bool is_removal = false;
};

AdminAnswer OverrideService::answer_to(const Call& call, const OverrideReport& report) {
  switch (report.outcome) {
    case Outcome::failed:
      return failure_answer(report, call.is_change);
    case Outcome::absent:
      return problem_answer(
          404, "there is no such override: the key has none for " +
                   (call.policy.empty() ? "all policies" : "the policy " + call.policy));
    case Outcome::full:
      return problem_answer(409, "the identity has 16 overrides already; delete one");
    case Outcome::no_room:
      return problem_answer(409,
                            "10000 identities have overrides already, as many as the memory "
                            "store keeps; delete some, or use store.type: redis");
    case Outcome::done:
      break;
  }
  if (call.is_removal) return {.status = 204};
  AdminAnswer answer{.content_type = "application/json"};
  answer.body.append("{\"store\":\"").append(call.is_shared ? "redis" : "memory").append("\",");
  answer.body.append(call.is_change ? call.subject : list_of(report, call.policy)) += "}\n";
  return answer;
}

admin::OverrideService OverrideService::entry() {
  return [this](OverrideCall call, Reply reply) {
    boost::asio::post(with_.io, [this, call = std::move(call), reply = std::move(reply)] {
      handle(call, reply);
    });
  };
}

void OverrideService::handle(const OverrideCall& call, Reply reply) {
  if (is_stopped_) return reply(problem_answer(503, draining));
  switch (call.method) {
    case OverrideCall::Method::get:
      return list(call, std::move(reply));
    case OverrideCall::Method::put:
      return put(call, std::move(reply));
    case OverrideCall::Method::remove:
      break;
  }
  remove(call, std::move(reply));
}

OverrideContext OverrideService::context() const {
  return {.config = *with_.running.config(), .policy_names = with_.running.policy_names()};
}

/// Overrides end by the wall clock, which may have been set since the process started.
Instant OverrideService::wall_now() {
  const Duration offset = wall_clock_offset(with_.clock);
  with_.memory.set_wall_clock_offset(offset);
  return with_.clock.now() + offset;
}

void OverrideService::put(const OverrideCall& call, Reply reply) {
  const auto put = read_override(call.body, context(), wall_now());
  if (!put) return reply(problem_answer(422, put.error().message));
  const auto begun = std::make_shared<Call>(with_.io, std::move(reply));
  begun->is_change = true;
  begun->subject = subject_of(*put, *with_.running.config());
  start(begun, [put = *put](store::Overrides& overrides, Instant now, Report done) {
    overrides.put(put.key, put.entry, now, std::move(done));
  });
}

void OverrideService::remove(const OverrideCall& call, Reply reply) {
  const auto query = read_override_query(call.query, context(), false);
  if (!query) return reply(problem_answer(422, query.error().message));
  const auto begun = std::make_shared<Call>(with_.io, std::move(reply));
  begun->is_change = begun->is_removal = true;
  begun->policy = query->policy;
  start(begun, [query = *query](store::Overrides& overrides, Instant now, Report done) {
    overrides.remove(*query.key, query.policy, now, std::move(done));
  });
}

void OverrideService::list(const OverrideCall& call, Reply reply) {
  const auto query = read_override_query(call.query, context(), true);
  if (!query) return reply(problem_answer(422, query.error().message));
  const auto begun = std::make_shared<Call>(with_.io, std::move(reply));
  begun->policy = query->policy;
  start(begun, [query = *query, over = begun->over.get_token()](store::Overrides& overrides,
                                                                Instant now, Report done) {
    overrides.list(query.key, now, over, std::move(done));
  });
}

void OverrideService::start(const std::shared_ptr<Call>& call, Action action) {
  calls_.push_back(call);
  call->timer.expires_after(with_.longest_wait);
  call->timer.async_wait([this, call](const boost::system::error_code& ec) {
    if (!ec && !call->is_over()) end(*call, problem_answer(503, timeout_text(call->is_change)));
  });
  with_.with_shared([this, call, action = std::move(action)](store::Overrides* shared) {
    store::Overrides& overrides = shared ? *shared : with_.memory;
    const Report done = [this, call, shared](store::OverrideReport report) {
      boost::asio::post(with_.io, [this, call, shared, report = std::move(report)] {
        call->is_shared = shared != nullptr;
        on_report(call, report);
      });
    };
    try {
      action(overrides, wall_now(), done);
    } catch (const std::bad_alloc&) {
      // Nothing is reported, so the timer of the call answers it.
    }
  });
}

void OverrideService::on_report(const std::shared_ptr<Call>& call, const OverrideReport& report) {
  if (call->is_over()) return;
  auto answer = answer_to(*call, report);
  const bool is_done = report.outcome == Outcome::done;
  if (!call->is_shared || !call->is_change || !is_done) return end(*call, std::move(answer));
  call->timer.expires_after(store::DenialConfirmation::settled_after);
  call->timer.async_wait([this, call, answer](const boost::system::error_code& ec) {
    if (!ec && !call->is_over()) end(*call, answer);
  });
}

void OverrideService::end(Call& call, AdminAnswer answer) {
  call.over.request_stop();
  call.timer.cancel();
  const Reply reply = std::move(call.reply);
  std::erase_if(calls_, [&call](const auto& one) { return one.get() == &call; });
  reply(std::move(answer));
}

void OverrideService::stop() {
  is_stopped_ = true;
  while (!calls_.empty()) {
    const auto call = calls_.front();
    end(*call, problem_answer(503, draining));
  }
}

}  // namespace weir::app
