#include "rls/protobuf_messages.hpp"

#include <chrono>

#include "grpc/protobuf_reader.hpp"
#include "grpc/protobuf_writer.hpp"
#include "rls/descriptor_reader.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufReader;
using grpc::ProtobufWriter;

/// google.protobuf.Duration
void write_duration(ProtobufWriter& to, Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  const std::chrono::nanoseconds rest = duration - seconds;
  to.integer(1, seconds.count()).integer(2, rest.count());
}

/// RateLimitResponse.DescriptorStatus
void write_status(ProtobufWriter& to, const DescriptorStatus& status) {
  to.integer(1, static_cast<std::int64_t>(status.code));
  if (status.current_limit) {
    const CurrentLimit& limit = *status.current_limit;
    to.message(2, [&](ProtobufWriter& writer) {  // RateLimitResponse.RateLimit
      writer.integer(1, limit.requests_per_unit)
          .integer(2, static_cast<std::int64_t>(limit.unit))
          .text(3, limit.name);
    });
  }
  to.integer(3, status.limit_remaining);
  if (status.duration_until_reset) {
    to.message(
        4, [&](ProtobufWriter& writer) { write_duration(writer, *status.duration_until_reset); });
  }
}

}  // namespace

std::string_view read_protobuf(std::string_view message, Request& to) {
  to.clear();
  if (message.size() > most_message_bytes) return "the request is longer than 65536 bytes";
  return ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    if (field.number() == 1) field.text(to.domain);
    if (field.number() == 2) read_descriptor(field, to);
    if (field.number() == 3) field.integer(to.hits_addend);
  });
}

void append_protobuf(std::string& out, const Response& response) {
  ProtobufWriter writer(out);
  writer.integer(1, static_cast<std::int64_t>(response.overall_code));
  for (const DescriptorStatus& status : response.statuses)
    writer.message(2, [&](ProtobufWriter& to) { write_status(to, status); });
  for (const http::Field field : response.response_headers_to_add) {
    // envoy.config.core.v3.HeaderValue
    writer.message(3, [&](ProtobufWriter& to) { to.text(1, field.name).text(2, field.value); });
  }
  if (!response.dynamic_metadata.empty()) write_struct(writer, 6, response.dynamic_metadata);
}

}  // namespace weir::rls
