#include "proxy/own_answers.hpp"

#include <optional>

#include "http/problem.hpp"
#include "jwt/rejection.hpp"

namespace weir::proxy {
namespace {

constexpr std::string_view problem_json = "application/problem+json";

/// Keys are fetched again after about a second while there are none.
constexpr std::int64_t retry_for_keys_s = 1;

}  // namespace

OwnAnswer refusal_answer(const http::Refusal& refusal, const Route* route,
                         const DecisionRecord& decision, std::string& body) {
  body.clear();
  http::append_problem(body, refusal.status, refusal.detail);
  std::string_view fields;
  if (refusal.status == 405) fields = http::allow_line;
  if (refusal.status == 401) fields = route->challenge;
  return {.status = refusal.status,
          .content_type = problem_json,
          .fields = fields,
          .body = body,
          .limit_fields = decision.limit_fields};
}

OwnAnswer invalid_token_answer(const DecisionRecord& decision, std::string& fields,
                               std::string& body) {
  const std::string_view reason = jwt::description_of(*decision.rejection);
  fields.assign("Cache-Control: no-store\r\nWWW-Authenticate: Bearer error=\"invalid_token\", ");
  fields.append("error_description=\"").append(reason).append("\"\r\n");
  body.clear();
  http::append_problem(body, 401, reason);
  return {.status = 401,
          .content_type = problem_json,
          .fields = fields,
          .body = body,
          .limit_fields = decision.limit_fields};
}

OwnAnswer unverifiable_token_answer(const DecisionRecord& decision,
                                    const http::ResponseFieldOptions& options, Instant now,
                                    std::string& fields, std::string& body) {
  fields.clear();
  http::append_retry_after(fields, retry_for_keys_s, options.retry_after, now);
  body.clear();
  http::append_problem(body, 503, "the keys for tokens are not available yet; try again later");
  return {.status = 503,
          .content_type = problem_json,
          .fields = fields,
          .body = body,
          .limit_fields = decision.limit_fields};
}

OwnAnswer denial_answer(const DecisionRecord& decision, const http::ResponseFieldOptions& options,
                        Instant now, std::uint64_t random, std::string& fields, std::string& body) {
  const limiter::Policy& policy = *decision.policy;
  fields.assign("Cache-Control: no-store\r\n");
  std::optional<std::int64_t> retry_after_s;
  if (decision.retry_after) {
    retry_after_s =
        http::retry_after_seconds(*decision.retry_after, options.retry_after_jitter, random);
    http::append_retry_after(fields, *retry_after_s, options.retry_after, now);
  }
  body.clear();
  if (!policy.body)
    http::append_quota_exceeded(body, policy.status, decision.violated, retry_after_s);
  return {.status = policy.status,
          .content_type = policy.body ? "text/plain" : problem_json,
          .fields = fields,
          .body = policy.body ? *policy.body : body,
          .limit_fields = decision.limit_fields};
}

}  // namespace weir::proxy
