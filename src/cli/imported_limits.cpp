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

bool is_written(const Path& path) {
  return fault_of_limit(*path.back()).empty() && fault_of_path(path).empty();
}

/// True if `one`, and the descriptors inside it that have the texts of `rest`, lead to a rule that
/// is written.
bool covers(const FileDescriptor& one, std::span<const FileDescriptor* const> rest) {
  Path path{&one};
  for (const FileDescriptor* const step : rest) {
    const auto& inner = path.back()->descriptors;
    const auto found = std::ranges::find_if(
        inner, [&](const FileDescriptor& candidate) { return candidate.text() == step->text(); });
    if (found == inner.end()) return false;
    path.push_back(&*found);
  }
  return path.back()->limit && is_written(path);
}

/// Finds a value that envoyproxy/ratelimit looks up in another descriptor, which has no rule that
/// is written; nullptr: there is none. A policy for any value would limit it.
const FileDescriptor* exempted_by(const std::vector<FileDescriptor>& siblings,
                                  std::span<const FileDescriptor* const> path) {
  const FileDescriptor& step = *path.front();
  if (!matches_any(step)) return nullptr;
  const auto found = std::ranges::find_if(siblings, [&](const FileDescriptor& other) {
    const bool is_same_key = other.key == step.key || other.key.find('*') != std::string::npos;
    return &other != &step && is_same_key && !covers(other, path.subspan(1));
  });
  return found == siblings.end() ? nullptr : &*found;
}

class Importer {
 public:
  void add(const config::LimitFileContent& file) {
    domain_ = file.domain;
    roots_ = &file.descriptors;
    add_all(file.descriptors);
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
  void add_all(const std::vector<FileDescriptor>& descriptors) {
    for (const FileDescriptor& one : descriptors) {
      path_.push_back(&one);
      if (one.limit) add_rule();
      add_all(one.descriptors);
      path_.pop_back();
    }
  }

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

  void add_rule() {
    std::string reason(fault_of_limit(*path_.back()));
    if (reason.empty()) reason = fault_of_path(path_);
    if (reason.empty()) reason = fault_of_siblings();
    if (reason.empty() && has_other_order())
      reason =
          "another descriptor has the same keys in another order, which has no meaning in Weir";
    if (reason.empty() && !known_.insert(entries_in_order()).second)
      reason = "another descriptor has the same entries";
    if (!reason.empty()) return lose(true, "not written: " + reason);
    if (!path_.back()->metadata.empty()) lose(false, "written without its metadata");
    const std::string name = policy_name();
    add_policy(name);
    add_descriptor(name);
  }

  std::string fault_of_siblings() const {
    const std::vector<FileDescriptor>* siblings = roots_;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      const FileDescriptor* const other = exempted_by(*siblings, std::span(path_).subspan(i));
      if (other != nullptr)
        return "it must not count for " + other->text() + ", which has no such limit";
      siblings = &path_[i]->descriptors;
    }
    return {};
  }

  /// A policy matches entries in any order. If rules had the same keys in two orders, a request
  /// that envoyproxy/ratelimit limits by one of them could be limited by the other.
  bool has_other_order() {
    std::vector<std::string> keys{domain_};
    for (const FileDescriptor* const one : path_)
      keys.push_back(one->key);
    std::vector<std::string> sorted = keys;
    std::sort(sorted.begin() + 1, sorted.end());
    return orders_.try_emplace(std::move(sorted), keys).first->second != keys;
  }

  std::string entries_in_order() const {
    std::vector<std::string> all;
    for (const FileDescriptor* const one : path_)
      all.push_back(yaml_text(one->key) + ": " + (matches_any(*one) ? "*" : yaml_text(one->value)));
    std::ranges::sort(all);
    std::string text = yaml_text(domain_);
    for (const std::string& one : all)
      text += '\n' + one;
    return text;
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
  const std::vector<FileDescriptor>* roots_ = nullptr;
  Path path_;
  std::set<std::string> known_;  ///< entries of the rules that are written
  /// Domains with the keys of their rules: in alphabetical order, and in that of the first rule.
  std::map<std::vector<std::string>, std::vector<std::string>> orders_;
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
