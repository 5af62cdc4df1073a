#include "scenario/value_json.hpp"

#include <string_view>

#include "json/read.hpp"
#include "json/write.hpp"

namespace weir::scenario {
namespace {

using Kind = config::Node::Kind;

bool is_literal(std::string_view text) {
  const auto value = json::read(text, {.depth = 1, .values = 1});
  return value && (value->kind == json::Kind::number || value->kind == json::Kind::boolean ||
                   value->kind == json::Kind::null);
}

void append_scalar(std::string& out, const config::Cursor& in) {
  const auto text = in.text();
  if (!text) return;
  if (in.node().is_plain && is_literal(*text)) {
    out += *text;
  } else {
    json::append_string(out, *text);
  }
}

}  // namespace

void append_json(std::string& out, const config::Cursor& in) {
  const config::Node& node = in.node();
  std::string_view separator;
  switch (node.kind) {
    case Kind::null:
      out += "null";
      return;
    case Kind::scalar:
      return append_scalar(out, in);
    case Kind::sequence:
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        out += separator;
        append_json(out, in.at(i));
        separator = ",";
      }
      out += ']';
      return;
    case Kind::map:
      break;
  }
  out += '{';
  for (const config::Entry& entry : node.entries) {
    out += separator;
    json::append_string(out, entry.key);
    out += ':';
    append_json(out, in.at(entry));
    separator = ",";
  }
  out += '}';
}

}  // namespace weir::scenario
