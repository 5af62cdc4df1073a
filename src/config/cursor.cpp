#include "config/cursor.hpp"

#include <algorithm>

#include "config/advice.hpp"
#include "config/expand.hpp"
#include "config/key_advice.hpp"
#include "config/key_examples.hpp"
#include "config/key_path.hpp"
#include "config/loose_values.hpp"
#include "config/secret_file.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

constexpr std::size_t longest_name = 128;

std::string_view kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      break;
  }
  return "a map";
}

/// `, such as {certificate: tls.crt}`, if `what` has no example.
std::string with_example(std::string_view what, const std::string& path) {
  std::string text(what);
  const std::string_view example = example_of(shape_of(path));
  if (text.find("such as") == std::string::npos && !example.empty())
    text.append(", such as ").append(example);
  return text;
}

/// Returns the fix for one value in place of a map or a list, or for a map in place of a list.
std::string structure_advice(const Node& node, const std::string& path, bool wants_list) {
  if (node.kind == Node::Kind::map && wants_list) return "; begin each of its entries with \"- \"";
  if (node.kind != Node::Kind::scalar) return {};
  const std::string advice = colon_advice(node.text);
  if (!advice.empty() || wants_list) return advice;
  // `burst=20` where a map has keys.
  const std::size_t equals = node.text.find('=');
  return equals == std::string::npos ? std::string()
                                     : key_advice(shape_of(path), node.text.substr(0, equals));
}

std::string found(const Node& node) {
  return ", found " + std::string(kind_name(node));
}

}  // namespace

Cursor Cursor::at(const Entry& entry) const {
  return {loading_, entry.value, key_path(path_, entry.key)};
}

Cursor Cursor::at(std::size_t index) const {
  return {loading_, node_.items[index], item_path(path_, index)};
}

Cursor Cursor::at_key(std::string_view key) const {
  const Entry* entry = node_.find(key);
  return entry == nullptr ? *this : at(*entry);
}

std::string Cursor::hint_at(std::string_view written,
                            std::span<const std::string_view> known) const {
  return has_few_problems() ? hint(written, known) : std::string();
}

void Cursor::error(std::string message) const {
  error_at(node_.position, std::move(message));
}

void Cursor::error_at(Position position, std::string message) const {
  // Messages of other rooms may contain the value itself.
  std::replace_if(message.begin(), message.end(), http::is_control, '?');
  loading_.problems.push_back({.line = position.line,
                               .column = position.column,
                               .key_path = path_,
                               .message = std::move(message)});
}

void Cursor::warn(std::string message) const {
  loading_.warnings.push_back({.line = node_.position.line,
                               .column = node_.position.column,
                               .key_path = path_,
                               .message = std::move(message)});
}

void Cursor::not_supported(std::string_view feature) const {
  error(std::string(feature) + " is not supported yet; remove it");
}

void Cursor::error_showing(std::string message, std::string_view advice) const {
  message.append(" (here ").append(in_quotes(node_.text)).append(")");
  error(message + (advice.empty() ? value_advice(node_.text) : std::string(advice)));
}

std::string Cursor::as_written(std::string message, const std::string& file) const {
  if (node_.text.find('$') == std::string::npos) return message;
  for (const std::string& quoted : {'"' + file + '"', in_quotes(file)}) {
    const auto at = message.find(quoted);
    if (at != std::string::npos) message.replace(at, quoted.size(), in_quotes(node_.text));
  }
  return message;
}

std::string Cursor::shown(std::string value) const {
  if (!holds_variable(node_.text)) return value;
  Written one;
  one.add(path_, node_.text);
  return one.shown(path_, std::move(value));
}

void Cursor::inherit(std::string_view key, const std::string& path) const {
  if (!loading_.written.has(path)) return;
  loading_.written.add(key_path(path_, key), loading_.written.shown(path, std::string()));
}

bool Cursor::expect_map(std::string_view what) const {
  if (node_.kind == Node::Kind::map) return true;
  error("expected " + with_example(what, path_) + found(node_) +
        structure_advice(node_, path_, false));
  return false;
}

bool Cursor::expect_sequence(std::string_view what) const {
  if (node_.kind == Node::Kind::sequence && !node_.items.empty()) return true;
  error("expected " + with_example(what, path_) +
        (node_.kind == Node::Kind::sequence ? ", found an empty list" : found(node_)) +
        structure_advice(node_, path_, true));
  return false;
}

std::optional<std::string> Cursor::text() const {
  if (node_.kind != Node::Kind::scalar) {
    error("expected a single value" + found(node_) + std::string(text_advice(shape_of(path_))));
    return std::nullopt;
  }
  Result<std::string> expanded = expand_variables(node_.text, loading_.environment.variable);
  if (!expanded) {
    error(expanded.error().message);
    return std::nullopt;
  }
  if (holds_variable(node_.text)) loading_.written.add(path_, node_.text);
  return *std::move(expanded);
}

bool Cursor::is_off() const {
  return node_.kind == Node::Kind::scalar && (node_.text == "off" || node_.text == "false");
}

void read_text(const Cursor& in, std::string& to) {
  if (auto text = in.text()) to = *std::move(text);
}

void read_flag(const Cursor& in, bool& to) {
  const auto text = in.text();
  if (!text) return;
  if (*text != "true" && *text != "false") {
    return in.error_showing("expected true or false", flag_advice(in.node().text));
  }
  to = *text == "true";
}

std::optional<std::int64_t> read_integer(const Cursor& in, IntegerRange range) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  const Result<std::int64_t> value = parse_integer(*text);
  if (value && *value >= range.min && *value <= range.max) return *value;
  in.error_showing("expected a whole number from " + std::to_string(range.min) + " to " +
                       std::to_string(range.max),
                   did_you_mean(integer_meant(in.node().text)));
  return std::nullopt;
}

std::optional<std::int64_t> read_size(const Cursor& in, IntegerRange range) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  const Result<std::int64_t> value = parse_size(*text);
  if (!value) {
    in.error_showing(value.error().message, did_you_mean(size_meant(in.node().text)));
    return std::nullopt;
  }
  if (*value >= range.min && *value <= range.max) return *value;
  in.error_showing("expected a size from " + format_size(range.min) + " to " +
                   format_size(range.max));
  return std::nullopt;
}

void read_duration(const Cursor& in, Duration& to, DurationRange range) {
  const auto text = in.text();
  if (!text) return;
  const Result<Duration> value = parse_duration(*text);
  if (!value)
    return in.error_showing(value.error().message, did_you_mean(duration_meant(in.node().text)));
  if (*value < range.min || *value > range.max) {
    return in.error_showing("expected a duration from " + format_duration(range.min) + " to " +
                            format_duration(range.max));
  }
  to = *value;
}

void read_secret(const Cursor& in, Secret& to) {
  const auto text = in.text();
  if (!text) return;
  if (!text->starts_with("file:")) {
    if (*text == in.node().text && is_shell_variable(*text))
      in.warn("is used as it is; for an environment variable write ${NAME}");
    to = Secret(*text);
    return;
  }
  in.note_as_written();
  const std::string file = resolve_path(in, std::string_view(*text).substr(5));
  Result<Secret> secret = read_secret_file(file);
  if (!secret) return in.error(in.as_written(secret.error().message, file));
  to = *std::move(secret);
}

std::string resolve_path(const Cursor& in, std::string_view path) {
  const std::filesystem::path file{path};
  return (file.is_absolute() ? file : in.directory() / file).lexically_normal().string();
}

std::optional<std::size_t> read_word(const Cursor& in, std::span<const std::string_view> words) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  const auto word = std::find(words.begin(), words.end(), *text);
  if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  std::string message = "expected ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) message += i + 1 == words.size() ? " or " : ", ";
    message += words[i];
  }
  in.error_showing(std::move(message), word_advice(in.node().text, words));
  return std::nullopt;
}

void check_name(const Cursor& in, std::string_view name) {
  if (!name.empty() && name.size() <= longest_name && is_printable_ascii(name)) return;
  in.error("a name is 1 to " + std::to_string(longest_name) + " printable ASCII characters");
}

}  // namespace weir::config
