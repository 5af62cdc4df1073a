#include "rls/struct_writer.hpp"

#include <charconv>
#include <string>

#include "json/read.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufWriter;

void write_fields(ProtobufWriter& to, const json::Value& object);

double double_of(const std::string& digits) {
  double number = 0;  // also of a number that is too small for a double
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// google.protobuf.Value: a oneof, so a default is written, too. The recursion is as deep as
/// json::read() allows.
void write_value(ProtobufWriter& to, const json::Value& value) {
  switch (value.kind) {
    case json::Kind::null:
      to.present_integer(1, 0);
      return;
    case json::Kind::number:
      to.present_double(2, double_of(value.text));
      return;
    case json::Kind::string:
      to.bytes(3, value.text);
      return;
    case json::Kind::boolean:
      to.present_integer(4, value.text == "true" ? 1 : 0);
      return;
    case json::Kind::object:
      to.message(5, [&](ProtobufWriter& writer) { write_fields(writer, value); });
      return;
    case json::Kind::list:
      to.message(6, [&](ProtobufWriter& writer) {  // google.protobuf.ListValue
        for (const json::Member& item : value.members)
          writer.message(1, [&](ProtobufWriter& list) { write_value(list, item.value); });
      });
      return;
  }
}

/// google.protobuf.Struct
void write_fields(ProtobufWriter& to, const json::Value& object) {
  for (const json::Member& member : object.members) {
    to.message(1, [&](ProtobufWriter& writer) {  // an entry of a map
      writer.bytes(1, member.name);
      writer.message(2, [&](ProtobufWriter& value) { write_value(value, member.value); });
    });
  }
}

}  // namespace

void write_struct(ProtobufWriter& to, std::uint32_t number, std::string_view object) {
  const auto root = json::read(object, {});
  if (!root || root->kind != json::Kind::object) return;
  to.message(number, [&](ProtobufWriter& writer) { write_fields(writer, *root); });
}

}  // namespace weir::rls
