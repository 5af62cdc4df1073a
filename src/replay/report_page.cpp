#include "replay/report_page.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/rfc3339.hpp"
#include "replay/page_parts.hpp"
#include "replay/page_style.hpp"
#include "replay/report_words.hpp"
#include "status/page.hpp"
#include "status/tables.hpp"

namespace weir::replay {
namespace {

using Kind = PageCell::Kind;
using status::escaped;

constexpr std::size_t no_choice = ~std::size_t{0};

double fraction_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

PageCell share_bar(std::uint64_t part, std::uint64_t whole, Kind kind = Kind::denied_bar) {
  return {share_of(part, whole), kind, fraction_of(part, whole)};
}

void draw_note(std::string& out, std::string_view text) {
  out.append("<p class=\"note\">").append(escaped(text)).append("</p>\n");
}

void draw_heading(std::string& out, std::string_view text) {
  out.append("<h2>").append(escaped(text)).append("</h2>\n");
}

void draw_fact(std::string& out, std::string_view name, std::uint64_t count, std::uint64_t all,
               std::string_view style = {}) {
  out.append("<div class=\"").append(style).append("\"><dt>").append(escaped(name));
  out.append("</dt><dd>").append(grouped(count)).append(" <small>");
  out.append(escaped(share_of(count, all))).append("</small></dd></div>\n");
}

void draw_facts(std::string& out, const Report& report) {
  const Outcomes& outcomes = report.outcomes;
  const std::uint64_t all = report.lines.read;
  out += "<dl>\n";
  draw_fact(out, "allowed", outcomes.allowed, all);
  draw_fact(out, "denied", outcomes.denied, all, "denied");
  const auto add = [&](std::string_view name, std::uint64_t count) {
    if (count > 0) draw_fact(out, name, count, all);
  };
  add("delayed", outcomes.delayed);
  add("denied in shadow mode", outcomes.shadow_denied);
  add("undecided", outcomes.undecided);
  add("no route", outcomes.unrouted);
  add("malformed", outcomes.malformed);
  add("calls of the rate limit service, not replayed", outcomes.service_calls);
  add("late", report.late);
  add("ahead", report.ahead);
  add("no client", report.without_client);
  add("unreadable lines", report.lines.unreadable);
  out += "</dl>\n";
  for (const Absence& one : report.absent)
    draw_note(out, one.identity + " is absent in " + grouped(one.requests) +
                       " requests: limits looked for it, and the log does not have it.");
  if (report.reproduction.compared > 0)
    draw_note(out, grouped(report.reproduction.compared - report.reproduction.different) + " of " +
                       grouped(report.reproduction.compared) +
                       " decisions of the log are reproduced.");
}

void draw_timeline(std::string& out, const Timeline& timeline) {
  const auto& periods = timeline.periods();
  if (periods.empty()) return;
  const std::uint64_t most =
      std::ranges::max_element(periods, {}, &Timeline::Period::requests)->requests;
  PageBars requests{.style = "requests"}, denied{.style = "denied"};
  for (const Timeline::Period& one : periods) {
    requests.shares.push_back(fraction_of(one.requests, most));
    denied.shares.push_back(fraction_of(one.denied, most));
  }
  draw_heading(out, "Over the time of the log");
  const auto begin_of = [&](std::size_t period) {
    return to_rfc3339(timeline.begin() + static_cast<std::int64_t>(period) * timeline.length());
  };
  out.append(
      "<figure id=\"timeline\"><figcaption><i></i>requests<i class=\"denied\"></i>denied, in "
      "periods of ");
  out.append(length_of(timeline.length())).append("; the highest bar is ").append(grouped(most));
  out.append("</figcaption>\n");
  append_chart(out, {requests, denied}, true, no_choice);
  out.append("<p><span>").append(begin_of(0)).append("</span><span>");
  out.append(begin_of(periods.size())).append("</span></p></figure>\n");
  out.append("<details><summary>The numbers of the chart</summary>\n");
  {
    PageTable table(out, "Periods of the log", 1, {"begins", "requests", "denied", "share"});
    for (std::size_t i = 0; i < periods.size(); ++i) {
      if (periods[i].requests > 0)
        table.row(begin_of(i), {grouped(periods[i].requests), grouped(periods[i].denied),
                                share_bar(periods[i].denied, periods[i].requests)});
    }
  }
  out.append("</details>\n");
}

void draw_policies(std::string& out, const Report& report) {
  if (report.routes.empty()) return;
  draw_heading(out, "With the configured rates");
  {
    PageTable table(out, "Requests by policy and route", 2,
                    {"policy", "route", "requests", "denied", "share"});
    for (const RouteReport& one : report.routes)
      table.row(one.policy + (one.is_shadow ? " (shadow)" : ""),
                {{one.route, Kind::text},
                 grouped(one.use.requests),
                 grouped(one.use.denied),
                 share_bar(one.use.denied, one.use.requests)});
  }
  PageTable table(out, "Keys by policy", 1, {"policy", "keys", "limited", "share"});
  for (const PolicyReport& one : report.policies) {
    if (one.keys > 0)
      table.row(one.policy, {grouped(one.keys), grouped(one.denied_keys),
                             share_bar(one.denied_keys, one.keys, Kind::keys_bar)});
  }
}

void draw_keys(std::string& out, const std::vector<KeyReport>& keys) {
  if (keys.empty()) return;
  draw_heading(out, "The keys that are denied most");
  PageTable table(
      out, "Limited keys", 3,
      {"policy", "identity", "key", "first denied", "requests", "denied", "share", "peak"});
  for (const KeyReport& one : keys)
    table.row(one.policy, {{one.identity, Kind::text},
                           {name_of(one), Kind::key},
                           to_rfc3339(one.first_denied_at),
                           grouped(one.use.requests),
                           grouped(one.use.denied),
                           share_bar(one.use.denied, one.use.requests),
                           peak_of(one)});
}

void draw_suggestions(std::string& out, const Suggestions& suggestions) {
  draw_heading(out, "Suggested rates");
  draw_note(out, heading_of(suggestions) + ".");
  {
    PageTable table(out, "Suggestions", 2,
                    {"policy", "setting", "denied", "share", "keys limited", "share"});
    for (const Suggestion& one : suggestions.policies) {
      const auto add = [&](const RateReport& rate, bool is_choice) {
        table.row(policy_of(one),
                  {{settings_of(one, rate) + (is_choice ? "" : " (too small)"), Kind::text},
                   grouped(rate.denied),
                   share_bar(rate.denied, one.requests),
                   grouped(rate.denied_keys),
                   share_bar(rate.denied_keys, one.keys, Kind::keys_bar)},
                  is_choice);
      };
      if (one.rate) add(*one.rate, true);
      if (one.smaller) add(*one.smaller, false);
    }
  }
  for (const Suggestion& one : suggestions.policies) {
    const std::string remark = remark_of(one);
    if (!remark.empty()) draw_note(out, policy_of(one) + ": " + remark + ".");
  }
  for (const std::string& policy : suggestions.without_durations)
    draw_note(out, policy + ": the log has no durations, so no limit can be suggested.");
}

/// The index of the suggested rate; no_choice: none of these.
std::size_t choice_of(const PolicyRates& policy, const std::optional<Suggestions>& suggestions) {
  if (!suggestions) return no_choice;
  for (const Suggestion& one : suggestions->policies) {
    if (one.policy != policy.policy || one.plan != policy.plan || !one.rate ||
        one.drops_burst != policy.drops_burst)
      continue;
    const auto found = std::ranges::find_if(policy.rates, [&](const RateReport& rate) {
      return rate.rates == one.rate->rates && rate.limit == one.rate->limit;
    });
    return static_cast<std::size_t>(found - policy.rates.begin());
  }
  return no_choice;
}

/// Higher rates than these change nothing.
std::size_t shown_rates(const PolicyRates& policy, std::size_t choice) {
  const auto changes = [&](std::size_t rate) {
    const RateReport& one = policy.rates[rate];
    return rate == 0 || one.times || rate == choice || one.denied != policy.rates[rate - 1].denied;
  };
  std::size_t shown = policy.rates.size();
  while (shown > 1 && !changes(shown - 1))
    --shown;
  return shown;
}

void draw_rates_of(std::string& out, const PolicyRates& policy, std::size_t choice) {
  const std::string name = policy_of(policy) + (policy.drops_burst ? " without its burst" : "");
  const std::span rates = std::span(policy.rates).first(shown_rates(policy, choice));
  PageBars requests{.style = "denied"}, keys{.style = "keys"};
  for (const RateReport& one : rates) {
    requests.shares.push_back(fraction_of(one.denied, policy.requests));
    keys.shares.push_back(fraction_of(one.denied_keys, policy.keys));
  }
  out.append("<h3>").append(escaped(name)).append("</h3>\n");
  out.append(
      "<figure class=\"rates\"><figcaption><i class=\"denied\"></i>share of requests denied"
      "<i class=\"keys\"></i>share of keys limited, from 0 to 100 %</figcaption>\n");
  append_chart(out, {requests, keys}, false, choice);
  out.append("<p><span>").append(escaped(rate_of(rates.front()))).append("</span><span>");
  out.append(escaped(rate_of(rates.back()))).append("</span></p></figure>\n");
  PageTable table(out, name + " at other rates", 2,
                  {"rate", "", "burst", "denied", "share", "keys limited", "share"});
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const RateReport& one = rates[i];
    table.row(rate_of(one),
              {{one.times.value_or(std::string()) + (i == choice ? " suggested" : ""), Kind::text},
               grouped(static_cast<std::uint64_t>(one.burst)),
               grouped(one.denied),
               share_bar(one.denied, policy.requests),
               grouped(one.denied_keys),
               share_bar(one.denied_keys, policy.keys, Kind::keys_bar)},
              i == choice);
  }
}

void draw_rates(std::string& out, const Report& report) {
  if (report.rates.empty()) return;
  draw_heading(out, "At other rates");
  draw_note(out,
            "Each policy alone, as if no other limit denied a request. x1 is the configured rate.");
  for (const PolicyRates& policy : report.rates)
    draw_rates_of(out, policy, choice_of(policy, report.suggestions));
}

void draw_flipped(std::string& out, std::string_view caption,
                  const std::vector<FlippedKeyReport>& keys, std::uint64_t all) {
  if (keys.empty()) return;
  PageTable table(out, caption, 3, {"policy", "identity", "key", "flips", "share"});
  for (const FlippedKeyReport& one : keys)
    table.row(one.policy, {{one.identity, Kind::text},
                           {name_of(one), Kind::key},
                           (one.error > 0 ? "at most " : "") + grouped(one.flips),
                           share_bar(one.flips, all)});
}

void draw_flips(std::string& out, const FlipReport& flips) {
  const offline::ComparisonCounts& counts = flips.counts;
  draw_heading(out, "Compared with " + flips.file);
  if (const auto secrets = secrets_of(flips); !secrets.empty()) draw_note(out, secrets);
  {
    PageTable table(out, "Decisions that flip", 1, {"decisions", "number", "share"});
    const auto add = [&](std::string_view name, std::uint64_t count) {
      table.row(std::string(name), {grouped(count), share_bar(count, counts.decisions)});
    };
    add("compared", counts.decisions);
    add("that flip", counts.flips);
    add("admitted now, denied by it", counts.to_denied);
    add("denied now, admitted by it", counts.to_admitted);
    add("with another status", counts.flips - counts.to_denied - counts.to_admitted);
    add("not compared", counts.not_compared);
  }
  draw_flipped(out, "Keys that only it denies", flips.denied, counts.to_denied);
  draw_flipped(out, "Keys that only the configuration denies", flips.admitted, counts.to_admitted);
}

}  // namespace

std::string to_page(const Report& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ";
  out.append(status::hash_source(page_style));
  out.append(
      "; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>weir replay</title>\n<style>");
  out.append(page_style).append("</style>\n</head>\n<body>\n<h1>Replay of ");
  out.append(grouped(report.lines.read)).append(" requests</h1>\n");
  if (report.lines.read > 0)
    draw_note(out, to_rfc3339(report.first_at) + " to " + to_rfc3339(report.last_at));
  draw_facts(out, report);
  if (report.suggestions) draw_suggestions(out, *report.suggestions);
  draw_timeline(out, report.timeline);
  draw_policies(out, report);
  draw_rates(out, report);
  if (report.flips) draw_flips(out, *report.flips);
  draw_keys(out, report.keys);
  return out.append("</body>\n</html>\n");
}

}  // namespace weir::replay
