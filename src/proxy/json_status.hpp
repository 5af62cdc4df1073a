// The HTTP status of a call of the rate limit service that does not use gRPC (POST /json).
#pragma once

#include "grpc/status.hpp"

namespace weir::proxy {

int json_status_of(grpc::Status status);

}  // namespace weir::proxy
