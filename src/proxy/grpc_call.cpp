#include "proxy/grpc_call.hpp"

#include "grpc/fields.hpp"

namespace weir::proxy {

bool has_grpc_content(const http::RequestView& request) {
  const auto* const type = request.find(http::FieldId::content_type);
  return type != nullptr && grpc::is_grpc(type->value);
}

std::optional<Instant> deadline_of(const http::ReceivedRequest& request, Instant begin) {
  if (!request.is_grpc_call) return std::nullopt;
  const auto* const field = request.view.find("grpc-timeout");
  const auto timeout = field == nullptr ? std::nullopt : grpc::parse_timeout(field->value);
  return timeout ? std::optional(begin + *timeout) : std::nullopt;
}

bool is_late(const http::ReceivedRequest& request, Instant begin, Instant now) {
  const auto deadline = deadline_of(request, begin);
  return deadline && *deadline <= now;
}

std::optional<int> grpc_status_of(const Responder& responder) {
  const auto status = responder.grpc_status();
  return status ? std::optional(grpc::code_of(*status)) : std::nullopt;
}

}  // namespace weir::proxy
