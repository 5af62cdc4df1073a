#include "config/document_json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "http/characters.hpp"
#include "json/write.hpp"

namespace weir::config {
namespace {

class Writer {
 public:
  explicit Writer(const std::set<const Node*>& secrets) : secrets_(secrets) {}

  /// `has_request_fields`: values of fields that requests have or get.
  std::string value(const Node& node, bool has_request_fields, std::string_view key = {}) const {
    switch (node.kind) {
      case Node::Kind::null:
        return "null";
      case Node::Kind::scalar:
        return scalar(node, has_request_fields);
      case Node::Kind::sequence: {
        std::vector<std::string> items;
        for (const Node& item : node.items)
          items.push_back(value(item, has_request_fields));
        return json::list_of(items);
      }
      case Node::Kind::map:
        break;
    }
    json::Object object;
    for (const Entry& entry : node.entries) {
      const bool begins =
          entry.key == "request_headers" || (key == "match" && entry.key == "headers");
      object.json(entry.key, value(entry.value, has_request_fields || begins, entry.key));
    }
    return object.str();
  }

 private:
  std::string scalar(const Node& node, bool has_request_fields) const {
    const bool names_file = secrets_.contains(&node) && node.text.starts_with("file:");
    const bool is_secret = has_request_fields || secrets_.contains(&node);
    const bool is_elsewhere = names_file || is_variable(node.text);
    const std::string_view shown = is_secret && !is_elsewhere ? hidden_secret : node.text;
    if (shown == "true" || shown == "false" || is_integer(shown)) return std::string(shown);
    std::string text;
    json::append_string(text, shown);
    return text;
  }

  /// `${NAME}` and nothing else: a default, or text around it, may be the secret.
  static bool is_variable(std::string_view text) {
    if (!text.starts_with("${") || !text.ends_with('}')) return false;
    const std::string_view name = text.substr(2, text.size() - 3);
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return http::is_alpha(c) || http::is_digit(c) || c == '_';
    });
  }

  /// As JSON writes it, and exact in a double.
  static bool is_integer(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc() && end == text.data() + text.size() &&
           std::to_string(number) == text && number < std::int64_t{1} << 53 &&
           number > -(std::int64_t{1} << 53);
  }

  const std::set<const Node*>& secrets_;
};

}  // namespace

std::string document_json(const Node& root, const std::set<const Node*>& secrets) {
  return Writer(secrets).value(root, false);
}

}  // namespace weir::config
