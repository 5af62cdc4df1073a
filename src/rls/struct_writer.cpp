#include "rls/struct_writer.hpp"

#include <charconv>
#include <string>

namespace weir::rls {
namespace {

using grpc::ProtobufWriter;

double double_of(const std::string& digits) {
  double number = 0;  // also of a number that is too small for a double
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// google.protobuf.Value: a oneof, so a default is written, too. An object is written with those
/// that it is merged with. The recursion is as deep as json::read() allows.
void write_value(ProtobufWriter& to, const json::Value& value, MergedObjects objects) {
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
      to.message(5, [&](ProtobufWriter& writer) { write_struct_fields(writer, objects); });
      return;
    case json::Kind::list:
      to.message(6, [&](ProtobufWriter& writer) {  // google.protobuf.ListValue
        for (const json::Member& item : value.members) {
          const json::Value* const own = &item.value;
          writer.message(1, [&](ProtobufWriter& list) {
            write_value(list, item.value, {&own, 1});
          });
        }
      });
      return;
  }
}

}  // namespace

void write_struct_fields(ProtobufWriter& to, MergedObjects objects) {
  each_merged_member(objects, [&](const json::Member& member, MergedObjects merged) {
    to.message(1, [&](ProtobufWriter& writer) {  // an entry of a map
      writer.bytes(1, member.name);
      writer.message(2, [&](ProtobufWriter& value) { write_value(value, member.value, merged); });
    });
  });
}

}  // namespace weir::rls
