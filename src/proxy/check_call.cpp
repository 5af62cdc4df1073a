#include "proxy/check_call.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ip_address.hpp"
#include "decision/header_list_inspection.hpp"
#include "grpc/fields.hpp"
#include "http/characters.hpp"
#include "proxy/grpc_message.hpp"
#include "proxy/own_answers.hpp"
#include "rls/messages.hpp"

namespace weir::proxy {
namespace {

constexpr http::Refusal no_request{400, "the message describes no request"};
constexpr http::Refusal bad_field{400, "a header of the message cannot be one of HTTP"};

/// Fields that have no meaning for the request of the message: those about the connection of the
/// client, which Envoy keeps for a WebSocket, and those with which a proxy describes another
/// request or reports its end. A client could send the latter through a trusted proxy.
constexpr std::string_view ignored_names[] = {
    "connection",      "proxy-connection",   "keep-alive",       "te",
    "upgrade",         "transfer-encoding",  "x-original-uri",   "x-original-method",
    "x-forwarded-uri", "x-forwarded-method", "x-forwarded-host", "weir-hold"};

bool is_ignored(std::string_view name) {
  return std::ranges::find(ignored_names, name) != std::end(ignored_names);
}

bool is_field(const http::Field& field) {
  return http::is_token(field.name) && http::is_field_value(field.value);
}

/// The status of the call for a denial, besides its response.
grpc::Status denial_status_of(int http_status) {
  if (http_status == 429) return grpc::Status::resource_exhausted;
  if (http_status == 401) return grpc::Status::unauthenticated;
  return grpc::Status::permission_denied;
}

}  // namespace

std::optional<http::Refusal> CheckCall::read(std::string message,
                                             const identity::ClientAddressOptions& settings) {
  other_view_ = std::exchange(request_.view, {});
  other_fields_ = std::exchange(request_.fields, {});
  other_is_grpc_call_ = std::exchange(request_.is_grpc_call, false);
  request_.traceparent = {};
  request_.continues_trace = false;
  message_ = std::move(message);
  if (message_.size() > rls::most_message_bytes) return http::head_too_large;
  if (const auto reason = rls::read_protobuf(message_, check_); !reason.empty())
    return http::Refusal{400, reason};
  if (check_.method.empty() || check_.path.empty()) return no_request;
  head_.begin(rls::most_message_bytes);
  const http::Field pseudo[] = {{":method", check_.method},
                                {":scheme", check_.scheme.empty() ? "http" : check_.scheme},
                                {":authority", check_.host},
                                {":path", check_.path}};
  for (const http::Field& field : pseudo) {
    if (!http::is_field_value(field.value)) return bad_field;
    if (!field.value.empty()) head_.add(field.name, field.value);
  }
  std::string name;
  for (const http::Field& field : check_.headers) {
    if (field.name.starts_with(':')) continue;  // as the attributes of the message
    if (!is_field(field)) return bad_field;
    name.assign(field.name);
    for (char& c : name)
      c = http::to_lower(c);
    if (!is_ignored(name)) head_.add(name, field.value);
  }
  if (request_.peer_is_trusted) {
    if (const auto source = IpAddress::parse(check_.source_address)) {
      request_.peer = *source;
      request_.peer_is_trusted = identity::is_trusted(settings, *source);
    }
  }
  return std::nullopt;
}

std::optional<http::Refusal> CheckCall::inspect(const decision::RequestRules& rules) {
  auto refusal = decision::inspect_header_list(rules, head_, false, request_);
  request_.view.version_major = request_.view.version_minor = 1;  // answered as one without gRPC
  return refusal;
}

void CheckCall::swap_requests() {
  std::swap(request_.view, other_view_);
  std::swap(request_.fields, other_fields_);
  std::swap(request_.is_grpc_call, other_is_grpc_call_);
}

/// A configured denial may have the status 503, too.
bool CheckCall::is_undecided() const {
  return decision_.outcome == limiter::Outcome::failed ||
         decision_.outcome == limiter::Outcome::token_unverifiable;
}

void CheckCall::fill(const OwnAnswer& answer) {
  response_.clear();
  if (answer.status < 300) {
    response_.response_headers.add(*answer.limit_fields);
    response_.request_headers.add(*answer.fields);
    return;
  }
  response_.status = denial_status_of(answer.status);
  response_.message = answer.detail;
  response_.http_status = static_cast<std::uint32_t>(answer.status);
  response_.body = answer.body;
  http::FieldSection all;
  add_own_answer_fields(all, answer, {.limit_fields = answer.limit_fields}, {});
  for (const http::Field field : all) {
    const bool is_of_proxy =
        http::iequals(field.name, "date") || http::iequals(field.name, "content-length");
    if (!is_of_proxy) response_.response_headers.add(field.name, field.value);
  }
}

loop::Task<> CheckCall::answer(OwnAnswer answer) {
  status_ = answer.status;
  has_begun_ = true;
  swap_requests();
  if (is_undecided()) {
    answer.grpc_status = grpc::Status::unavailable;
    const OwnAnswer unavailable = grpc_answer(answer, decision_, {}, grpc_);
    co_await call_.answer(unavailable);
  } else {
    fill(answer);
    begin_grpc_message(body_);
    rls::append_protobuf(body_, response_);
    end_grpc_message(body_);
    trailers_.clear();
    trailers_.add("grpc-status", "0");
    co_await call_.answer(
        {.status = 200, .content_type = grpc::content_type, .body = body_, .trailers = &trailers_});
  }
  bytes_sent_ = call_.bytes_sent();
  swap_requests();
}

}  // namespace weir::proxy
