#include "rls/metadata.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "json/write.hpp"
#include "rls/struct_writer.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufWriter;

/// The trees of the limits.
class Trees {
 public:
  explicit Trees(const DynamicMetadata& metadata) : count_(metadata.limits.size()) {
    std::ranges::transform(metadata.limits, trees_.begin(),
                           [](const Metadata* limit) { return &limit->tree; });
  }
  MergedObjects all() const { return {trees_.data(), count_}; }

 private:
  std::array<const json::Value*, limiter::limits_per_route> trees_{};
  std::size_t count_;
};

void append_object(Appender& out, MergedObjects objects);

/// Appends a value. An object is written with those that it is merged with.
void append_value(Appender& out, const json::Value& value, MergedObjects objects) {
  switch (value.kind) {
    case json::Kind::null:
      out.add("null");
      return;
    case json::Kind::string:
      return json::append_string(out, value.text);
    case json::Kind::boolean:
    case json::Kind::number:
      out.add(value.text);
      return;
    case json::Kind::object:
      return append_object(out, objects);
    case json::Kind::list:
      out.add('[');
      for (const json::Member& item : value.members) {
        if (&item != &value.members.front()) out.add(',');
        const json::Value* const own = &item.value;
        append_value(out, item.value, {&own, 1});
      }
      out.add(']');
      return;
  }
}

void append_object(Appender& out, MergedObjects objects) {
  char separator = '{';
  each_merged_member(objects, [&](const json::Member& member, MergedObjects merged) {
    out.add(std::exchange(separator, ','));
    json::append_string(out, member.name);
    out.add(':');
    append_value(out, member.value, merged);
  });
  out.add(separator == '{' ? "{}" : "}");
}

/// An entry of the map of a google.protobuf.Struct, whose Value `write` appends.
template <class Write>
void write_entry(ProtobufWriter& to, std::string_view name, Write write) {
  to.message(1, [&](ProtobufWriter& entry) { entry.bytes(1, name).message(2, write); });
}

}  // namespace

Metadata encoded_metadata(std::string_view json) {
  auto tree = json::read(json, {});
  if (!tree || tree->kind != json::Kind::object) return {};
  Metadata made{.json = std::string(json), .fields = {}, .tree = *std::move(tree)};
  const json::Value* const root = &made.tree;
  ProtobufWriter to(made.fields);
  write_struct_fields(to, {&root, 1});
  return made;
}

void DynamicMetadata::clear() {
  policy = {};
  limits.clear();
}

void DynamicMetadata::add(const Metadata& metadata) {
  const auto is_same = [&](const Metadata* other) { return other->json == metadata.json; };
  if (!metadata.json.empty() && std::ranges::none_of(limits, is_same)) limits.push_back(&metadata);
}

void append_json(Appender& out, const DynamicMetadata& metadata) {
  out.add('{');
  if (!metadata.policy.empty()) {
    out.add("\"policy\":");
    json::append_string(out, metadata.policy);
    if (!metadata.limits.empty()) out.add(',');
  }
  if (!metadata.limits.empty()) out.add("\"metadata\":");
  if (metadata.limits.size() == 1)
    out.add(metadata.limits.front()->json);
  else if (metadata.limits.size() > 1)
    append_object(out, Trees(metadata).all());
  out.add('}');
}

void write_struct(ProtobufWriter& to, std::uint32_t number, const DynamicMetadata& metadata) {
  to.message(number, [&](ProtobufWriter& all) {
    if (!metadata.policy.empty())
      write_entry(all, "policy", [&](ProtobufWriter& value) { value.bytes(3, metadata.policy); });
    if (metadata.limits.empty()) return;
    write_entry(all, "metadata", [&](ProtobufWriter& value) {
      if (metadata.limits.size() == 1)
        value.bytes(5, metadata.limits.front()->fields);
      else
        value.message(
            5, [&](ProtobufWriter& writer) { write_struct_fields(writer, Trees(metadata).all()); });
    });
  });
}

}  // namespace weir::rls
