// The metadata of limits, and the dynamic metadata of a response that it is part of: an object with
// the policy that denied and the metadata of the limits that admitted.
//
// Metadata is encoded when the configuration is loaded, so a response copies bytes. Only metadata
// of several limits that differ is merged, member by member, from the trees. Pure; thread-safe for
// different arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/appender.hpp"
#include "grpc/protobuf_writer.hpp"
#include "json/read.hpp"

namespace weir::rls {

/// The metadata of a limit. Read-only once made.
struct Metadata {
  std::string json;    ///< an object; empty: no metadata
  std::string fields;  ///< those of its google.protobuf.Struct
  json::Value tree;
};

/// Encodes a JSON object. Returns no metadata for another text, or one beyond the default limits of
/// json::read(), which the configuration does not have.
Metadata encoded_metadata(std::string_view json);

/// The dynamic metadata of a response. Views the configuration.
struct DynamicMetadata {
  std::string_view policy{};              ///< that denied; empty: none
  std::vector<const Metadata*> limits{};  ///< at most limiter::limits_per_route, all different

  bool empty() const { return policy.empty() && limits.empty(); }
  void clear();
  /// Adds the metadata of a limit, unless an earlier limit has the same. Objects of the same name
  /// are merged; of other values the first one counts.
  void add(const Metadata& metadata);
};

// Allocate nothing if the string has the capacity.

/// Appends the JSON object.
void append_json(Appender& out, const DynamicMetadata& metadata);
/// Appends the field `number` with the google.protobuf.Struct.
void write_struct(grpc::ProtobufWriter& to, std::uint32_t number, const DynamicMetadata& metadata);

}  // namespace weir::rls
