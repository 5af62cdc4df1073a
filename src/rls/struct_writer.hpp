// JSON objects as google.protobuf.Struct (google/protobuf/struct.proto). Pure; thread-safe for
// different writers.
#pragma once

#include "grpc/protobuf_writer.hpp"
#include "rls/merged_members.hpp"

namespace weir::rls {

/// Appends the fields of the Struct of these objects, merged. Numbers become the nearest double.
/// Allocates nothing if the writer's string has the capacity.
void write_struct_fields(grpc::ProtobufWriter& to, MergedObjects objects);

}  // namespace weir::rls
