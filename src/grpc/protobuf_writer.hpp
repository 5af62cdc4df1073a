// Writes messages of Protocol Buffers: varints and length-delimited fields, which is all that
// Weir's messages have ("Encoding" in the documents of Protocol Buffers). Pure; a writer belongs to
// one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::grpc {

/// Appends the fields of one message. A message within it is written to a string of its own first.
class ProtobufWriter {
 public:
  /// `out` outlives the writer.
  explicit ProtobufWriter(std::string& out) : out_(out) {}

  /// A field of type int32, int64, uint32, uint64, bool or enum. 0 is the default of proto3 and is
  /// not written.
  ProtobufWriter& integer(std::uint32_t number, std::int64_t value) {
    if (value == 0) return *this;
    varint(std::uint64_t{number} << 3 | varint_type);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  /// A field of type string, bytes or message. An empty one is written: a message may be present
  /// and empty.
  ProtobufWriter& bytes(std::uint32_t number, std::string_view value) {
    varint(std::uint64_t{number} << 3 | length_delimited_type);
    varint(value.size());
    out_.append(value);
    return *this;
  }

 private:
  static constexpr std::uint64_t varint_type = 0;
  static constexpr std::uint64_t length_delimited_type = 2;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
};

}  // namespace weir::grpc
