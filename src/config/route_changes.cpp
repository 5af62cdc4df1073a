#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "config/sections.hpp"
#include "http/authority.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_removed = 64;
constexpr std::string_view written_by_weir = "Weir writes this field itself; remove it";

/// Changes of fields while they are read.
struct Edits {
  FieldRefusal refusal_of_set;
  FieldRefusal refusal_of_addition;
  FieldRefusal refusal_of_removal;
  ConstantFields set{};
  ConstantFields add{};
  std::vector<std::string> remove{};
};

bool holds(const ConstantFields& fields, std::string_view name) {
  return std::ranges::any_of(
      fields, [name](const auto& field) { return http::iequals(field.first, name); });
}

/// For fields of requests that Weir writes, or that decide where a request goes.
std::string_view refusal_of_forwarded_field(std::string_view name) {
  constexpr std::array<std::string_view, 7> own{
      "expect",           "max-forwards",     "proxy", "via", "x-forwarded-for",
      "x-forwarded-host", "x-forwarded-proto"};
  if (std::ranges::any_of(own, [name](std::string_view one) { return http::iequals(name, one); }))
    return written_by_weir;
  return refusal_of_framing_field(name);
}

std::string_view refusal_of_added_request_field(std::string_view name) {
  if (http::iequals(name, "host")) return "a request has one Host; write it under set";
  return refusal_of_forwarded_field(name);
}

std::string_view refusal_of_removed_request_field(std::string_view name) {
  if (http::iequals(name, "host")) return "a request needs a Host; write another one under set";
  return refusal_of_forwarded_field(name);
}

std::string_view refusal_of_response_field(std::string_view name) {
  if (http::iequals(name, "content-type")) return {};
  return refusal_of_answer_field(name);
}

/// The fields of the upstream may be removed, also those about limits.
std::string_view refusal_of_removed_response_field(std::string_view name) {
  if (http::iequals(name, "date") || http::iequals(name, "via")) return written_by_weir;
  return refusal_of_framing_field(name);
}

void read_removed(const Cursor& in, Edits& to) {
  for_each_item(in, "a list of header names, such as [x-debug]", most_removed,
                [&](const Cursor& item) {
                  const auto name = item.text();
                  if (!name) return;
                  if (name->find('*') != std::string::npos)
                    return item.error_showing("a name has no star; list each field");
                  if (!http::is_token(*name))
                    return item.error_showing("expected the name of a header field");
                  const std::string_view why = to.refusal_of_removal(*name);
                  if (!why.empty()) return item.error(std::string(why));
                  to.remove.push_back(*name);
                });
}

constexpr Key<Edits> edit_keys[] = {
    {.name = "set",
     .read = [](const Cursor& in,
                Edits& to) { read_constant_fields(in, to.refusal_of_set, to.set); }},
    {.name = "add",
     .read = [](const Cursor& in,
                Edits& to) { read_constant_fields(in, to.refusal_of_addition, to.add); }},
    {.name = "remove", .read = read_removed},
};

/// Reports a field that is in two of the three lists.
void check_edits(const Cursor& in, const Edits& edits) {
  for (const auto& [name, value] : edits.add) {
    if (holds(edits.set, name))
      in.at_key("add").at_key(name).error("the field is also under set; keep one");
  }
  for (std::size_t i = 0; i < edits.remove.size(); ++i) {
    if (holds(edits.set, edits.remove[i]))
      in.at_key("remove").at(i).error(
          "the field is also under set, which replaces it; keep one of them");
    if (holds(edits.add, edits.remove[i]))
      in.at_key("remove").at(i).error(
          "the field is also under add; to replace it, write it under set only");
  }
}

http::FieldEdits read_edits(const Cursor& in, Edits edits) {
  const std::size_t given = in.node().entries.size();
  if (!read_table(in, edit_keys, edits)) return {};
  if (given == 0) in.error("is empty; write set, add or remove, or remove the key");
  check_edits(in, edits);
  return {edits.set, edits.add, edits.remove};
}

/// The Host of the requests that are forwarded.
void check_host(const Cursor& in) {
  if (!in.has("set") || !in.at_key("set").is_map()) return;
  for (const Entry& entry : in.at_key("set").node().entries) {
    if (!http::iequals(entry.key, "host")) continue;
    const Cursor host = in.at_key("set").at(entry);
    const auto text = host.text();
    if (text && (text->empty() || !http::parse_authority(*text)))
      host.error_showing("expected a host, such as api.example.com or api.example.com:8080");
  }
}

/// True if the route has a path pattern; reports a key that needs one. A pattern that is not valid
/// has been reported.
bool has_pattern(const Cursor& in, const options::Route& route, std::string_view fix) {
  if (route.match.path) return true;
  in.error("needs a path in match, " + std::string(fix));
  return false;
}

void take_rewrite(const Cursor& in, const std::string& text, Result<routing::PathRewrite> rewrite,
                  options::Route& to) {
  if (rewrite) {
    to.rewrite = *std::move(rewrite);
  } else if (text == in.node().text) {
    in.error_showing(rewrite.error().message);
  } else {  // the message may contain a part of the text, and that of a variable is not shown
    in.error_showing("with its variables replaced it is not a path that can be sent");
  }
}

}  // namespace

void read_request_edits(const Cursor& in, options::Route& to) {
  to.request_edits = read_edits(in, {.refusal_of_set = refusal_of_forwarded_field,
                                     .refusal_of_addition = refusal_of_added_request_field,
                                     .refusal_of_removal = refusal_of_removed_request_field});
  if (in.is_map()) check_host(in);
}

void read_response_edits(const Cursor& in, options::Route& to) {
  to.response_edits = read_edits(in, {.refusal_of_set = refusal_of_response_field,
                                      .refusal_of_addition = refusal_of_response_field,
                                      .refusal_of_removal = refusal_of_removed_response_field});
}

void read_strip_prefix(const Cursor& in, options::Route& to) {
  if (!has_pattern(in, to, "such as match: {path: /api/**}")) return;
  if (const auto text = in.text())
    take_rewrite(in, *text, routing::PathRewrite::strip(*text, *to.match.path), to);
}

void read_new_path(const Cursor& in, options::Route& to) {
  if (!has_pattern(
          in, to,
          "because beside match it replaces the path for the upstream; conditions of a route "
          "are keys of match, such as match: {path: /v1/**, methods: [GET]}"))
    return;
  if (const auto text = in.text())
    take_rewrite(in, *text, routing::PathRewrite::to_template(*text, *to.match.path), to);
}

void check_changes(const Cursor& in, const options::Route& route) {
  if (in.has("strip_prefix") && in.has("path"))
    in.at_key("strip_prefix").error("strip_prefix and path are both written; keep one");
  if (route.upstream || !(in.has("respond") || in.has("decide"))) return;
  for (const std::string_view key : {"request_headers", "strip_prefix", "path"}) {
    if (in.has(key))
      in.at_key(key).error(std::string(key) +
                           " has no effect on a route that forwards nothing; remove it");
  }
}

}  // namespace weir::config
