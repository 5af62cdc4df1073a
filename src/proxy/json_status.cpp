#include "proxy/json_status.hpp"

namespace weir::proxy {

int json_status_of(grpc::Status status) {
  switch (status) {
    case grpc::Status::unknown:
    case grpc::Status::invalid_argument:
      return 400;
    case grpc::Status::not_found:
      return 404;
    case grpc::Status::resource_exhausted:
      return 413;
    case grpc::Status::unimplemented:
      return 501;
    case grpc::Status::deadline_exceeded:
      return 504;
    default:
      return 503;
  }
}

}  // namespace weir::proxy
