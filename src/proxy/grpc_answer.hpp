// The responses that Weir generates itself, in the terms of gRPC: HTTP status 200, and the outcome
// in grpc-status and grpc-message, all in the head ("Trailers-Only" of "gRPC over HTTP2"). Pure:
// the text is built in a scratch that the caller passes, and the answer views it.
#pragma once

#include <string>

#include "http/field_section.hpp"
#include "options/proxy.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

/// The memory of an answer, which keeps its capacity.
struct GrpcScratch {
  http::FieldSection fields;
  std::string message;
  std::string details;
};

/// The same answer for a gRPC call. `answer` has a status from 400 on.
///
/// The code is answer.grpc_status, else the configured one of a denial, else that of the HTTP
/// status, as a client would find it. The message is the detail of the answer, else its body if
/// that is short plain text, else a sentence about the denial or the phrase of the HTTP status. An
/// answer with Retry-After also has grpc-retry-pushback-ms, which clients of gRPC obey, and
/// google.rpc.RetryInfo, which clients of OTLP obey; a denial of a call that can never succeed has
/// a negative pushback: do not retry (gRPC proposal A6).
OwnAnswer grpc_answer(const OwnAnswer& answer, const DecisionRecord& decision,
                      const options::Grpc& options, GrpcScratch& scratch);

}  // namespace weir::proxy
