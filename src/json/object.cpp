#include "json/object.hpp"

#include "json/write.hpp"

namespace weir::json {

Object& Object::text(std::string_view name, std::string_view value) {
  std::string quoted;
  append_string(quoted, value);
  return json(name, quoted);
}

Object& Object::number(std::string_view name, std::int64_t value) {
  return json(name, std::to_string(value));
}

Object& Object::flag(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

Object& Object::texts(std::string_view name, const std::vector<std::string>& values) {
  std::vector<std::string> quoted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    append_string(quoted[i], values[i]);
  return json(name, list_of(quoted));
}

Object& Object::json(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  append_string(text_, name);
  text_.append(":").append(value);
  return *this;
}

Object& Object::members(std::string_view json) {
  if (!text_.empty() && !json.empty()) text_ += ',';
  text_ += json;
  return *this;
}

std::string list_of(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values)
    text.append(text.size() > 1 ? "," : "").append(value);
  return text += ']';
}

}  // namespace weir::json
