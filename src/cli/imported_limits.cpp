#include "cli/imported_limits.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/yaml_text.hpp"
#include "config/suggest.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using config::FileDescriptor;
using options::RateLimitUnit;

constexpr std::size_t longest_policy_name = 120;

/// The descriptors that lead to a limit, the one with the limit last.
using Path = std::vector<const FileDescriptor*>;

/// Matches any value, whether it is written as a pattern or left out.
bool matches_any(const FileDescriptor& one) {
  return one.value.empty() || one.value == "*";
}

bool has_pattern(const FileDescriptor& one) {
  return one.key.find('*') != std::string::npos ||
         (one.value != "*" && one.value.find('*') != std::string::npos);
}

/// On one line of a comment.
std::string comment_text(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, http::is_control, '?');
  return out;
}

std::string_view rate_time(RateLimitUnit unit) {
  switch (unit) {
    case RateLimitUnit::second:
      return "1s";
    case RateLimitUnit::minute:
      return "1m";
    case RateLimitUnit::hour:
      return "1h";
    case RateLimitUnit::day:
      return "1d";
    case RateLimitUnit::week:
      return "7d";
    case RateLimitUnit::month:
      return "30d";
    case RateLimitUnit::year:
    case RateLimitUnit::unknown:
      break;
  }
  return "365d";
}

/// Why the limit cannot be that of a policy; empty: it can.
std::string_view fault_of_limit(const FileDescriptor& last) {
  if (last.limit->unlimited) return "unlimited: a descriptor without a policy has no limit";
  if (last.limit->requests_per_unit == 0)
    return "requests_per_unit is 0, and a policy admits at least one request";
  if (!last.limit->replaces.empty()) return "replaces has no counterpart";
  if (last.quota_mode) return "quota_mode has no counterpart";
  return {};
}

std::string_view fault_of_path(const Path& path) {
  std::set<std::string_view> keys;
  for (const FileDescriptor* const one : path) {
    if (has_pattern(*one)) return "a pattern is possible only as the whole value";
    if (!keys.insert(one->key).second) return "an entry appears twice";
  }
  return {};
}

/// A descriptor with a limit, together with those that lead to it.
struct Rule {
  Path path;
  std::string fault{};  ///< why it is not written; empty: it is
};

/// True if some entry whose key is that of `step`, which matches any value, is looked up in
/// its sibling `other` instead: exact texts come first, then patterns in the order of the file. A
/// text joins key and value, so it may be that of another key.
bool is_before(const FileDescriptor& other, const FileDescriptor& step) {
  const std::string text = other.text();
  const std::string_view prefix = std::string_view(text).substr(0, text.find('*'));
  const std::string start = step.key + '_';
  if (prefix.size() == text.size()) return text.starts_with(start);
  const bool is_later_pattern = !step.value.empty() && &step < &other;
  return !is_later_pattern && (prefix.starts_with(start) || start.starts_with(prefix));
}

/// Returns the last of `one` and the descriptors inside it that have the texts of `rest`; nullptr:
/// it has no such descriptors.
const FileDescriptor* end_of(const FileDescriptor& one,
                             std::span<const FileDescriptor* const> rest) {
  const FileDescriptor* end = &one;
  for (const FileDescriptor* const step : rest) {
    const auto& inner = end->descriptors;
    const auto found = std::ranges::find_if(
        inner, [&](const FileDescriptor& candidate) { return candidate.text() == step->text(); });
    if (found == inner.end()) return nullptr;
    end = &*found;
  }
  return end;
}

/// The rules of one file, and which of them mean the same as policies.
///
/// Weir uses the matching descriptor with the most exact values. envoyproxy/ratelimit looks each
/// entry up, and stays with what it has found. So a rule for any value of an entry is written only
/// if the same rule is also written for each value that has a descriptor of its own.
class FileRules {
 public:
  explicit FileRules(const config::LimitFileContent& file) : roots_(file.descriptors) {
    Path path;
    add_all(roots_, path);
    find_orders();
    // A rule that is not written may be the reason that another one is not.
    while (find_siblings()) {
    }
  }

  const std::vector<Rule>& all() const { return rules_; }

 private:
  void add_all(const std::vector<FileDescriptor>& descriptors, Path& path) {
    for (const FileDescriptor& one : descriptors) {
      path.push_back(&one);
      if (one.limit) {
        std::string fault(fault_of_limit(one));
        if (fault.empty()) fault = fault_of_path(path);
        if (fault.empty()) written_.insert(&one);
        rules_.push_back({path, std::move(fault)});
      }
      add_all(one.descriptors, path);
      path.pop_back();
    }
  }

  void lose(Rule& rule, std::string fault) {
    rule.fault = std::move(fault);
    written_.erase(rule.path.back());
  }

  /// A policy matches entries in any order. If rules have the same keys in two orders, each would
  /// also limit the requests of the other.
  void find_orders() {
    using Keys = std::vector<std::string_view>;
    std::map<Keys, std::set<Keys>> orders;
    const auto keys_of = [](const Rule& rule) {
      Keys keys;
      for (const FileDescriptor* const one : rule.path)
        keys.push_back(one->key);
      return keys;
    };
    const auto sorted = [](Keys keys) {
      std::ranges::sort(keys);
      return keys;
    };
    for (const Rule& rule : rules_)
      orders[sorted(keys_of(rule))].insert(keys_of(rule));
    for (Rule& rule : rules_) {
      if (rule.fault.empty() && orders[sorted(keys_of(rule))].size() > 1)
        lose(rule,
             "another descriptor has the same keys in another order, and policies match entries in "
             "any order");
    }
  }

  /// Returns false if all rules that are written still mean the same.
  bool find_siblings() {
    bool has_found = false;
    for (Rule& rule : rules_) {
      if (!rule.fault.empty()) continue;
      std::string fault = fault_of_siblings(rule.path);
      if (fault.empty()) continue;
      lose(rule, std::move(fault));
      has_found = true;
    }
    return has_found;
  }

  std::string fault_of_siblings(std::span<const FileDescriptor* const> path) const {
    const std::vector<FileDescriptor>* siblings = &roots_;
    for (; !path.empty(); path = path.subspan(1)) {
      const FileDescriptor& step = *path.front();
      for (const FileDescriptor& other : *siblings) {
        if (!matches_any(step) || &other == &step || !is_before(other, step)) continue;
        std::string fault = fault_of_sibling(other, path);
        if (!fault.empty()) return fault;
      }
      siblings = &step.descriptors;
    }
    return {};
  }

  std::string fault_of_sibling(const FileDescriptor& other,
                               std::span<const FileDescriptor* const> path) const {
    const bool has_same_key = other.key == path.front()->key;
    if (has_same_key && matches_any(other))
      return "it is never used, because " + other.text() + " is looked up before";
    const FileDescriptor* const end = end_of(other, path.subspan(1));
    const std::string text = "it must not count for " + other.text() + ", which has ";
    if (end == nullptr || !end->limit) return text + "no such limit";
    if (!written_.contains(end)) return text + "a limit that is not written";
    return has_same_key ? std::string() : text + "a limit for another key";
  }

  const std::vector<FileDescriptor>& roots_;
  std::vector<Rule> rules_;
  std::set<const FileDescriptor*> written_;  ///< the last of each rule that is
};

class Importer {
 public:
  void add(const config::LimitFileContent& file) {
    domain_ = file.domain;
    const FileRules rules(file);
    for (const Rule& rule : rules.all())
      add_rule(rule);
    ++file_;
  }

  std::vector<ImportLoss> take_losses() { return std::move(losses_); }

  std::string yaml() const {
    std::string out = "# The limits of envoyproxy/ratelimit as policies of Weir.\n" + comments_;
    if (policies_.empty()) return out + "# There is no limit that can be written as a policy.\n";
    return out + "policies:\n" + policies_ +
           "rate_limit_service:\n"
           "  charge: reference\n"
           "  descriptors:\n" +
           descriptors_;
  }

 private:
  /// `edge.tenant_acme.user`.
  std::string full_key() const {
    std::string text = domain_;
    for (const FileDescriptor* const one : path_)
      text += '.' + one->text();
    return text;
  }

  void lose(bool is_limit, const std::string& reason) {
    const std::string key = full_key();
    comments_ += "# " + comment_text(key) + ": " + comment_text(reason) + '\n';
    const FileDescriptor& last = *path_.back();
    losses_.push_back(
        {.file = file_,
         .is_limit = is_limit,
         .reason = config::diagnostic_at(
             last.position, "the limit " + config::in_quotes(key) + " is " + comment_text(reason),
             last.path)});
  }

  void add_rule(const Rule& rule) {
    path_ = rule.path;
    if (!rule.fault.empty()) return lose(true, "not written: " + rule.fault);
    if (!path_.back()->metadata.empty()) lose(false, "written without its metadata");
    const std::string name = policy_name();
    add_policy(name);
    add_descriptor(name);
  }

  /// Printable ASCII, and another one for each rule.
  std::string policy_name() {
    std::string name = full_key();
    std::ranges::replace_if(
        name, [](char c) { return c < ' ' || c > '~'; }, '?');
    name.resize(std::min(name.size(), longest_policy_name));
    std::string unused = name;
    for (int number = 2; !names_.insert(unused).second; ++number)
      unused = name + '#' + std::to_string(number);
    return unused;
  }

  void add_policy(const std::string& name) {
    const FileDescriptor& last = *path_.back();
    policies_ +=
        "  " + yaml_text(name) +
        ": {algorithm: fixed_window, rate: " + std::to_string(last.limit->requests_per_unit) + '/' +
        std::string(rate_time(last.limit->unit)) + ", anchor: clock, count_rejected: true" +
        (last.shadow_mode ? ", mode: shadow" : "") + "}\n";
  }

  void add_descriptor(const std::string& name) {
    std::string entries;
    std::string key;
    for (const FileDescriptor* const one : path_) {
      const std::string separator = entries.empty() ? "" : ", ";
      entries += separator + yaml_text(one->key) + ": " +
                 (matches_any(*one) ? "\"*\"" : yaml_text(one->value));
      if (matches_any(*one) && !one->share_threshold)
        key += (key.empty() ? "" : ", ") + yaml_text(one->key);
    }
    descriptors_ += "    - domain: " + yaml_text(domain_) + "\n      entries: {" + entries +
                    "}\n      policy: " + yaml_text(name) + '\n';
    if (!key.empty()) descriptors_ += "      key: [" + key + "]\n";
  }

  std::string domain_;
  Path path_;
  std::set<std::string> names_;  ///< of policies
  std::size_t file_ = 0;         ///< index of the file that is read
  std::vector<ImportLoss> losses_;
  std::string comments_;
  std::string policies_;
  std::string descriptors_;
};

}  // namespace

ImportedLimits imported_limits(std::span<const config::LimitFileContent> files) {
  Importer importer;
  for (const config::LimitFileContent& file : files)
    importer.add(file);
  return {.yaml = importer.yaml(), .losses = importer.take_losses()};
}

}  // namespace weir::cli
