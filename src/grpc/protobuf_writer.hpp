// Writes messages of Protocol Buffers: varints and length-delimited fields, which is all that
// Weir's messages have ("Encoding" in the documents of Protocol Buffers). Pure; a writer belongs to
// one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::grpc {

/// Appends the fields of a message.
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
  /// A field of type string or bytes. An empty one is written.
  ProtobufWriter& bytes(std::uint32_t number, std::string_view value) {
    varint(std::uint64_t{number} << 3 | length_delimited_type);
    varint(value.size());
    out_.append(value);
    return *this;
  }

  /// A field with a message, whose fields `write` appends to the same writer.
  template <class Write>
  ProtobufWriter& message(std::uint32_t number, Write write) {
    varint(std::uint64_t{number} << 3 | length_delimited_type);
    const std::size_t begin = out_.size();
    write(*this);
    // The length is in front of the message and known behind it.
    std::string length;
    ProtobufWriter(length).varint(out_.size() - begin);
    out_.insert(begin, length);
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
