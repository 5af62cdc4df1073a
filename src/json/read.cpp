#include "json/read.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace weir::json {
namespace {

using Library = nlohmann::json;

/// Builds the tree from the events of nlohmann's parser, which stops when one returns false.
class Builder {
 public:
  explicit Builder(const Limits& limits) : limits_(limits) {}

  bool null() { return add({}); }
  bool boolean(bool value) {
    return add({.kind = Kind::boolean, .text = value ? "true" : "false", .members = {}});
  }
  bool number_integer(Library::number_integer_t value) { return add_number(std::to_string(value)); }
  bool number_unsigned(Library::number_unsigned_t value) {
    return add_number(std::to_string(value));
  }
  /// `digits`: as written; also those of integers that do not fit 64 bits.
  bool number_float(Library::number_float_t, const std::string& digits) {
    return add_number(digits);
  }
  bool string(std::string& value) {
    return add({.kind = Kind::string, .text = std::move(value), .members = {}});
  }
  bool binary(Library::binary_t&) { return fail(ReadError::syntax); }
  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::list); }
  bool key(std::string& name) {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_array() { return close(); }
  bool end_object() {
    auto& members = open_.back().value.members;
    std::ranges::sort(members, {}, &Member::name);
    const bool is_unique = std::ranges::adjacent_find(members, {}, &Member::name) == members.end();
    return is_unique ? close() : fail(ReadError::duplicate_member);
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) { return false; }

  std::optional<Value> take() { return std::move(root_); }
  ReadError error() const { return error_; }

 private:
  /// A list or object that is not complete, and the name of its next member.
  struct Open {
    Value value;
    std::string name;
  };

  bool fail(ReadError error) {
    error_ = error;
    return false;
  }
  bool add_number(std::string digits) {
    return add({.kind = Kind::number, .text = std::move(digits), .members = {}});
  }
  bool add(Value value) {
    if (++values_ > limits_.values) return fail(ReadError::too_many_values);
    return insert(std::move(value));
  }
  bool insert(Value value) {
    if (open_.empty())
      root_ = std::move(value);
    else
      open_.back().value.members.push_back({std::move(open_.back().name), std::move(value)});
    return true;
  }
  bool open(Kind kind) {
    if (open_.size() == limits_.depth) return fail(ReadError::too_deep);
    if (++values_ > limits_.values) return fail(ReadError::too_many_values);
    open_.push_back({.value = {.kind = kind, .text = {}, .members = {}}, .name = {}});
    return true;
  }
  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return insert(std::move(value));
  }

  const Limits& limits_;
  std::vector<Open> open_;
  std::optional<Value> root_;
  std::size_t values_ = 0;
  ReadError error_ = ReadError::syntax;
};

}  // namespace

const Value* Value::find(std::string_view name) const {
  if (kind != Kind::object) return nullptr;
  const auto found = std::ranges::lower_bound(members, name, {}, &Member::name);
  return found != members.end() && found->name == name ? &found->value : nullptr;
}

Result<Value, ReadError> read(std::string_view text, const Limits& limits) {
  if (text.starts_with("\xef\xbb\xbf") || text.find('\0') != std::string_view::npos)
    return ReadError::syntax;
  Builder builder(limits);
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) return builder.error();
  std::optional<Value> root = builder.take();
  if (!root) return ReadError::syntax;
  return std::move(*root);
}

}  // namespace weir::json
