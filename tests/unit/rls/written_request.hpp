// A request as Protocol Buffers, as a client writes it.
#pragma once

#include <cstdint>
#include <string>

#include "grpc/protobuf_writer.hpp"
#include "rls/messages.hpp"

namespace weir::rls {

inline void write_descriptor(grpc::ProtobufWriter& to, const Request& request,
                             const Descriptor& descriptor) {
  for (const Entry& entry : request.entries_of(descriptor)) {
    to.message(
        1, [&](grpc::ProtobufWriter& writer) { writer.text(1, entry.key).text(2, entry.value); });
  }
  if (descriptor.limit) {
    to.message(2, [&](grpc::ProtobufWriter& writer) {
      writer.integer(1, descriptor.limit->requests_per_unit)
          .integer(2, static_cast<std::int64_t>(descriptor.limit->unit));
    });
  }
  if (descriptor.hits_addend) {
    to.message(3, [&](grpc::ProtobufWriter& writer) {
      writer.integer(1, static_cast<std::int64_t>(*descriptor.hits_addend));
    });
  }
  to.integer(4, descriptor.is_negative_hits ? 1 : 0);
}

inline std::string written(const Request& request) {
  std::string out;
  grpc::ProtobufWriter to(out);
  to.text(1, request.domain);
  for (const Descriptor& descriptor : request.descriptors) {
    to.message(
        2, [&](grpc::ProtobufWriter& writer) { write_descriptor(writer, request, descriptor); });
  }
  to.integer(3, request.hits_addend);
  return out;
}

}  // namespace weir::rls
