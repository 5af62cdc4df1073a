// A JSON object as google.protobuf.Struct (google/protobuf/struct.proto). Pure; thread-safe for
// different writers.
#pragma once

#include <cstdint>
#include <string_view>

#include "grpc/protobuf_writer.hpp"

namespace weir::rls {

/// Appends the field `number` with the Struct of `object`: JSON text within the default limits of
/// json::read(). Appends nothing if the text is not such an object. Numbers become the nearest
/// double.
void write_struct(grpc::ProtobufWriter& to, std::uint32_t number, std::string_view object);

}  // namespace weir::rls
