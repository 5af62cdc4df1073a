#include <algorithm>
#include <utility>

#include "base/rfc3339.hpp"
#include "replay/report.hpp"
#include "replay/report_text_rates.hpp"
#include "replay/report_words.hpp"
#include "replay/text_table.hpp"

namespace weir::replay {
namespace {

std::string count_and_share(std::uint64_t part, std::uint64_t whole) {
  return grouped(part) + " (" + share_of(part, whole) + ")";
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(std::max<std::size_t>(16, name.size() + 1) - name.size(), ' ');
  out.append(value).append("\n");
}

/// How many more there are than those shown.
void append_rest(std::string& out, std::uint64_t all, std::size_t shown) {
  if (all > shown) out.append("  ... and ").append(grouped(all - shown)).append(" more\n");
}

void append_lines(std::string& out, const LineReport& lines) {
  if (lines.unreadable == 0) return;
  append_line(out, "unreadable lines", grouped(lines.unreadable));
  for (const LineReport::Fault& one : lines.first_faults)
    out.append("  ")
        .append(one.file)
        .append(":")
        .append(std::to_string(one.number))
        .append(": ")
        .append(describe(one.fault))
        .append("\n");
  append_rest(out, lines.unreadable, lines.first_faults.size());
}

void append_outcomes(std::string& out, const Report& report) {
  const Outcomes& outcomes = report.outcomes;
  const std::uint64_t all = report.lines.read;
  append_line(out, "allowed", count_and_share(outcomes.allowed, all));
  append_line(out, "denied", count_and_share(outcomes.denied, all));
  const auto add = [&](std::string_view name, std::uint64_t count, std::string_view remark) {
    if (count > 0) append_line(out, name, count_and_share(count, all).append(remark));
  };
  add("delayed", outcomes.delayed, ": allowed after a wait");
  add("shadow denied", outcomes.shadow_denied, ": allowed, but denied by a policy in shadow mode");
  add("undecided", outcomes.undecided, ": a required identity is absent or ambiguous");
  add("no route", outcomes.unrouted, ": no route matches, or Weir refuses the request before");
  add("malformed", outcomes.malformed, ": not a valid HTTP request, or Weir did not decide it");
  add("service calls", outcomes.service_calls,
      ": calls of the rate limit service, not replayed, because the log does not have their "
      "descriptors");
  add("late", report.late,
      ": their lines came more than a minute too late in the log; decided at the instant of the "
      "request before them");
  add("ahead", report.ahead,
      ": more than an hour ahead of the lines around them; decided last. Is their time right?");
  add("no client", report.without_client, ": without an IP address; they count as one client");
}

void append_reproduction(std::string& out, const Reproduction& reproduction) {
  if (reproduction.compared == 0) return;
  append_line(out, "reproduced",
              grouped(reproduction.compared - reproduction.different) + " of " +
                  grouped(reproduction.compared) + " decisions of the log");
  for (const Reproduction::Difference& one : reproduction.first)
    out.append("  ")
        .append(one.file)
        .append(":")
        .append(std::to_string(one.line))
        .append(": logged ")
        .append(one.logged)
        .append("; replayed ")
        .append(one.replayed)
        .append("\n");
  append_rest(out, reproduction.different, reproduction.first.size());
}

void append_policies(std::string& out, const Report& report) {
  if (report.routes.empty()) return;
  std::vector<TextRow> rows{{"POLICY", "ROUTE", "REQUESTS", "DENIED", "SHARE"}};
  for (const RouteReport& one : report.routes)
    rows.push_back({one.policy + (one.is_shadow ? " (shadow)" : ""), one.route,
                    grouped(one.use.requests), grouped(one.use.denied),
                    share_of(one.use.denied, one.use.requests)});
  append_table(out, rows, 2);
  rows = {{"POLICY", "KEYS", "LIMITED", "SHARE"}};
  for (const PolicyReport& one : report.policies) {
    if (one.keys > 0)
      rows.push_back({one.policy, grouped(one.keys), grouped(one.denied_keys),
                      share_of(one.denied_keys, one.keys)});
  }
  append_table(out, rows, 1);
}

void append_keys(std::string& out, const Report& report) {
  if (report.keys.empty()) return;
  std::vector<TextRow> rows{
      {"POLICY", "IDENTITY", "KEY", "FIRST DENIED", "REQUESTS", "DENIED", "PEAK"}};
  for (const KeyReport& one : report.keys)
    rows.push_back({one.policy, one.identity, name_of(one), to_rfc3339(one.first_denied_at),
                    grouped(one.use.requests), grouped(one.use.denied), peak_of(one)});
  append_table(out, rows, 4);
}

}  // namespace

std::string_view describe(LineFault fault) {
  switch (fault) {
    case LineFault::form:
      return "a part is missing, or not where the format has it";
    case LineFault::time:
      return "its time cannot be read";
    case LineFault::status:
      return "its status is not a number from 100 to 599";
    case LineFault::length:
      return "it is longer than 1 MiB";
  }
  return {};
}

std::string to_text(const Report& report) {
  std::string out;
  append_line(out, "requests", grouped(report.lines.read));
  if (report.lines.read > 0)
    append_line(out, "time", to_rfc3339(report.first_at) + " to " + to_rfc3339(report.last_at));
  append_outcomes(out, report);
  append_lines(out, report.lines);
  append_reproduction(out, report.reproduction);
  for (const Absence& one : report.absent)
    append_line(out, "absent",
                one.identity + " in " + grouped(one.requests) +
                    " requests: limits looked for it, and the log does not have it");
  append_policies(out, report);
  append_keys(out, report);
  append_rates(out, report.rates);
  if (report.suggestions) append_suggestions(out, *report.suggestions);
  if (report.flips) append_flips(out, *report.flips);
  return out;
}

}  // namespace weir::replay
