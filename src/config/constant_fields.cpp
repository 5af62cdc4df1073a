#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "config/expand.hpp"
#include "config/hints.hpp"
#include "config/sections.hpp"
#include "http/accept.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_fields = 64;
constexpr std::size_t longest_value = 4096;

constexpr std::array<std::string_view, 9> framing_fields{
    "connection", "content-length", "http2-settings",    "keep-alive", "proxy-connection",
    "te",         "trailer",        "transfer-encoding", "upgrade"};
constexpr std::array<std::string_view, 8> limit_fields{
    "ratelimit",       "ratelimit-policy",  "ratelimit-limit",       "ratelimit-remaining",
    "ratelimit-reset", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names,
                             [name](std::string_view one) { return http::iequals(name, one); });
}

/// Warns of a variable of another program.
void warn_of_variable(const Cursor& in) {
  const std::string_view variable = foreign_variable_in(in.node().text);
  if (variable.empty()) return;
  std::string message = "is sent as it is, with " + in_quotes(variable) +
                        ": values are constant; write the value, or ${NAME} for a variable of the "
                        "environment";
  if (in.path().find(".request_headers.") != std::string::npos)
    message += "; Weir itself sends X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto";
  in.warn(std::move(message));
}

void read_field(const std::string& name, const Cursor& in, FieldRefusal refusal,
                ConstantFields& to) {
  if (!http::is_token(name))
    return in.error("expected the name of a header field, such as cache-control");
  if (const std::string_view why = refusal(name); !why.empty()) return in.error(std::string(why));
  const auto is_same = [&](const auto& field) { return http::iequals(field.first, name); };
  if (std::ranges::any_of(to, is_same))
    return in.error("the field is written twice, in different letter case; keep one");
  const auto text = in.text();
  if (!text) return;
  if (!http::is_field_value(*text)) {
    const bool is_variable = holds_variable(in.node().text);
    return in.error("a header value has no line break and no control character; remove them" +
                    (is_variable ? " from the value of " + in_quotes(in.node().text) : ""));
  }
  const std::string_view value = http::trimmed(*text);
  if (value.empty()) return in.error("the value is empty; write one, or remove the field");
  if (value.size() > longest_value)
    return in.error("the value is longer than " + std::to_string(longest_value) + " bytes");
  warn_of_variable(in);
  to.emplace_back(name, value);
}

}  // namespace

std::string_view refusal_of_framing_field(std::string_view name) {
  if (!is_one_of(name, framing_fields)) return {};
  return "Weir writes this field itself, because it belongs to one connection or frames the body; "
         "remove it";
}

std::string_view refusal_of_answer_field(std::string_view name) {
  if (http::iequals(name, "content-type")) return "write content_type beside headers instead";
  if (http::iequals(name, "date") || http::iequals(name, "via"))
    return "Weir writes this field itself; remove it";
  if (is_one_of(name, limit_fields))
    return "Weir computes this field; remove it, or choose which ones clients receive with the "
           "section response_headers";
  return refusal_of_framing_field(name);
}

std::string_view refusal_of_denial_field(std::string_view name) {
  if (http::iequals(name, "retry-after"))
    return "Weir computes this field; remove it, or choose its format with retry_after";
  return refusal_of_answer_field(name);
}

void read_constant_fields(const Cursor& in, FieldRefusal refusal, ConstantFields& to) {
  for_each_named(
      in, "a map of header names to values, such as {cache-control: no-store}", most_fields,
      [&](const std::string& name, const Cursor& entry) { read_field(name, entry, refusal, to); });
}

http::FieldSection field_section(const ConstantFields& fields) {
  http::FieldSection section;
  for (const auto& [name, value] : fields)
    section.add(name, value);
  return section;
}

std::optional<std::string> read_field_name(const Cursor& in, std::string_view expected) {
  auto name = read_form(in, http::is_token, expected);
  if (name) std::ranges::transform(*name, name->begin(), http::to_lower);
  return name;
}

void read_media_type(const Cursor& in, std::string& to) {
  std::string text;
  read_text(in, text);
  if (!http::is_media_type(text))
    return in.error_showing("expected a media type, such as text/html or application/json");
  to = std::move(text);
}

}  // namespace weir::config
