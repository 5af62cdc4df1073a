// Reads messages of Protocol Buffers ("Encoding" in the documents of Protocol Buffers) that others
// have sent. Decides as libprotobuf does for a message of proto3, except that it refuses groups,
// which proto3 does not have, and a field whose wire type is not that of its type, which
// libprotobuf takes for an unknown field.
//
// Reads each byte once and allocates nothing; the texts that it returns are views of the message.
// The depth of the recursion is that of the callbacks: a field that has none is skipped as bytes.
// Pure; a reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.hpp"

namespace weir::grpc {

/// Reads the fields of a message in their order. A repeated field is returned once for each value.
/// A field that appears again replaces its value, and the caller's callback for a message that
/// appears again merges the two.
class ProtobufReader {
 public:
  /// `message` outlives the reader and all that it returns.
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  /// Calls `read(reader)` for each field of `message` until one is not valid. `read` switches on
  /// number(), calls at most one of the functions below number(), and ignores unknown numbers.
  /// Returns why the message is not valid; empty if it is.
  template <class Read>
  static std::string_view read_fields(std::string_view message, Read read) {
    ProtobufReader reader(message);
    while (reader.next())
      read(reader);
    return reader.error_;
  }

  /// The number of the current field.
  std::uint32_t number() const { return number_; }

  /// A field of type int64 or uint64.
  void integer(std::uint64_t& to) {
    if (has_type(WireType::varint)) to = integer_;
  }
  /// A field of type uint32. Higher bits are ignored, as the documents require.
  void integer(std::uint32_t& to) {
    if (has_type(WireType::varint)) to = static_cast<std::uint32_t>(integer_);
  }
  void boolean(bool& to) {
    if (has_type(WireType::varint)) to = integer_ != 0;
  }
  /// A field of an enumeration whose numbers are 0 to `count` - 1. proto3 keeps any other number;
  /// here it is 0, the unknown value.
  template <class Enumeration>
  void enumerator(Enumeration& to, std::size_t count) {
    std::uint32_t value = 0;
    integer(value);
    if (error_.empty()) to = static_cast<Enumeration>(value < count ? value : 0);
  }
  /// A field of type string.
  void text(std::string_view& to) {
    if (!has_type(WireType::length_delimited)) return;
    if (is_utf8(bytes_))
      to = bytes_;
    else
      fail("a string is not valid UTF-8");
  }
  /// A field of type bytes.
  void bytes(std::string_view& to) {
    if (has_type(WireType::length_delimited)) to = bytes_;
  }
  /// A field with a message, whose fields `read` reads.
  template <class Read>
  void message(Read read) {
    if (has_type(WireType::length_delimited)) fail(read_fields(bytes_, read));
  }

  /// Refuses the message for a reason of the caller, a text that outlives the reader; empty: none.
  void fail(std::string_view reason) {
    if (error_.empty()) error_ = reason;
  }

 private:
  enum class WireType : std::uint8_t {
    varint = 0,
    eight_bytes = 1,
    length_delimited = 2,
    group_start = 3,
    group_end = 4,
    four_bytes = 5,
  };

  static constexpr std::size_t longest_varint = 10;
  /// The longest form of 32 bits, which tags and lengths have.
  static constexpr std::size_t longest_short_varint = 5;
  static constexpr std::uint64_t highest_tag = 0xffff'ffff;
  static constexpr std::uint64_t longest_length = 0x7fff'ffff;

  /// Reads the next field. Returns false at the end of the message, and if it is not valid.
  bool next() {
    if (rest_.empty() || !error_.empty()) return false;
    const std::uint64_t tag = varint(longest_short_varint, "a tag is longer than 5 bytes");
    if (!error_.empty()) return false;
    number_ = static_cast<std::uint32_t>(tag >> 3);
    if (number_ == 0 || tag > highest_tag)
      fail("a field number is not between 1 and 536870911");
    else
      value(static_cast<WireType>(tag & 7));
    return error_.empty();
  }

  void value(WireType type) {
    type_ = type;
    switch (type) {
      case WireType::varint:
        integer_ = varint(longest_varint, "a varint is longer than 10 bytes");
        return;
      case WireType::eight_bytes:
        take(8);
        return;
      case WireType::four_bytes:
        take(4);
        return;
      case WireType::length_delimited: {
        const std::uint64_t length =
            varint(longest_short_varint, "a length is longer than 5 bytes");
        bytes_ = take(length > longest_length ? rest_.size() + 1 : length);
        return;
      }
      case WireType::group_start:
      case WireType::group_end:
        fail("a field is a group, which is not supported");
        return;
    }
    fail("a wire type is 6 or 7, which do not exist");
  }

  /// Bits above the 64th are dropped, as libprotobuf does.
  std::uint64_t varint(std::size_t longest, std::string_view too_long) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < longest; ++i) {
      if (i == rest_.size()) {
        fail("the message ends within a varint");
        return 0;
      }
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= std::uint64_t{byte & 0x7fU} << 7 * i;
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    fail(too_long);
    return 0;
  }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      fail("a field ends beyond the end of its message");
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  bool has_type(WireType type) {
    if (type_ == type) return true;
    fail("the wire type of a field is not that of its type");
    return false;
  }

  std::string_view rest_;
  std::string_view error_{};
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t integer_ = 0;  ///< the value, if the wire type is varint
  std::string_view bytes_{};   ///< the value, if it is length_delimited
};

}  // namespace weir::grpc
