#include "limiter/plan_lines.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace weir::limiter {
namespace {

constexpr std::size_t most_findings = 10;
constexpr std::size_t longest_shown = 64;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view blanks = " \t\r";
constexpr std::string_view hash_mark = "hash:";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// The name before a comment that follows a blank.
std::string_view without_comment(std::string_view text) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    if (at == 0 || blanks.find(text[at - 1]) != std::string_view::npos) return text.substr(0, at);
  }
  return text;
}

/// Printable, cut, in quotes.
std::string shown(std::string_view name) {
  std::string text = "\"";
  for (const char c : name.substr(0, longest_shown))
    text += c >= ' ' && c < '\x7f' && c != '"' ? c : '?';
  return text + (name.size() > longest_shown ? "...\"" : "\"");
}

class Parser {
 public:
  explicit Parser(const PlanLineRules& rules)
      : rules_(rules), accepts_values_(identity::has_one_value(rules.identity.source)) {}

  PlanLines run(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    lines_.table = PlanTable(most_entries(text));
    while (!text.empty()) {
      ++line_;
      const std::string_view content = take_until(text, '\n');
      const std::string_view begin = trimmed(content);
      if (!begin.empty() && !begin.starts_with('#')) read(content);
    }
    return std::move(lines_);
  }

 private:
  std::size_t most_entries(std::string_view text) const {
    std::size_t parts = 0;
    identity::each_part(rules_.identity.source, [&](const identity::Source&) { ++parts; });
    const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return (ends + (text.ends_with('\n') ? 0 : 1)) * (accepts_values_ ? parts : 1);
  }

  void read(std::string_view content) {
    const std::size_t tab = content.find('\t');
    if (tab == std::string_view::npos)
      return problem("expected an identity, a TAB and the name of a plan");
    const std::string_view identity = trimmed(content.substr(0, tab));
    const std::string_view name = trimmed(without_comment(content.substr(tab + 1)));
    if (identity.empty()) return problem("the identity before the TAB is missing");
    if (name.empty()) return problem("the name of a plan after the TAB is missing");
    const std::uint16_t plan = plan_of(name);
    if (!identity.starts_with(hash_mark)) return add_value(identity, plan);
    const auto hash = hash_from_hex(identity.substr(hash_mark.size()));
    if (!hash) return problem("expected 32 hexadecimal digits after hash:, as in the access log");
    add(*hash, plan);
  }

  void add_value(std::string_view value, std::uint16_t plan) {
    if (!accepts_values_)
      return problem("the identity " + rules_.identity.name +
                     " combines several values; write hash: and the hash of the access log");
    const auto keys = identity::keys_of(rules_.identity.source, value, rules_.values, rules_.key);
    if (keys.empty())
      return problem("no request has this value of the identity " + rules_.identity.name +
                     "; correct or remove it");
    for (const Hash128& key : keys)
      add(key, plan);
  }

  void add(const Hash128& client, std::uint16_t plan) {
    if (lines_.table.add(client, plan) != plan)
      problem("an earlier line has another plan for this identity; keep one of them");
  }

  std::uint16_t plan_of(std::string_view name) {
    if (name == last_name_) return last_plan_;
    const auto plan = rules_.plans.find(name);
    if (!plan) {
      add_finding("no plan is called " + shown(name) + ", so the default counts", lines_.unknown,
                  lines_.unknown_omitted);
      return PlanTable::unknown;
    }
    last_name_ = name;
    last_plan_ = static_cast<std::uint16_t>(*plan);
    return last_plan_;
  }

  void problem(std::string message) {
    add_finding(std::move(message), lines_.problems, lines_.omitted);
  }
  void add_finding(std::string message, std::vector<PlanLines::Finding>& to,
                   std::size_t& omitted) const {
    if (to.size() == most_findings) {
      ++omitted;
    } else {
      to.push_back({.line = line_, .message = std::move(message)});
    }
  }

  const PlanLineRules& rules_;
  const bool accepts_values_;
  std::size_t line_ = 0;
  std::string_view last_name_;
  std::uint16_t last_plan_ = 0;
  PlanLines lines_;
};

}  // namespace

PlanLines parse_plan_lines(std::string_view text, const PlanLineRules& rules) {
  return Parser(rules).run(text);
}

}  // namespace weir::limiter
