#include "grpc/protobuf_reader.hpp"

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::grpc {
namespace {

using namespace std::string_view_literals;

enum class Fruit : std::uint8_t { unknown, apple, pear };

/// A message with a field of each type. A message within it has the same fields.
struct Example {
  std::uint64_t wide = 0;        // 1
  std::uint32_t narrow = 0;      // 2
  bool flag = false;             // 3
  std::string_view text{};       // 4
  std::string_view bytes{};      // 5
  std::uint64_t inner = 0;       // 1 within 6
  Fruit fruit = Fruit::unknown;  // 7
  friend bool operator==(const Example&, const Example&) = default;
};

std::string_view read(std::string_view message, Example& to) {
  return ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    switch (field.number()) {
      case 1:
        return field.integer(to.wide);
      case 2:
        return field.integer(to.narrow);
      case 3:
        return field.boolean(to.flag);
      case 4:
        return field.text(to.text);
      case 5:
        return field.bytes(to.bytes);
      case 6:
        return field.message([&](ProtobufReader& inner) {
          if (inner.number() == 1) inner.integer(to.inner);
        });
      case 7:
        return field.enumerator(to.fruit, 3);
      default:
        return;
    }
  });
}

TEST_CASE("a valid message is read") {
  struct Row {
    std::string_view message;
    Example expected;
  };
  const Row rows[] = {
      {""sv, {}},
      // varints
      {"\x08\x96\x01"sv, {.wide = 150}},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, {.wide = ~std::uint64_t{0}}},
      {"\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"sv, {.wide = 1}},  // longer than necessary
      {"\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x7e"sv, {.wide = 1}},  // bits above the 64th
      {"\x10\xff\xff\xff\xff\x0f"sv, {.narrow = 0xffff'ffff}},
      {"\x10\x85\x80\x80\x80\x10"sv, {.narrow = 5}},  // bits above the 32nd
      {"\x18\x01"sv, {.flag = true}},
      {"\x18\x80\x80\x80\x80\x10"sv, {.flag = true}},  // 2^32
      {"\x18\x01\x18\x00"sv, {}},
      // the last one wins
      {"\x08\x01\x08\x02"sv, {.wide = 2}},
      {"\x22\x01\x61\x22\x01\x62"sv, {.text = "b"}},
      {"\x22\x01\x61\x22\x00"sv, {}},
      // text and bytes
      {"\x22\x03\x61\x00\x62"sv, {.text = "a\0b"sv}},
      {"\x22\x04\xf0\x9f\x98\x80"sv, {.text = "\U0001F600"}},
      {"\x2a\x02\xff\xfe"sv, {.bytes = "\xff\xfe"}},
      {"\x2a\x81\x80\x80\x80\x00\x61"sv, {.bytes = "a"}},  // a length of 5 bytes
      // a message, which may appear in parts
      {"\x32\x00"sv, {}},
      {"\x32\x02\x08\x07"sv, {.inner = 7}},
      {"\x32\x02\x08\x07\x32\x02\x10\x01"sv, {.inner = 7}},
      // enumerations
      {"\x38\x02"sv, {.fruit = Fruit::pear}},
      {"\x38\x03"sv, {}},
      {"\x38\x02\x38\x03"sv, {}},
      {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, {}},  // -1
      {"\x38\x82\x80\x80\x80\x10"sv, {.fruit = Fruit::pear}},  // the lower 32 bits are 2
      // unknown fields of each wire type
      {"\x78\xff\xff\x03\x08\x01"sv, {.wide = 1}},
      {"\x79\x01\x02\x03\x04\x05\x06\x07\x08\x08\x01"sv, {.wide = 1}},
      {"\x7a\x02\xff\xff\x08\x01"sv, {.wide = 1}},
      {"\x7d\x01\x02\x03\x04\x08\x01"sv, {.wide = 1}},
      {"\xf8\xff\xff\xff\x0f\x05\x08\x01"sv, {.wide = 1}},  // the highest number
      {"\x88\x80\x80\x80\x00\x01"sv, {.wide = 1}},          // a tag of 5 bytes
  };
  for (const Row& row : rows) {
    const std::string_view bytes = row.message;
    CAPTURE(std::vector<int>(bytes.begin(), bytes.end()));
    Example read_example;
    CHECK(read(row.message, read_example) == ""sv);
    CHECK(read_example == row.expected);
  }
}

TEST_CASE("a message that is not valid is refused with the reason") {
  struct Row {
    std::string_view message;
    std::string_view reason;
  };
  constexpr auto truncated = "the message ends within a varint"sv;
  constexpr auto beyond = "a field ends beyond the end of its message"sv;
  constexpr auto number = "a field number is not between 1 and 536870911"sv;
  constexpr auto other_type = "the wire type of a field is not that of its type"sv;
  constexpr auto group = "a field is a group, which is not supported"sv;
  const Row rows[] = {
      {"\x08"sv, truncated},
      {"\x88"sv, truncated},
      {"\x08\xff"sv, truncated},
      {"\x22"sv, truncated},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv, truncated},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00"sv, "a varint is longer than 10 bytes"},
      {"\x88\x80\x80\x80\x80\x00\x01"sv, "a tag is longer than 5 bytes"},
      {"\x2a\x81\x80\x80\x80\x80\x00\x61"sv, "a length is longer than 5 bytes"},
      {"\x22\x01"sv, beyond},
      {"\x22\x02\x61"sv, beyond},
      {"\x22\xff\xff\xff\xff\x0f\x61"sv, beyond},
      {"\x22\x80\x80\x80\x80\x10"sv, beyond},  // 2^32, which is not 0
      {"\x79\x01\x02\x03\x04\x05\x06\x07"sv, beyond},
      {"\x7d\x01\x02\x03"sv, beyond},
      {"\x32\x02\x08"sv, beyond},
      {"\x32\x01\x08\x01"sv, truncated},  // the integer is not within the message
      {"\x32\x03\x22\x02\x61\x62"sv, beyond},
      {"\x00\x01"sv, number},
      {"\x02\x00"sv, number},
      {"\x88\x80\x80\x80\x10\x01"sv, number},
      {"\x0a\x01\x61"sv, other_type},
      {"\x12\x00"sv, other_type},
      {"\x1d\x01\x02\x03\x04"sv, other_type},
      {"\x20\x01"sv, other_type},
      {"\x29\x01\x02\x03\x04\x05\x06\x07\x08"sv, other_type},
      {"\x30\x01"sv, other_type},
      {"\x3a\x01\x01"sv, other_type},  // packed
      {"\x7b\x7c"sv, group},
      {"\x7c"sv, group},
      {"\x32\x01\x7c"sv, group},
      {"\x0e\x01"sv, "a wire type is 6 or 7, which do not exist"},
      {"\x0f\x01"sv, "a wire type is 6 or 7, which do not exist"},
      {"\x22\x01\x80"sv, "a string is not valid UTF-8"},
      {"\x22\x03\xed\xa0\x80"sv, "a string is not valid UTF-8"},
      {"\x22\x01\x80\x22\x00"sv, "a string is not valid UTF-8"},  // also if it is replaced
  };
  for (const Row& row : rows) {
    const std::string_view bytes = row.message;
    CAPTURE(std::vector<int>(bytes.begin(), bytes.end()));
    // Nothing behind the message is read: AddressSanitizer sees its end.
    const std::vector<char> exact(bytes.begin(), bytes.end());
    Example ignored;
    CHECK(read({exact.data(), exact.size()}, ignored) == row.reason);
  }
}

TEST_CASE("a prefix of a message is refused, unless it ends between two fields") {
  std::string message;
  std::vector<std::size_t> ends{0};
  ProtobufWriter writer(message);
  const auto end_field = [&] { ends.push_back(message.size()); };
  writer.integer(1, 300), end_field();
  writer.bytes(4, std::string(130, 'x')), end_field();
  writer.message(6, [](ProtobufWriter& to) { to.integer(1, 1).bytes(2, "unknown"); }), end_field();
  writer.present_double(20, 1), end_field();
  for (std::size_t size = 0; size <= message.size(); ++size) {
    const std::string_view prefix = std::string_view(message).substr(0, size);
    const bool is_whole = std::ranges::find(ends, size) != ends.end();
    CAPTURE(size);
    const std::string_view reason = ProtobufReader::read_fields(prefix, [](ProtobufReader&) {});
    CHECK(reason.empty() == is_whole);
  }
}

TEST_CASE("a caller refuses a message for a reason of its own") {
  int fields = 0;
  CHECK(ProtobufReader::read_fields("\x08\x01\x08\x02\x08\x03"sv, [&](ProtobufReader& field) {
          if (++fields == 2) field.fail("too many");
          field.fail("a later reason");
        }) == "a later reason");
  CHECK(fields == 1);
  CHECK(ProtobufReader::read_fields("\x0a\x02\x08\x01"sv, [](ProtobufReader& field) {
          field.message([](ProtobufReader& inner) { inner.fail("inner"); });
        }) == "inner");
}

}  // namespace
}  // namespace weir::grpc
