#include "replay/report_text_rates.hpp"

#include "replay/report_words.hpp"
#include "replay/text_table.hpp"

namespace weir::replay {
namespace {

void append_flipped_keys(std::string& out, const std::vector<FlippedKeyReport>& keys,
                         std::string_view heading) {
  if (keys.empty()) return;
  std::vector<TextRow> rows{{std::string(heading), "IDENTITY", "KEY", "FLIPS"}};
  for (const FlippedKeyReport& one : keys)
    rows.push_back({one.policy, one.identity, name_of(one),
                    (one.error > 0 ? "<= " : "") + grouped(one.flips)});
  append_table(out, rows, 3);
}

TextRow row_of(const Suggestion& one, const RateReport& rate, std::string_view remark) {
  return {policy_of(one),
          settings_of(one, rate) + std::string(remark),
          grouped(rate.denied),
          share_of(rate.denied, one.requests),
          grouped(rate.denied_keys),
          share_of(rate.denied_keys, one.keys)};
}

}  // namespace

void append_rates(std::string& out, const std::vector<PolicyRates>& policies) {
  if (policies.empty()) return;
  std::vector<TextRow> rows{
      {"POLICY ALONE", "TIMES", "RATE", "BURST", "DENIED", "SHARE", "KEYS LIMITED", "SHARE"}};
  for (const PolicyRates& policy : policies) {
    for (const RateReport& one : policy.rates) {
      if (one.times)
        rows.push_back({policy_of(policy), *one.times, rate_of(one),
                        grouped(static_cast<std::uint64_t>(one.burst)), grouped(one.denied),
                        share_of(one.denied, policy.requests), grouped(one.denied_keys),
                        share_of(one.denied_keys, policy.keys)});
    }
  }
  append_table(out, rows, 3);
}

void append_suggestions(std::string& out, const Suggestions& suggestions) {
  out.append("\n").append(heading_of(suggestions)).append(":\n");
  std::vector<TextRow> rows{{"POLICY", "SET", "DENIED", "SHARE", "KEYS LIMITED", "SHARE"}};
  std::string remarks;
  for (const Suggestion& one : suggestions.policies) {
    if (one.rate) rows.push_back(row_of(one, *one.rate, ""));
    if (one.smaller) rows.push_back(row_of(one, *one.smaller, " (too small)"));
    const std::string remark = remark_of(one);
    if (!remark.empty()) remarks.append(policy_of(one)).append(": ").append(remark).append("\n");
  }
  if (rows.size() > 1) append_table(out, rows, 2);
  if (!remarks.empty()) out.append("\n").append(remarks);
  for (const std::string& policy : suggestions.without_durations)
    out.append(policy).append(": the log has no durations, so no limit can be suggested\n");
}

void append_flips(std::string& out, const FlipReport& flips) {
  const offline::ComparisonCounts& counts = flips.counts;
  const auto add = [&](std::string_view name, std::uint64_t count) {
    out.append("  ").append(name).append(": ").append(grouped(count)).append(" (");
    out.append(share_of(count, counts.decisions)).append(")\n");
  };
  out.append("\nCompared with ").append(flips.file).append(": ").append(grouped(counts.flips));
  out.append(" of ").append(grouped(counts.decisions)).append(" decisions flip\n");
  add("admitted now, denied by it", counts.to_denied);
  add("denied now, admitted by it", counts.to_admitted);
  const std::uint64_t others = counts.flips - counts.to_denied - counts.to_admitted;
  if (others > 0) add("another status", others);
  if (counts.not_compared > 0) add("not compared", counts.not_compared);
  if (const auto secrets = secrets_of(flips); !secrets.empty())
    out.append("  ").append(secrets).append("\n");
  append_flipped_keys(out, flips.denied, "DENIED BY IT");
  append_flipped_keys(out, flips.admitted, "ADMITTED BY IT");
}

}  // namespace weir::replay
