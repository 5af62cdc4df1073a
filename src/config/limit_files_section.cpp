// `rate_limit_service.files`: files with limits, each of which becomes a policy.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/data_files.hpp"
#include "config/limit_file.hpp"
#include "config/sections.hpp"
#include "http/characters.hpp"
#include "http/ratelimit_fields.hpp"
#include "limiter/local_shares.hpp"

namespace weir::config {
namespace {

constexpr std::size_t most_file_patterns = 1000;
constexpr std::size_t most_file_limits = 100'000;
constexpr std::size_t largest_limit_file = DocumentLimits{}.bytes;

/// A policy's name appears in response fields, so other characters than printable ASCII are
/// percent-encoded.
std::string policy_name(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name.append("%").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
  }
  return name;
}

/// `file "limits.yaml" line 3, column 5: descriptors[0].key: message`.
std::string in_file(const std::string& shown, const Diagnostic& problem) {
  std::string text = "file " + in_quotes(shown);
  if (problem.line > 0)
    text += " line " + std::to_string(problem.line) + ", column " + std::to_string(problem.column);
  text += ": ";
  if (!problem.key_path.empty()) text += problem.key_path + ": ";
  return text += problem.message;
}

/// Reads all files of the list.
class LimitFilesReader {
 public:
  LimitFilesReader(const options::RateLimitService& settings, bool in_shadow, Config& to)
      : settings_(settings), in_shadow_(in_shadow), to_(to) {
    for (const limiter::Policy& policy : to.limiter.policies)
      main_names_.insert(policy.name);
  }

  void read(const Cursor& in) {
    const auto written = in.text();
    if (!written) return;
    std::string digests;
    for (const std::string& path : paths_of(in, *written)) {
      if (!seen_.insert(path).second) continue;
      append_hex(digests, read_file(in, path));
    }
    in.note_file(siphash128(SipKey{}, digests));
  }

  std::vector<options::DescriptorDomain> take_domains() { return std::move(domains_); }

 private:
  /// A file that is being read.
  struct File {
    const Cursor& in;
    const std::string& shown;
  };

  std::vector<std::string> paths_of(const Cursor& in, const std::string& written) {
    const LimitFileName& name = to_.limit_file_names.emplace_back(
        limit_file_name(written, resolve_path(in, written), in.environment().directory.string()));
    std::vector<std::string> files = limit_file_paths(name);
    if (files.empty() && in.environment().reads_data_files)
      in.error_showing(
          "no file matches; put one there, or correct the pattern, which is relative to the "
          "directory of this file");
    return files;
  }

  /// Returns the digest of the file.
  Hash128 read_file(const Cursor& in, const std::string& path) {
    const File file{in, in.shown(path)};
    to_.limit_files.push_back({.path = path, .shown = file.shown, .stamp = stamp_of(path)});
    auto text = read_bounded_file(path, largest_limit_file, load_patience);
    if (!text) {
      std::string message = text.error().message;
      replace_quoted(message, path, file.shown);
      report(in, std::move(message));
      return {};
    }
    const LimitFileContent content = parse_limit_file(*text);
    for (const Diagnostic& problem : content.problems)
      report(in, in_file(file.shown, problem));
    for (const Diagnostic& warning : content.warnings)
      in.warn(in_file(file.shown, warning));
    if (content.problems.empty()) add_domain(file, content);
    return siphash128(SipKey{}, *text);
  }

  static void report(const Cursor& in, std::string message) {
    if (in.environment().reads_data_files) in.error(std::move(message));
  }

  void add_domain(const File& file, const LimitFileContent& content) {
    const auto same = std::ranges::find(domains_, content.domain, &options::DescriptorDomain::name);
    if (same != domains_.end()) {
      const auto index = static_cast<std::size_t>(same - domains_.begin());
      return report(file.in, "file " + in_quotes(file.shown) + ": the domain " +
                                 in_quotes(content.domain) + " is already that of file " +
                                 in_quotes(domain_files_[index]) +
                                 "; write all of its descriptors in one file");
    }
    domain_files_.push_back(file.shown);
    domains_.push_back({.name = content.domain,
                        .descriptors = nodes_of(file, content.descriptors, content.domain + '.')});
  }

  std::vector<options::DescriptorNode> nodes_of(const File& file,
                                                const std::vector<FileDescriptor>& descriptors,
                                                const std::string& parent) {
    std::vector<options::DescriptorNode> nodes;
    for (const FileDescriptor& one : descriptors) {
      options::DescriptorNode node{.text = one.text(),
                                   .key = one.key,
                                   .share_threshold = one.share_threshold,
                                   .value_to_metric = one.value_to_metric};
      const std::string name = parent + node.text;
      if (one.limit) node.limit = limit_of(file, one, name);
      node.children = nodes_of(file, one.descriptors, name + '.');
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  options::DescriptorLimit limit_of(const File& file, const FileDescriptor& from,
                                    const std::string& name) {
    const FileLimit& limit = *from.limit;
    options::DescriptorLimit to{.requests_per_unit = limit.requests_per_unit,
                                .unit = limit.unit,
                                .name = limit.name,
                                .replaces = limit.replaces,
                                .quota_mode = from.quota_mode,
                                .shadow_mode = from.shadow_mode || in_shadow_,
                                .detailed_metric = from.detailed_metric,
                                .metadata = from.metadata};
    if (limit.unlimited) return to;
    to.denies_all = limit.requests_per_unit == 0;
    to.policy = to_.limiter.policies.size();
    add_policy(file, from, name);
    return to;
  }

  void add_policy(const File& file, const FileDescriptor& from, const std::string& full_name) {
    limiter::Policy policy;
    policy.name = unused_name(file, from, policy_name(full_name));
    policy.name_item = http::name_item(policy.name);
    policy.shadow = from.shadow_mode || from.quota_mode || in_shadow_;
    policy.visible = !policy.shadow;
    policy.on_failure = to_.redis.on_failure;
    policy.denial = compile_denial({}, to_.denied);
    policy.status = to_.denied.status.value_or(policy.status);
    policy.definition = definition_of(*from.limit);
    const auto numbers = rules::compile(policy.definition);
    if (!numbers) {
      fault(file, from, numbers.error().message);
    } else {
      policy.numbers = *numbers;
      policy.policy_item = http::policy_item(policy.name, numbers->capacity, numbers->refill);
      decide_without_store(file, from, policy);
    }
    to_.limiter.policies.push_back(std::move(policy));
    if (++limits_ == most_file_limits + 1)
      report(file.in, "the files have more than " + std::to_string(most_file_limits) + " limits");
  }

  rules::Definition definition_of(const FileLimit& limit) const {
    rules::Definition definition{.algorithm = settings_.algorithm};
    definition.rates = {{.count = std::max<std::int64_t>(limit.requests_per_unit, 1),
                         .per = options::length_of(limit.unit)}};
    if (definition.algorithm == rules::Algorithm::fixed_window) {
      definition.anchor = rules::Anchor::clock;
      definition.count_rejected = settings_.charges_each;
    }
    return definition;
  }

  /// An instance without a share of the quota denies while Redis does not decide.
  void decide_without_store(const File& file, const FileDescriptor& from,
                            limiter::Policy& policy) const {
    const bool denies_all = from.limit->requests_per_unit == 0;
    if (!denies_all && limiter::local_share(policy, policy.numbers, to_.fixed_replicas())) return;
    policy.on_failure = limiter::OnFailure::deny;
    if (denies_all) return;
    file.in.warn(in_file(file.shown, at_limit(from,
                                              "has fewer requests than store.redis.replicas, so "
                                              "all are denied while Redis is down; write "
                                              "store.redis.on_failure: allow to let them pass")));
  }

  std::string unused_name(const File& file, const FileDescriptor& from, const std::string& name) {
    if (main_names_.contains(name)) {
      fault(file, from,
            "a policy of the configuration has the name of this limit, " + in_quotes(name) +
                ", already; rename that policy");
      return name;
    }
    // Keys and values with dots: `a.b` is one descriptor, or one inside another.
    std::string unused = name;
    for (int number = 2; !names_.insert(unused).second; ++number)
      unused = name + '#' + std::to_string(number);
    return unused;
  }

  static Diagnostic at_limit(const FileDescriptor& from, std::string message) {
    return diagnostic_at(from.limit->position, std::move(message), from.path + ".rate_limit");
  }
  static void fault(const File& file, const FileDescriptor& from, std::string message) {
    report(file.in, in_file(file.shown, at_limit(from, std::move(message))));
  }

  const options::RateLimitService& settings_;
  const bool in_shadow_;
  Config& to_;
  std::set<std::string, std::less<>> main_names_;  ///< of policies of the configuration
  std::set<std::string, std::less<>> names_;       ///< of those of the files
  std::set<std::string, std::less<>> seen_;        ///< paths
  std::vector<options::DescriptorDomain> domains_;
  std::vector<std::string> domain_files_;  ///< their files
  std::size_t limits_ = 0;
};

}  // namespace

std::vector<options::DescriptorDomain> read_limit_files(const Cursor& in,
                                                        const options::RateLimitService& settings,
                                                        bool in_shadow, Config& to) {
  LimitFilesReader reader(settings, in_shadow, to);
  for_each_item(in, "a list of files, such as [\"ratelimit/*.yaml\"]", most_file_patterns,
                [&](const Cursor& item) { reader.read(item); });
  return reader.take_domains();
}

}  // namespace weir::config
