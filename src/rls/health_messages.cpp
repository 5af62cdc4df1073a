#include "rls/health_messages.hpp"

#include <algorithm>
#include <iterator>

#include "grpc/protobuf_reader.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::rls {

std::string_view read_protobuf(std::string_view message, HealthCheckRequest& to) {
  to = {};
  return grpc::ProtobufReader::read_fields(message, [&](grpc::ProtobufReader& field) {
    if (field.number() == 1) field.text(to.service);
  });
}

void append_protobuf(std::string& out, ServingStatus status) {
  grpc::ProtobufWriter(out).integer(1, static_cast<std::int64_t>(status));
}

ServingStatus status_of(std::string_view service, bool stopping) {
  constexpr std::string_view known[] = {"", "ratelimit",
                                        "envoy.service.ratelimit.v3.RateLimitService",
                                        "kuadrant.service.ratelimit.v1.RateLimitService"};
  if (std::ranges::find(known, service) == std::end(known)) return ServingStatus::service_unknown;
  return stopping ? ServingStatus::not_serving : ServingStatus::serving;
}

}  // namespace weir::rls
