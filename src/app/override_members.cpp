#include "app/override_members.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/rfc3339.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "json/write.hpp"
#include "rules/span.hpp"

namespace weir::app {
namespace {

using Json = json::Value;
using JsonKind = json::Kind;
using Form = OverrideMember::Form;
using Role = OverrideMember::Role;

constexpr std::size_t most_note = 200;

std::string wrong_text(const Json& value) {
  const bool is_text = value.kind == JsonKind::string && !value.text.empty();
  return is_text ? "" : "expected a string that is not empty";
}

template <std::string WrittenOverride::*member>
std::string read_text(const Json& value, WrittenOverride& to) {
  to.*member = value.text;
  return wrong_text(value);
}

template <std::optional<std::int64_t> WrittenOverride::*member>
std::string read_count(const Json& value, WrittenOverride& to) {
  const auto number = config::parse_integer(value.text);
  if (value.kind != JsonKind::number || !number) return "expected a whole number";
  to.*member = *number;
  return {};
}

template <bool WrittenOverride::*member>
std::string read_flag(const Json& value, WrittenOverride& to) {
  if (value.kind != JsonKind::boolean || value.text != "true")
    return "expected true; leave it out otherwise";
  to.*member = true;
  return {};
}

std::string read_rate(const Json& value, WrittenOverride& to) {
  if (value.kind != JsonKind::string)
    return "expected COUNT/DURATION in quotes, such as \"100/1m\"";
  const auto rate = config::parse_rate(value.text);
  if (!rate) return rate.error().message;
  to.rates.push_back(*rate);
  return {};
}

std::string read_rates(const Json& value, WrittenOverride& to) {
  if (value.kind != JsonKind::list || value.members.empty())
    return "expected a list of rates, such as [\"10/1s\", \"100/1m\"]";
  for (const auto& one : value.members) {
    if (std::string problem = read_rate(one.value, to); !problem.empty()) return problem;
  }
  return {};
}

std::string read_until(const Json& value, WrittenOverride& to) {
  if (std::string problem = wrong_text(value); !problem.empty()) return problem;
  to.until = parse_rfc3339(value.text);
  if (!to.until || to_us(*to.until) > rules::exact_limit)
    return "expected a time such as 2026-12-01T00:00:00Z (RFC 3339)";
  return {};
}

std::string read_note(const Json& value, WrittenOverride& to) {
  to.note = value.text;
  if (to.note.size() > most_note)
    return "longer than " + std::to_string(most_note) + " bytes; shorten it";
  if (std::ranges::any_of(to.note, http::is_control))
    return "has control characters; write it in one line";
  return wrong_text(value);
}

constexpr std::array<OverrideMember, 13> members{{
    {"identity", Role::owner, Form::text, "NAME",
     "The identity; default: the only one of the limits", read_text<&WrittenOverride::identity>},
    {"key", Role::owner, Form::text, "KEY",
     "The value of the identity, hash:HEX as in the log, or - to read it",
     read_text<&WrittenOverride::key>},
    {"policy", Role::owner, Form::text, "NAME", "The policy", read_text<&WrittenOverride::policy>},
    {"rate", Role::numbers, Form::text, "RATE", "Another rate", read_rate},
    {"rates", Role::numbers, Form::list, "RATE,...", "Other rates of a sliding_window", read_rates},
    {"burst", Role::numbers, Form::count, "UNITS", "Another burst",
     read_count<&WrittenOverride::burst>},
    {"limit", Role::numbers, Form::count, "UNITS", "Another limit of a concurrency policy",
     read_count<&WrittenOverride::limit>},
    {"queue", Role::numbers, Form::count, "UNITS", "Another queue of a leaky_bucket",
     read_count<&WrittenOverride::queue>},
    {"plan", Role::kind, Form::text, "NAME", "The numbers of this plan",
     read_text<&WrittenOverride::plan>},
    {"deny", Role::kind, Form::flag, "", "Answer 403", read_flag<&WrittenOverride::is_denied>},
    {"unlimited", Role::kind, Form::flag, "", "No limit",
     read_flag<&WrittenOverride::is_unlimited>},
    {"until", Role::other, Form::text, "TIME", "Its end, such as 2026-12-01T00:00:00Z", read_until},
    {"note", Role::other, Form::text, "TEXT", "A note for the list", read_note},
}};

/// The names of the members for which `includes` returns true: `rate, deny`.
template <class Includes>
std::string names(std::string_view prefix, Includes&& includes) {
  std::string text;
  for (const OverrideMember& member : members) {
    if (!includes(member)) continue;
    text.append(text.empty() ? "" : ", ").append(prefix).append(member.name);
  }
  return text;
}

/// As in the body, without differences of notation.
void append_value(std::string& out, const Json& value) {
  if (value.kind == JsonKind::string) return json::append_string(out, value.text);
  if (value.kind != JsonKind::list) {
    out += value.text;
    return;
  }
  char before = '[';
  for (const auto& one : value.members) {
    out += std::exchange(before, ',');
    append_value(out, one.value);
  }
  out += ']';
}

/// Returns what is wrong; empty: each member has its form.
std::string read_values(const Json& body, WrittenOverride& to) {
  for (const OverrideMember& member : members) {
    const Json* const value = body.find(member.name);
    if (value == nullptr) continue;
    const std::string problem = member.read(*value, to);
    if (!problem.empty()) return std::string(member.name).append(": ").append(problem);
    if (member.role == Role::owner) continue;
    to.details.append(to.details.empty() ? "\"" : ",\"").append(member.name).append("\":");
    append_value(to.details, *value);
  }
  return {};
}

std::string wrong_kind(const Json& body, const WrittenOverride& written,
                       const MemberWording& wording) {
  const std::string_view prefix = wording.prefix;
  const auto has_role = [](Role role) {
    return [role](const OverrideMember& member) { return member.role == role; };
  };
  const auto kinds =
      written.has_numbers() + !written.plan.empty() + written.is_denied + written.is_unlimited;
  if (kinds != 1) {
    const std::string given = names(prefix, [&body](const OverrideMember& member) {
      return (member.role == Role::numbers || member.role == Role::kind) &&
             body.find(member.name) != nullptr;
    });
    return (given.empty() ? given : given + " exclude each other; ") +
           "expected one of: numbers (" + names(prefix, has_role(Role::numbers)) + "), " +
           names(prefix, has_role(Role::kind)) + std::string(wording.other_kinds);
  }
  const std::string name(prefix);
  if (body.find("rate") != nullptr && body.find("rates") != nullptr)
    return name + "rate and " + name + "rates exclude each other; keep one";
  if (written.has_numbers() && written.policy.empty())
    return name + "policy is missing: numbers are for one policy";
  return {};
}

std::string unknown_member(const Json& body) {
  const auto found = std::ranges::find_if(body.members, [](const json::Member& one) {
    return std::ranges::find(members, one.name, &OverrideMember::name) == members.end();
  });
  return found == body.members.end()
             ? std::string()
             : "unknown member " + config::in_quotes(found->name) + "; known are " +
                   names({}, [](const OverrideMember&) { return true; });
}

const char* about_body(json::ReadError error) {
  switch (error) {
    case json::ReadError::duplicate_member:
      return "a member of the body appears twice; write it once";
    case json::ReadError::too_deep:
    case json::ReadError::too_many_values:
      return "the body has more values than an override has";
    case json::ReadError::syntax:
      break;
  }
  return "the body is not a JSON object in UTF-8";
}

}  // namespace

std::span<const OverrideMember> override_members() {
  return members;
}

Result<WrittenOverride> read_override_members(std::string_view body, const MemberWording& wording) {
  const auto parsed = json::read(body, {.depth = 4, .values = 64});
  if (!parsed) return Problem{about_body(parsed.error())};
  if (parsed->kind != JsonKind::object)
    return Problem{"the body is JSON, but not a JSON object such as {\"key\": \"...\"}"};
  WrittenOverride written;
  std::string problem = unknown_member(*parsed);
  if (problem.empty()) {
    problem = read_values(*parsed, written);
    if (!problem.empty()) problem.insert(0, wording.prefix);
  }
  if (problem.empty()) problem = wrong_kind(*parsed, written, wording);
  if (!problem.empty()) return Problem{problem};
  return written;
}

}  // namespace weir::app
