#include "proxy/own_answers.hpp"

#include <optional>

#include "http/problem.hpp"

namespace weir::proxy {
namespace {

constexpr std::string_view problem_json = "application/problem+json";

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
