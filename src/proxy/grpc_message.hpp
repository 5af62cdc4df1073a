// The frame of a message of gRPC: whether it is compressed, and its length in 4 bytes ("Length-
// Prefixed-Message" of "gRPC over HTTP2"). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "grpc/status.hpp"

namespace weir::proxy {

inline constexpr std::size_t grpc_prefix_size = 5;

/// Why the body of a call is not one message.
struct GrpcBodyFault {
  grpc::Status status = grpc::Status::invalid_argument;
  std::string_view reason;
};

/// Takes the only message out of the body of a call; `most`: the bytes that it may have.
std::optional<GrpcBodyFault> read_grpc_message(std::string_view body, std::size_t most,
                                               std::string_view& message);

/// Begins a message in an empty `out`; its content is appended before end_grpc_message().
void begin_grpc_message(std::string& out);
void end_grpc_message(std::string& out);

}  // namespace weir::proxy
