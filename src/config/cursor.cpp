#include "config/cursor.hpp"

#include "config/expand.hpp"
#include "config/files.hpp"
#include "config/hints.hpp"
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
      return node.items.empty() ? "an empty list" : "a list";
    case Node::Kind::map:
      break;
  }
  return "a map";
}

/// `expected WHAT, such as {certificate: tls.crt}, found a list`. Without an example it has the
/// keys of the map, if there are any.
std::string expected(std::string_view what, const Node& node, const std::string& shape,
                     std::span<const std::string_view> keys = {}) {
  std::string text = "expected " + std::string(what);
  const std::string_view example = example_of(shape);
  if (text.find("such as") != std::string::npos) {
    // `what` has its own.
  } else if (!example.empty()) {
    text.append(", such as ").append(example);
  } else if (!keys.empty()) {
    text.append(" (").append(list_of(keys)).append(")");
  }
  return text.append(", found ").append(kind_name(node));
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

void Cursor::error(std::string message) const {
  error_at(node_.position, std::move(message));
}

void Cursor::error_at(Position position, std::string message) const {
  // Messages of other rooms may contain the value itself.
  std::replace_if(message.begin(), message.end(), http::is_control, '?');
  loading_.problems.push_back(diagnostic_at(position, std::move(message), path_));
}

void Cursor::warn(std::string message) const {
  loading_.warnings.push_back(diagnostic_at(node_.position, std::move(message), path_));
}

void Cursor::error_showing(std::string message, std::string_view hint) const {
  message.append(" (here ").append(in_quotes(node_.text)).append(")");
  error(message + (hint.empty() ? variable_hint(node_.text) : std::string(hint)));
}

std::string Cursor::as_written(std::string message, const std::string& file) const {
  if (node_.text.find('$') != std::string::npos) replace_quoted(message, file, node_.text);
  return message;
}

std::string Cursor::shown(std::string value) const {
  if (!holds_variable(node_.text)) return value;
  Written one;
  one.add(path_, node_.text);
  return Shown(one, path_)(std::move(value));
}

bool Cursor::expect_map(std::string_view what, std::span<const std::string_view> keys) const {
  if (node_.kind == Node::Kind::map) return true;
  error(expected(what, node_, shape_at(*this), keys) + colon_hint(node_.text));
  return false;
}

bool Cursor::expect_sequence(std::string_view what) const {
  if (node_.kind == Node::Kind::sequence && !node_.items.empty()) return true;
  error(expected(what, node_, shape_at(*this)) + (node_.kind == Node::Kind::map
                                                      ? "; begin each of its entries with \"- \""
                                                      : colon_hint(node_.text)));
  return false;
}

std::optional<std::string> Cursor::expanded() const {
  if (node_.kind != Node::Kind::scalar) {
    error(expected("a single value", node_, shape_at(*this)) +
          (node_.kind == Node::Kind::map ? "; put quotes around text with braces" : ""));
    return std::nullopt;
  }
  Result<std::string> expanded = expand_variables(node_.text, loading_.environment.variable);
  if (!expanded) {
    error(expanded.error().message);
    return std::nullopt;
  }
  return *std::move(expanded);
}

std::optional<std::string> Cursor::text() const {
  auto text = expanded();
  if (text && holds_variable(node_.text)) loading_.written.add(path_, node_.text, *text);
  return text;
}

std::string shape_at(const Cursor& in, std::string_view key) {
  std::string shape = shape_of(key.empty() ? in.path() : key_path(in.path(), key));
  const std::string_view kind = in.environment().kind;
  return kind.empty() ? shape : std::string(kind).append(":").append(shape);
}

bool is_off(const Cursor& in) {
  const Node& node = in.node();
  return node.kind == Node::Kind::scalar && (node.text == "off" || node.text == "false");
}

std::optional<std::string> read_form(const Cursor& in, bool (*has_form)(std::string_view text),
                                     std::string_view expected) {
  auto text = in.text();
  if (!text || has_form(*text)) return text;
  in.error_showing(std::string(expected));
  return std::nullopt;
}

void read_text(const Cursor& in, std::string& to) {
  if (auto text = in.text()) to = *std::move(text);
}

void read_flag(const Cursor& in, bool& to) {
  const auto text = in.text();
  if (!text) return;
  if (*text != "true" && *text != "false") {
    constexpr std::string_view flags[] = {"true", "false"};
    return in.error_showing("expected true or false", word_hint(in.node().text, flags));
  }
  to = *text == "true";
}

namespace {

std::optional<std::int64_t> integer_in(const Cursor& in, std::string_view text, IntegerRange range,
                                       std::string_view expected) {
  const Result<std::int64_t> value = parse_integer(text);
  if (value && *value >= range.min && *value <= range.max) return *value;
  in.error_showing(std::string(expected) + " from " + std::to_string(range.min) + " to " +
                   std::to_string(range.max));
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> read_integer(const Cursor& in, IntegerRange range) {
  const auto text = in.text();
  return text ? integer_in(in, *text, range, "expected a whole number") : std::nullopt;
}

std::optional<std::int64_t> read_integer_or_auto(const Cursor& in, IntegerRange range,
                                                 std::int64_t automatic) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  if (*text == "auto") return automatic;
  return integer_in(in, *text, range, "expected auto or a whole number");
}

std::optional<std::int64_t> read_size(const Cursor& in, IntegerRange range) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  const Result<std::int64_t> value = parse_size(*text);
  if (!value) {
    in.error_showing(value.error().message, size_hint(in.node().text));
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
    return in.error_showing(value.error().message, duration_hint(in.node().text, range.max));
  if (*value < range.min || *value > range.max) {
    return in.error_showing("expected a duration from " + format_duration(range.min) + " to " +
                            format_duration(range.max));
  }
  to = *value;
}

bool read_secret(const Cursor& in, Secret& to) {
  const auto text = in.expanded();
  if (!text) return false;
  const bool is_file = text->starts_with("file:");
  in.note_secret(is_file || holds_variable(in.node().text));
  if (!is_file) {
    if (*text == in.node().text && is_shell_variable(*text))
      in.warn("is used as it is; for an environment variable write ${NAME}");
    to = Secret(*text);
    return true;
  }
  const std::string file = resolve_path(in, std::string_view(*text).substr(5));
  Result<Secret> secret = read_secret_file(file);
  if (!secret) {
    in.error(in.as_written(secret.error().message, file));
    return false;
  }
  in.note_file(siphash128(SipKey{}, secret->reveal()));
  to = *std::move(secret);
  return true;
}

std::string resolve_path(const Cursor& in, std::string_view path) {
  const std::filesystem::path file{path};
  return (file.is_absolute() ? file : in.environment().directory / file)
      .lexically_normal()
      .string();
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
  in.error_showing(std::move(message), word_hint(in.node().text, words));
  return std::nullopt;
}

void check_name(const Cursor& in, std::string_view name) {
  if (!name.empty() && name.size() <= longest_name && is_printable_ascii(name)) return;
  in.error("a name is 1 to " + std::to_string(longest_name) + " printable ASCII characters");
}

std::optional<std::size_t> find_among(const Cursor& in, const Reference& reference,
                                      std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), reference.written);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string hint = variable_hint(reference.shown);
  if (hint.empty()) hint = definition_hint(reference.what, reference.shown, names.empty());
  if (hint.empty() && in.has_few_problems()) {
    hint = word_hint(reference.shown, names);
    if (hint.empty()) hint = config::hint(reference.shown, names);
  }
  in.error("no " + std::string(reference.what) + " is called " + in_quotes(reference.shown) + hint);
  return std::nullopt;
}

void read_share(const Cursor& in, double& to) {
  const auto text = in.text();
  if (!text) return;
  const Result<double> share = parse_fraction(*text);
  if (!share || !(*share >= 0 && *share <= 1))
    return in.error_showing("expected a share from 0 to 1, such as 0.01 for one in 100");
  to = *share;
}

}  // namespace weir::config
