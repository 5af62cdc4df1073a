#include "proxy/own_answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/container/static_vector.hpp>

#include "base/appender.hpp"
#include "decision/refusals.hpp"
#include "http/accept.hpp"
#include "http/field_lines.hpp"
#include "http/forwarding.hpp"
#include "http/problem.hpp"
#include "jwt/rejection.hpp"
#include "proxy/context.hpp"
#include "routing/path_rewrite.hpp"

namespace weir::proxy {
namespace {

constexpr http::Refusal loop_detected{508, "forwarding loop detected"};
constexpr std::string_view problem_json = "application/problem+json";

/// While there are no keys, they are fetched again after 1 to 11 seconds
/// (jwt/refresh_schedule.hpp). The next one is not known here; an early retry costs only another
/// 503.
constexpr std::int64_t retry_for_keys_s = 1;

/// While the store does not decide, it is tested again once a second by default
/// (store.redis.breaker.retry_after).
constexpr Duration retry_for_store = std::chrono::seconds(1);

/// Returns nullptr for the problem document. A client that accepts none of several bodies gets the
/// one of the problem document's type: if its Accept field lists no page, it is most likely a
/// program.
const limiter::DenialBody* choose_body(const limiter::Denial& denial,
                                       std::span<const http::FieldView> request_fields) {
  const auto& bodies = denial.bodies;
  if (bodies.empty()) return nullptr;
  if (bodies.size() == 1) return &bodies.front();
  boost::container::static_vector<std::string_view, http::most_negotiated_types> types;
  for (const limiter::DenialBody& one : bodies)
    types.push_back(one.content_type);
  const auto chosen = http::preferred_type(request_fields, {types.data(), types.size()});
  if (chosen) return &bodies[*chosen];
  const auto problem = std::ranges::find_if(
      types, [](std::string_view one) { return http::without_parameters(one) == problem_json; });
  return problem == types.end() ? nullptr
                                : &bodies[static_cast<std::size_t>(problem - types.begin())];
}

/// A problem document, written to `body`.
OwnAnswer problem_answer(int status, std::string_view detail, const http::FieldSection& fields,
                         const DecisionRecord& decision, std::string& body) {
  body.clear();
  http::append_problem(body, status, detail);
  return {.status = status,
          .content_type = problem_json,
          .fields = &fields,
          .body = body,
          .limit_fields = &decision.limit_fields,
          .detail = detail};
}

/// 401 with the reason in WWW-Authenticate (RFC 6750 section 3).
OwnAnswer invalid_token_answer(const DecisionRecord& decision, http::FieldSection& fields,
                               std::string& body) {
  const std::string_view reason = jwt::description_of(*decision.rejection);
  fields.clear();
  fields.add("Cache-Control", "no-store");
  http::FieldSection::Writer(fields)
      .begin("WWW-Authenticate")
      .add("Bearer error=\"invalid_token\", error_description=\"")
      .add(reason)
      .add('"');
  return problem_answer(401, reason, fields, decision, body);
}

/// 503 with Retry-After: the keys of the provider have not been read yet.
OwnAnswer unverifiable_token_answer(const DecisionRecord& decision, const AnswerPhase& phase,
                                    http::FieldSection& fields, std::string& body) {
  fields.clear();
  http::add_retry_after(fields, retry_for_keys_s, phase.options.retry_after, phase.now);
  OwnAnswer answer = problem_answer(
      503, "the keys for tokens are not available yet; try again later", fields, decision, body);
  answer.retry_after_s = retry_for_keys_s;
  return answer;
}

/// The refusal with Retry-After: no store has decided.
OwnAnswer failed_answer(const DecisionRecord& decision, const AnswerPhase& phase,
                        http::FieldSection& fields, std::string& body) {
  const http::ResponseFieldOptions& options = phase.options;
  fields.clear();
  if (decision.policy != nullptr) fields.add(decision.policy->denial.fields);
  const std::int64_t seconds =
      http::retry_after_seconds(retry_for_store, options.retry_after_jitter, phase.random);
  http::add_retry_after(fields, seconds, options.retry_after, phase.now);
  OwnAnswer answer = problem_answer(decision::undecided.status, decision::undecided.detail, fields,
                                    decision, body);
  answer.retry_after_s = seconds;
  return answer;
}

template <class Fields>
void add_fields(Fields& fields, const OwnAnswer& answer, const http::ClientHop& client,
                std::string_view date) {
  fields.add("Date", date);
  if (answer.status != 204) fields.add("Content-Type", answer.content_type);
  if (answer.status != 204 && !answer.grpc_status) {
    std::array<char, 20> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), answer.body.size());
    fields.add("Content-Length",
               {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
  }
  http::ClientHop added = client;
  if (answer.fields->contains("x-request-id")) added.request_id = {};  // its own value
  http::add_added_fields(fields, added, answer.edits);
  fields.add(*answer.fields);
  if (answer.edits == nullptr) return;
  const bool is_error = answer.status >= 400 || answer.grpc_status;
  const http::FieldSection& edited = answer.edits->added();
  for (std::size_t i = 0; i < edited.size(); ++i) {
    if (answer.edits->adds_to_answer(i, *answer.fields, is_error))
      fields.add(edited[i].name, edited[i].value);
  }
}

}  // namespace

const http::FieldSection& allow_field() {
  static const http::FieldSection fields{{"Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}};
  return fields;
}

OwnAnswer refusal_answer(const http::Refusal& refusal, const options::Route* route,
                         const DecisionRecord& decision, std::string& body) {
  const http::FieldSection* fields = &http::no_fields;
  if (refusal.status == 405) fields = &allow_field();
  if (refusal.status == 401) fields = &route->challenge;
  return problem_answer(refusal.status, refusal.detail, *fields, decision, body);
}

std::optional<OwnAnswer> answer_instead_of_upstream(const options::Route& route,
                                                    const http::ReceivedRequest& request,
                                                    const DecisionRecord& decision,
                                                    std::string& body) {
  const auto left = http::max_forwards(request.view);
  if (!left) return refusal_answer(left.error(), &route, decision, body);
  if (*left == std::uint64_t{0})
    return OwnAnswer{
        .status = 204, .fields = &allow_field(), .limit_fields = &decision.limit_fields};
  if (http::has_passed(request.fields, via_name()))
    return refusal_answer(loop_detected, &route, decision, body);
  if (!route.rewrite.is_empty() && routing::has_hidden_dot_segment(request.view.path))
    return refusal_answer(routing::hidden_dot_segment, &route, decision, body);
  return std::nullopt;
}

OwnAnswer denial_answer(const DecisionRecord& decision, const AnswerPhase& phase,
                        http::FieldSection& fields, std::string& body) {
  const limiter::Policy& policy = *decision.policy;
  const http::ResponseFieldOptions& options = phase.options;
  fields.clear();
  fields.add(policy.denial.fields);
  std::optional<std::int64_t> retry_after_s;
  if (decision.retry_after) {
    retry_after_s =
        http::retry_after_seconds(*decision.retry_after, options.retry_after_jitter, phase.random);
    http::add_retry_after(fields, *retry_after_s, options.retry_after, phase.now);
  }
  const limiter::DenialBody* const own = choose_body(policy.denial, phase.request_fields);
  const bool is_problem = own == nullptr || !own->text;
  body.clear();
  if (is_problem)
    http::append_quota_exceeded(body, policy.status, decision.violated, retry_after_s);
  return {.status = policy.status,
          .content_type = own == nullptr ? problem_json : std::string_view(own->content_type),
          .fields = &fields,
          .body = is_problem ? body : *own->text,
          .limit_fields = &decision.limit_fields,
          .retry_after_s = retry_after_s};
}

OwnAnswer undecided_answer(const DecisionRecord& decision, const options::Route* route,
                           const AnswerPhase& phase, http::FieldSection& fields,
                           std::string& body) {
  switch (decision.outcome) {
    case limiter::Outcome::forbidden:
      return refusal_answer(decision::identity_denied, route, decision, body);
    case limiter::Outcome::identity_required:
      return refusal_answer(decision::identity_required, route, decision, body);
    case limiter::Outcome::too_many_limits:
      return refusal_answer(decision::too_many_limits, route, decision, body);
    case limiter::Outcome::identity_ambiguous:
      return refusal_answer({400, identity::describe(decision.ambiguity)}, route, decision, body);
    case limiter::Outcome::token_invalid:
      return invalid_token_answer(decision, fields, body);
    case limiter::Outcome::token_unverifiable:
      return unverifiable_token_answer(decision, phase, fields, body);
    default:
      return failed_answer(decision, phase, fields, body);
  }
}

void append_own_answer(std::string& text, const OwnAnswer& answer, const http::ClientHop& client,
                       std::string_view date, bool has_body) {
  Appender out(text);
  out.add("HTTP/1.1 ").number(answer.status).add(' ').add(http::reason_phrase(answer.status));
  out.add("\r\n");
  http::FieldLines lines(out);
  add_fields(lines, answer, client, date);
  http::append_connection(out, client);
  if (has_body && has_content(answer.status)) out.add(answer.body);
}

void add_own_answer_fields(http::FieldSection& fields, const OwnAnswer& answer,
                           const http::ClientHop& client, std::string_view date) {
  add_fields(fields, answer, client, date);
}

bool has_content(int status) {
  return status != 204 && status != 304;
}

}  // namespace weir::proxy
