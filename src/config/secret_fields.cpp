// Header fields of requests that Weir itself sends. Their values are secrets.
#include <algorithm>

#include "config/sections.hpp"
#include "http/accept.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_secret_fields = 32;

std::string_view refusal_of_own_field(std::string_view name) {
  for (const std::string_view own :
       {"host", "content-type", "accept", "accept-encoding", "user-agent", "expect"}) {
    if (http::iequals(name, own)) return "Weir writes this field itself; remove it";
  }
  return refusal_of_framing_field(name);
}

void read_secret_field(const std::string& name, const Cursor& in, SecretFields& to) {
  if (!http::is_token(name))
    return in.error("expected the name of a header field, such as authorization");
  if (const std::string_view why = refusal_of_own_field(name); !why.empty())
    return in.error(std::string(why));
  const auto is_same = [&](const auto& field) { return http::iequals(field.first, name); };
  if (std::ranges::any_of(to, is_same))
    return in.error("the field is written twice, in different letter case; keep one");
  Secret value;
  if (!read_secret(in, value)) return;
  if (value.empty()) return in.error("the value is empty; write one, or remove the field");
  if (!http::is_field_value(value.reveal()))
    return in.error("a header value has no line break and no control character; remove them");
  to.emplace_back(name, std::move(value));
}

}  // namespace

void read_secret_fields(const Cursor& in, SecretFields& to) {
  for_each_named(
      in, "a map of header names to values, such as {authorization: file:PATH}", most_secret_fields,
      [&](const std::string& name, const Cursor& entry) { read_secret_field(name, entry, to); });
}

}  // namespace weir::config
