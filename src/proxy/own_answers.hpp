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

/// Allow, with the methods that every route forwards.
const http::FieldSection& allow_field();

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

/// The part of an answer that does not follow from the decision.
struct AnswerPhase {
  const http::ResponseFieldOptions& options;
  std::span<const http::FieldView> request_fields;  ///< Accept chooses among several bodies
  Instant now;
  std::uint64_t random = 0;  ///< uniformly distributed, for the jitter of Retry-After
};

OwnAnswer denial_answer(const DecisionRecord& decision, const AnswerPhase& phase,
                        http::FieldSection& fields, std::string& body);

/// The answer to a request that the limiter refuses, or cannot decide: to any outcome but allowed,
/// unlimited and denied. `route`: as for refusal_answer().
OwnAnswer undecided_answer(const DecisionRecord& decision, const options::Route* route,
                           const AnswerPhase& phase, http::FieldSection& fields, std::string& body);

/// True if the answer to a request with this outcome counts as a response for `charge`: the token
/// of a client is invalid, whom limits without one have admitted.
constexpr bool counts_as_response(limiter::Outcome outcome) {
  return outcome == limiter::Outcome::token_invalid;
}

/// Appends the text of a response that Weir generates itself. `date`: the value of Date.
void append_own_answer(std::string& text, const OwnAnswer& answer, const http::ClientHop& client,
                       std::string_view date, bool has_body);

/// Adds the fields of such a response for a client of HTTP/2.
void add_own_answer_fields(http::FieldSection& fields, const OwnAnswer& answer,
                           const http::ClientHop& client, std::string_view date);

/// False for a status whose responses have no content (RFC 9110 section 6.4.1).
bool has_content(int status);

}  // namespace weir::proxy
