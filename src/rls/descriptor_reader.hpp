// Reads the descriptors of requests. Private to this room.
#pragma once

#include "grpc/protobuf_reader.hpp"
#include "rls/messages.hpp"

namespace weir::rls {

/// Reads a RateLimitDescriptor and adds it to the request.
void read_descriptor(grpc::ProtobufReader& from, Request& to);

}  // namespace weir::rls
