#include "proxy/grpc_message.hpp"

namespace weir::proxy {

std::optional<GrpcBodyFault> read_grpc_message(std::string_view body, std::size_t most,
                                               std::string_view& message) {
  if (body.size() > most + grpc_prefix_size)
    return GrpcBodyFault{grpc::Status::resource_exhausted, "the message is too long"};
  if (body.size() < grpc_prefix_size) return GrpcBodyFault{.reason = "the call has no message"};
  if (body[0] != '\0')
    return GrpcBodyFault{grpc::Status::unimplemented, "compressed messages are not supported"};
  std::size_t size = 0;
  for (std::size_t i = 1; i < grpc_prefix_size; ++i)
    size = size << 8 | static_cast<unsigned char>(body[i]);
  if (body.size() - grpc_prefix_size != size)
    return GrpcBodyFault{.reason = "the call has not exactly one message"};
  message = body.substr(grpc_prefix_size);
  return std::nullopt;
}

void begin_grpc_message(std::string& out) {
  out.assign(grpc_prefix_size, '\0');
}

void end_grpc_message(std::string& out) {
  const std::size_t size = out.size() - grpc_prefix_size;
  for (std::size_t i = 1; i < grpc_prefix_size; ++i)
    out[i] = static_cast<char>(size >> (8 * (grpc_prefix_size - 1 - i)));
}

}  // namespace weir::proxy
