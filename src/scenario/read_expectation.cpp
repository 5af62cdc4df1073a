// Reads the expectations of a step.
#include <array>

#include "config/hints.hpp"
#include "config/table.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "scenario/read.hpp"

namespace weir::scenario {
namespace {

using config::Cursor;
using config::Entry;
using config::Key;
using config::Node;

using Part = PartOf<Expectation>;

constexpr config::IntegerRange statuses{200, 599};
constexpr config::IntegerRange units{0, config::largest_exact};

/// Reads a name, which is looked up, or `none`.
template <class Find>
void read_name(const Cursor& in, const Part& part, std::optional<std::string>& to, Find find) {
  const auto text = in.text();
  if (!text) return;
  if (*text == "none") {
    to.emplace();
  } else if (part.config == nullptr || find(*text)) {
    to = *text;
  }
}

/// `shown`: the name as it is written, without the values of variables.
bool is_policy(const Cursor& in, const Part& part, const std::string& name,
               const std::string& shown) {
  if (part.config == nullptr) return true;
  return config::find_named(in, {.what = "policy", .written = name, .shown = shown},
                            part.config->limiter.policies)
      .has_value();
}

void read_policy(const Cursor& in, Part& part) {
  read_name(in, part, part.to.policy,
            [&](const std::string& name) { return is_policy(in, part, name, in.node().text); });
}

void read_route(const Cursor& in, Part& part) {
  read_name(in, part, part.to.route, [&](const std::string& name) {
    return config::find_named(in, {.what = "route", .written = name, .shown = in.node().text},
                              part.config->proxy.routes)
        .has_value();
  });
}

void read_upstream(const Cursor& in, Part& part) {
  read_name(in, part, part.to.upstream, [&](const std::string& name) {
    return config::find_named(in, {.what = "upstream", .written = name, .shown = in.node().text},
                              part.config->upstreams)
        .has_value();
  });
}

void read_plan(const Cursor& in, Part& part) {
  read_name(in, part, part.to.plan, [&](const std::string& name) {
    std::vector<std::string_view> names;
    for (const std::string& plan : part.config->limiter.plans.names)
      names.push_back(plan);
    return config::find_among(in, {.what = "plan", .written = name, .shown = in.node().text}, names)
        .has_value();
  });
}

void read_decision(const Cursor& in, Part& part) {
  constexpr std::string_view words[] = {"allowed", "denied", "shadow_denied",
                                        "delayed", "error",  "none"};
  if (const auto word = config::read_word(in, words))
    part.to.decision = words[*word] == "none" ? std::string() : std::string(words[*word]);
}

void read_retry_after(const Cursor& in, Part& part) {
  const auto text = in.text();
  if (!text) return;
  if (*text == "none") {
    part.to.retry_after.emplace();
    return;
  }
  const auto seconds = config::parse_integer(*text);
  if (!seconds || *seconds < 0)
    return in.error_showing("expected seconds as Retry-After has them, such as 59, or none");
  part.to.retry_after = *seconds;
}

/// A map of policies to numbers.
void read_counts(const Cursor& in, const Part& part, Counts& to) {
  if (!in.expect_map("a map of policies to units")) return;
  for (const Entry& entry : in.node().entries) {
    const Cursor value = in.at(entry);
    if (!is_policy(value, part, entry.key, entry.key)) continue;
    if (const auto count = config::read_integer(value, units)) to.emplace_back(entry.key, *count);
  }
}

/// A number for the policy that decides, or a map.
void read_remaining(const Cursor& in, Part& part) {
  if (in.node().kind != Node::Kind::scalar) return read_counts(in, part, part.to.remaining);
  if (const auto count = config::read_integer(in, units))
    part.to.remaining.emplace_back(std::string(), *count);
}

void read_statuses(const Cursor& in, Part& part) {
  if (!in.expect_map("a map of statuses to numbers of requests, such as {200: 5, 429: 1}")) return;
  for (const Entry& entry : in.node().entries) {
    const auto status = config::parse_integer(entry.key);
    const Cursor value = in.at(entry);
    if (!status || *status < statuses.min || *status > statuses.max) {
      value.error("expected a status from 200 to 599 as the key");
      continue;
    }
    if (const auto count = config::read_integer(value, {0, 1'000'000}))
      part.to.statuses.emplace_back(static_cast<int>(*status), *count);
  }
}

void read_expected_fields(const Cursor& in, Part& part) {
  if (!in.expect_map("a map of header fields, such as {retry-after: \"59\"}")) return;
  for (const Entry& entry : in.node().entries) {
    const Cursor value = in.at(entry);
    if (!http::is_token(entry.key)) {
      value.error("expected a field name, such as retry-after");
    } else if (value.node().kind == Node::Kind::null) {
      part.to.fields.emplace_back(entry.key, std::nullopt);
    } else if (const auto text = value.text()) {
      part.to.fields.emplace_back(entry.key, *text);
    }
  }
}

constexpr Key<Part> expectation_keys[] = {
    {.name = "status",
     .read =
         [](const Cursor& in, Part& part) {
           if (const auto status = config::read_integer(in, statuses))
             part.to.status = static_cast<int>(*status);
         }},
    {.name = "statuses", .read = read_statuses},
    {.name = "grpc_status",
     .read =
         [](const Cursor& in, Part& part) {
           if (const auto status = config::read_integer(in, grpc_statuses))
             part.to.grpc_status = static_cast<int>(*status);
         }},
    {.name = "decision", .read = read_decision},
    {.name = "policy", .read = read_policy},
    {.name = "retry_after", .read = read_retry_after},
    {.name = "remaining", .read = read_remaining},
    {.name = "charged",
     .read = [](const Cursor& in, Part& part) { read_counts(in, part, part.to.charged); }},
    {.name = "delay",
     .read =
         [](const Cursor& in, Part& part) {
           config::read_duration(in, part.to.delay.emplace(), scenario_times);
         }},
    {.name = "route", .read = read_route},
    {.name = "upstream", .read = read_upstream},
    {.name = "plan", .read = read_plan},
    {.name = "headers", .read = read_expected_fields},
    {.name = "body",
     .read = [](const Cursor& in, Part& part) { config::read_text(in, part.to.body.emplace()); }},
};

}  // namespace

void read_expectation(const Cursor& in, Part part) {
  config::read_table(in, expectation_keys, part);
}

}  // namespace weir::scenario
