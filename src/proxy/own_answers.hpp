// The responses that Weir generates itself: refusals, failures and denials as problem details (RFC
// 9457). Pure: the text is built in the strings that the caller passes, and the answer views them.
// The name in Via is that of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"
#include "options/proxy.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

/// `route`: the route of the request, whose challenge is added to a 401; nullptr: none yet.
OwnAnswer refusal_answer(const http::Refusal& refusal, const options::Route* route,
                         const DecisionRecord& decision, std::string& body);

/// The answer to an admitted request that its upstream must not receive: Max-Forwards ends here
/// (RFC 9110 section 7.6.2), a forwarding loop, or a path that its rewriting would change in
/// meaning. Empty: forward it. `route`: has an upstream.
std::optional<OwnAnswer> answer_instead_of_upstream(const options::Route& route,
                                                    const http::ReceivedRequest& request,
                                                    const DecisionRecord& decision,
                                                    std::string& body);

/// 401 with the reason in WWW-Authenticate (RFC 6750 section 3).
OwnAnswer invalid_token_answer(const DecisionRecord& decision, std::string& fields,
                               std::string& body);

/// 503 with Retry-After: the keys of the provider have not been read yet.
OwnAnswer unverifiable_token_answer(const DecisionRecord& decision,
                                    const http::ResponseFieldOptions& options, Instant now,
                                    std::string& fields, std::string& body);

/// The refusal with Retry-After: no store has decided. `random`: uniformly distributed, for its
/// jitter.
OwnAnswer undecided_answer(const http::Refusal& refusal, const DecisionRecord& decision,
                           const http::ResponseFieldOptions& options, Instant now,
                           std::uint64_t random, std::string& fields, std::string& body);

/// The part of a denial that does not follow from the decision.
struct AnswerPhase {
  const http::ResponseFieldOptions& options;
  std::span<const http::FieldView> request_fields;  ///< Accept chooses among several bodies
  Instant now;
  std::uint64_t random = 0;  ///< uniformly distributed, for the jitter of Retry-After
};

OwnAnswer denial_answer(const DecisionRecord& decision, const AnswerPhase& phase,
                        std::string& fields, std::string& body);

}  // namespace weir::proxy
