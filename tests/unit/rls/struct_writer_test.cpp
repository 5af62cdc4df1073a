#include "rls/struct_writer.hpp"

#include <string>

#include "catch.hpp"

namespace weir::rls {
namespace {

using namespace std::string_view_literals;

std::string written(std::string_view object) {
  const auto root = json::read(object, {});
  const json::Value* const objects[] = {&*root};
  std::string out;
  grpc::ProtobufWriter to(out);
  to.message(6, [&](grpc::ProtobufWriter& writer) { write_struct_fields(writer, objects); });
  return out;
}

TEST_CASE("an object is written as google.protobuf.Struct") {
  struct Row {
    std::string_view object;
    std::string_view bytes;
  };
  const Row rows[] = {
      {"{}"sv, "\x32\x00"sv},
      {R"({"k":null})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x08\x00"sv},
      {R"({"k":false})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x20\x00"sv},
      {R"({"k":true})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x20\x01"sv},
      {R"({"k":""})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00"sv},
      {R"({"":"v"})"sv, "\x32\x09\x0a\x07\x0a\x00\x12\x03\x1a\x01v"sv},
      {R"({"k":{}})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x2a\x00"sv},
      {R"({"k":[]})"sv, "\x32\x09\x0a\x07\x0a\x01k\x12\x02\x32\x00"sv},
      {R"({"k":[null,"v"]})"sv,
       "\x32\x12\x0a\x10\x0a\x01k\x12\x0b\x32\x09\x0a\x02\x08\x00\x0a\x03\x1a\x01v"sv},
      {R"({"k":1.5})"sv, "\x32\x10\x0a\x0e\x0a\x01k\x12\x09\x11\x00\x00\x00\x00\x00\x00\xf8\x3f"sv},
      {R"({"k":-2})"sv, "\x32\x10\x0a\x0e\x0a\x01k\x12\x09\x11\x00\x00\x00\x00\x00\x00\x00\xc0"sv},
      {R"({"k":1e-999})"sv,
       "\x32\x10\x0a\x0e\x0a\x01k\x12\x09\x11\x00\x00\x00\x00\x00\x00\x00\x00"sv},
      {R"({"k":{"l":true}})"sv,
       "\x32\x12\x0a\x10\x0a\x01k\x12\x0b\x2a\x09\x0a\x07\x0a\x01l\x12\x02\x20\x01"sv},
  };
  for (const Row& row : rows) {
    CAPTURE(row.object);
    CHECK(written(row.object) == row.bytes);
  }
}

TEST_CASE("several objects are written as one") {
  const auto first = json::read(R"({"k":{"a":null}})", {});
  const auto second = json::read(R"({"k":{"b":null}})", {});
  const json::Value* const objects[] = {&*first, &*second};
  std::string out;
  grpc::ProtobufWriter to(out);
  to.message(6, [&](grpc::ProtobufWriter& writer) { write_struct_fields(writer, objects); });
  CHECK(out == written(R"({"k":{"a":null,"b":null}})"));
}

}  // namespace
}  // namespace weir::rls
