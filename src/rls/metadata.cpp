#include "rls/metadata.hpp"

#include <algorithm>

#include "json/write.hpp"

namespace weir::rls {
namespace {

void merge_members(json::Value& to, const json::Value& from) {
  for (const json::Member& member : from.members) {
    const auto same = std::ranges::find(to.members, member.name, &json::Member::name);
    if (same == to.members.end()) {
      to.members.push_back(member);
    } else if (same->value.kind == json::Kind::object && member.value.kind == json::Kind::object) {
      merge_members(same->value, member.value);
    }
  }
}

json::Value object_of(std::string_view text) {
  auto read = json::read(text, json::Limits{});
  if (read) return *std::move(read);
  json::Value empty;
  empty.kind = json::Kind::object;
  return empty;
}

void append_value(std::string& out, const json::Value& value) {
  switch (value.kind) {
    case json::Kind::null:
      out += "null";
      return;
    case json::Kind::string:
      return json::append_string(out, value.text);
    case json::Kind::boolean:
    case json::Kind::number:
      out += value.text;
      return;
    case json::Kind::list:
    case json::Kind::object:
      break;
  }
  const bool is_object = value.kind == json::Kind::object;
  out += is_object ? '{' : '[';
  for (std::size_t i = 0; i < value.members.size(); ++i) {
    if (i > 0) out += ',';
    if (is_object) {
      json::append_string(out, value.members[i].name);
      out += ':';
    }
    append_value(out, value.members[i].value);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

void MetadataBuilder::merge(std::string_view metadata) {
  if (metadata.empty() || metadata == first_) return;
  if (first_.empty()) {
    first_ = metadata;
    return;
  }
  if (merged_.kind != json::Kind::object) merged_ = object_of(first_);
  merge_members(merged_, object_of(metadata));
}

void MetadataBuilder::append(std::string& out) const {
  if (policy_.empty() && first_.empty()) return;
  out += '{';
  if (!policy_.empty()) {
    out += "\"policy\":";
    json::append_string(out, policy_);
  }
  if (!first_.empty()) {
    if (!policy_.empty()) out += ',';
    out += "\"metadata\":";
    merged_.kind == json::Kind::object ? append_value(out, merged_) : void(out += first_);
  }
  out += '}';
}

}  // namespace weir::rls
