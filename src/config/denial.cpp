// The response to a denial: the keys status, content_type, body and headers.
#include <algorithm>
#include <utility>

#include "config/sections.hpp"
#include "http/accept.hpp"
#include "http/field_list.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

constexpr std::string_view problem_type = "application/problem+json";
constexpr std::string_view problem_word = "default";

/// One less than can be negotiated: the problem document may be added.
constexpr std::size_t most_bodies = http::most_negotiated_types - 1;

bool is_problem(std::string_view media_type) {
  return http::iequals(http::without_parameters(media_type), problem_type);
}

/// Warns of a text that is valid and probably means something else.
void warn_of_meaning(const Cursor& in, std::string_view text) {
  if (text == problem_word)
    in.warn("is sent as the text \"default\"; for the problem document write {" +
            std::string(problem_type) + ": default}");
  warn_of_body_file(in);
}

void read_body_of_type(const std::string& type, const Cursor& in,
                       std::vector<limiter::DenialBody>& to) {
  if (!http::is_media_type(type))
    return in.error(
        "expected a media type as the key, such as text/html or application/json; put quotes "
        "around a JSON text");
  if (in.is_map()) return in.error("expected a text; put quotes around JSON: '{\"error\": \"x\"}'");
  const auto is_same = [&](const limiter::DenialBody& one) {
    return http::iequals(http::without_parameters(one.content_type),
                         http::without_parameters(type));
  };
  if (std::ranges::any_of(to, is_same))
    return in.error("the media type is written twice; keep one");
  auto text = in.text();
  if (!text) return;
  const bool is_default = is_problem(type) && *text == problem_word;
  if (!is_default) warn_of_meaning(in, *text);
  to.push_back(
      {.content_type = type, .text = is_default ? std::nullopt : std::optional(*std::move(text))});
}

/// Adds Vary: Accept to the fields.
void vary_by_accept(ConstantFields& fields) {
  const auto vary = std::ranges::find_if(
      fields, [](const auto& field) { return http::iequals(field.first, "vary"); });
  if (vary == fields.end()) return void(fields.emplace_back("Vary", "Accept"));
  bool has_accept = false;
  http::for_each_element(vary->second, [&](std::string_view one) {
    has_accept |= one == "*" || http::iequals(one, "accept");
  });
  if (!has_accept) vary->second += ", Accept";
}

}  // namespace

void read_denial_status(const Cursor& in, DenialOptions& to) {
  if (const auto value = read_integer(in, {400, 599})) to.status = static_cast<int>(*value);
}

void read_denial_content_type(const Cursor& in, DenialOptions& to) {
  read_media_type(in, to.content_type);
}

void read_denial_body(const Cursor& in, DenialOptions& to) {
  if (!in.is_map()) {
    auto text = in.text();
    if (!text) return;
    warn_of_meaning(in, *text);
    to.bodies.push_back({.content_type = "text/plain", .text = *std::move(text)});
    return;
  }
  for_each_named(in, "a map of media types to bodies", most_bodies,
                 [&](const std::string& type, const Cursor& entry) {
                   read_body_of_type(type, entry, to.bodies);
                 });
  const bool has_problem = std::ranges::any_of(
      to.bodies, [](const limiter::DenialBody& one) { return is_problem(one.content_type); });
  if (!has_problem)
    to.bodies.push_back({.content_type = std::string(problem_type), .text = std::nullopt});
}

void warn_of_body_file(const Cursor& in) {
  if (in.node().text.starts_with("file:"))
    in.warn("is sent as it is: a body is not read from a file; write the text here");
}

void read_denial_headers(const Cursor& in, DenialOptions& to) {
  read_constant_fields(in, refusal_of_denial_field, to.fields);
}

void check_denial(const Cursor& in, DenialOptions& settings) {
  if (!in.has("content_type")) return;
  if (!in.has("body"))
    return in.at_key("content_type")
        .error("content_type has no meaning without a body; write body beside it");
  if (in.at_key("body").is_map())
    return in.at_key("content_type")
        .error("each body has its media type as its key; remove content_type");
  if (settings.bodies.size() == 1 && !settings.content_type.empty())
    settings.bodies.front().content_type = settings.content_type;
}

limiter::Denial compile_denial(const DenialOptions& own, const DenialOptions& defaults) {
  limiter::Denial denial;
  denial.bodies = own.bodies.empty() ? defaults.bodies : own.bodies;
  ConstantFields fields{{"Cache-Control", "no-store"}};
  for (const auto* const written : {&defaults.fields, &own.fields}) {
    for (const auto& field : *written) {
      std::erase_if(fields, [&](const auto& one) { return http::iequals(one.first, field.first); });
      fields.push_back(field);
    }
  }
  if (denial.bodies.size() > 1) vary_by_accept(fields);
  denial.fields = field_section(fields);
  return denial;
}

namespace {

constexpr Key<DenialOptions> denied_keys[] = {
    {.name = "status", .read = read_denial_status},
    {.name = "content_type", .read = read_denial_content_type},
    {.name = "body", .read = read_denial_body},
    {.name = "headers", .read = read_denial_headers},
};

}  // namespace

void read_denied(const Cursor& in, Config& to) {
  if (read_table(in, denied_keys, to.denied)) check_denial(in, to.denied);
}
}  // namespace weir::config
