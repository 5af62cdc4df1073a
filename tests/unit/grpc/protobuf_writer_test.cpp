#include "grpc/protobuf_writer.hpp"

#include <limits>

#include "catch.hpp"

namespace weir::grpc {
namespace {

using namespace std::string_view_literals;

// The examples of "Encoding" in the documents of Protocol Buffers.
TEST_CASE("an integer is a varint behind its tag") {
  struct Row {
    std::uint32_t number;
    std::int64_t value;
    std::string_view bytes;
  };
  const Row row = GENERATE(values<Row>({
      {1, 150, "\x08\x96\x01"sv},
      {1, 1, "\x08\x01"sv},
      {1, 127, "\x08\x7f"sv},
      {1, 128, "\x08\x80\x01"sv},
      {16, 1, "\x80\x01\x01"sv},
      {1, -2, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv},
      {1, std::numeric_limits<std::int64_t>::max(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv},
      {1, 0, ""sv},
  }));
  std::string out;
  ProtobufWriter(out).integer(row.number, row.value);
  CHECK(out == row.bytes);
}

TEST_CASE("bytes follow their length") {
  std::string out;
  ProtobufWriter(out).bytes(2, "testing").bytes(3, "");
  CHECK(out == "\x12\x07testing\x1a\x00"sv);
  out.clear();
  ProtobufWriter(out).bytes(1, std::string(300, 'x'));
  CHECK(out == "\x0a\xac\x02" + std::string(300, 'x'));
}

TEST_CASE("a message within a message follows its length") {
  std::string out;
  // "Encoding": Test3 with a Test1 whose integer is 150.
  ProtobufWriter(out).message(3, [](ProtobufWriter& to) { to.integer(1, 150); });
  CHECK(out == "\x1a\x03\x08\x96\x01"sv);
  out = "before";
  ProtobufWriter(out).message(1, [](ProtobufWriter& to) {
    to.bytes(1, std::string(200, 'x')).message(2, [](ProtobufWriter&) {});
  });
  CHECK(out ==
        "before\x0a\xcd\x01\x0a\xc8\x01" + std::string(200, 'x') + std::string("\x12\x00", 2));
}

TEST_CASE("a message is moved if its length needs more than one byte") {
  struct Row {
    std::size_t size;  // of the bytes in the message
    std::string_view length;
  };
  const Row row = GENERATE(values<Row>({
      {0, "\x02"sv},
      {125, "\x7f"sv},
      {126, "\x80\x01"sv},
      {127, "\x81\x01"sv},
      {16'380, "\xff\x7f"sv},
      {16'381, "\x80\x80\x01"sv},
      {2'097'147, "\xff\xff\x7f"sv},
      {2'097'148, "\x80\x80\x80\x01"sv},
  }));
  std::string expected;
  ProtobufWriter(expected).bytes(1, std::string(row.size, 'x'));
  std::string out;
  ProtobufWriter(out).message(1,
                              [&](ProtobufWriter& to) { to.bytes(1, std::string(row.size, 'x')); });
  CHECK(out == "\x0a" + std::string(row.length) + expected);
}

TEST_CASE("defaults are written only where their presence has a meaning") {
  std::string out;
  ProtobufWriter(out).integer(1, 0).text(2, "");
  CHECK(out.empty());
  ProtobufWriter(out).present_integer(1, 0).present_double(2, 0).text(3, "x");
  CHECK(out == "\x08\x00\x11\x00\x00\x00\x00\x00\x00\x00\x00\x1a\x01x"sv);
}

TEST_CASE("a double is its eight bytes, the lowest first") {
  std::string out;
  ProtobufWriter(out).present_double(2, 1.5).present_double(2, -2);
  CHECK(out == "\x11\x00\x00\x00\x00\x00\x00\xf8\x3f\x11\x00\x00\x00\x00\x00\x00\x00\xc0"sv);
}

}  // namespace
}  // namespace weir::grpc
