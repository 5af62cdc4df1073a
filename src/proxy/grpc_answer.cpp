#include "proxy/grpc_answer.hpp"

#include <chrono>

#include "grpc/error_details.hpp"
#include "grpc/fields.hpp"
#include "http/accept.hpp"
#include "http/problem.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t longest_message = 1024;  ///< bytes of a body that becomes a message

bool is_message(const OwnAnswer& answer) {
  return !answer.body.empty() && answer.body.size() <= longest_message &&
         http::without_parameters(answer.content_type) == "text/plain";
}

/// Sets the message, as text.
void set_message(std::string& to, const OwnAnswer& answer, bool is_denial,
                 const DecisionRecord& decision) {
  to.clear();
  if (!answer.detail.empty()) {
    to.append(answer.detail);
  } else if (is_message(answer)) {
    to.append(answer.body);
    while (to.ends_with('\n') || to.ends_with('\r'))
      to.pop_back();
  } else if (is_denial) {
    http::append_quota_detail(to, decision.violated, answer.retry_after_s);
  } else {
    to.append(http::reason_phrase(answer.status));
  }
}

}  // namespace

OwnAnswer grpc_answer(const OwnAnswer& answer, const DecisionRecord& decision,
                      const options::Grpc& options, GrpcScratch& scratch) {
  // With a status of its own, the call is refused for another reason.
  const bool is_denial = decision.outcome == limiter::Outcome::denied && !answer.grpc_status;
  const grpc::Status status =
      is_denial ? static_cast<grpc::Status>(options.denied_code)
                : answer.grpc_status.value_or(grpc::status_of_http(answer.status));
  set_message(scratch.message, answer, is_denial, decision);
  scratch.fields.clear();
  scratch.fields.add(*answer.fields);
  {
    http::FieldSection::Writer fields(scratch.fields);
    fields.begin("Grpc-Status").number(grpc::code_of(status));
    grpc::append_message(fields.begin("Grpc-Message"), scratch.message);
    if (answer.retry_after_s) {
      const std::chrono::seconds retry_after(*answer.retry_after_s);
      fields.begin("Grpc-Retry-Pushback-Ms").number(std::chrono::milliseconds(retry_after).count());
      scratch.details.clear();
      grpc::append_retry_details(scratch.details, status, scratch.message, retry_after);
      grpc::append_binary(fields.begin("Grpc-Status-Details-Bin"), scratch.details);
    } else if (is_denial) {
      fields.begin("Grpc-Retry-Pushback-Ms").add("-1");
    }
  }
  return {.status = 200,
          .content_type = grpc::content_type,
          .fields = &scratch.fields,
          .limit_fields = answer.limit_fields,
          .edits = answer.edits,
          .retry_after_s = answer.retry_after_s,
          .grpc_status = status};
}

}  // namespace weir::proxy
