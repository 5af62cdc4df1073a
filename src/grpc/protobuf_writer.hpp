// Writes messages of Protocol Buffers: varints, doubles and length-delimited fields, which is all
// that Weir's messages have ("Encoding" in the documents of Protocol Buffers). Allocates nothing
// if the string has the capacity. Pure; a writer belongs to one thread.
#pragma once

#include <bit>
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
    return value == 0 ? *this : present_integer(number, value);
  }
  /// The same, but 0 is written: for a member of a oneof, whose presence has a meaning.
  ProtobufWriter& present_integer(std::uint32_t number, std::int64_t value) {
    varint(std::uint64_t{number} << 3 | varint_type);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  /// A field of type double. 0 is written.
  ProtobufWriter& present_double(std::uint32_t number, double value) {
    varint(std::uint64_t{number} << 3 | eight_bytes_type);
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8)  // little-endian on every machine
      out_.push_back(static_cast<char>(bits));
    return *this;
  }
  /// A field of type string. The empty text is the default of proto3 and is not written.
  ProtobufWriter& text(std::uint32_t number, std::string_view value) {
    return value.empty() ? *this : bytes(number, value);
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
    // The length is in front of the message and known behind it. Most need one byte.
    const std::size_t begin = out_.size();
    out_.push_back('\0');
    write(*this);
    set_length(begin, out_.size() - begin - 1);
    return *this;
  }

 private:
  static constexpr std::uint64_t varint_type = 0;
  static constexpr std::uint64_t eight_bytes_type = 1;
  static constexpr std::uint64_t length_delimited_type = 2;

  /// Writes the length of the message that follows the byte at `place`.
  void set_length(std::size_t place, std::size_t length) {
    if (const std::size_t more = varint_size(length) - 1; more > 0) out_.insert(place, more, '\0');
    for (; length >= 0x80; length >>= 7)
      out_[place++] = static_cast<char>(length | 0x80);
    out_[place] = static_cast<char>(length);
  }
  static constexpr std::size_t varint_size(std::uint64_t value) {
    std::size_t size = 1;
    for (; value >= 0x80; value >>= 7)
      ++size;
    return size;
  }

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
};

}  // namespace weir::grpc
