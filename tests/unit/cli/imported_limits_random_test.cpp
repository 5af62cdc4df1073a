// Random files of envoyproxy/ratelimit: a request is limited by what `weir import` prints as by the
// file itself.
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "cli/imported_limits.hpp"
#include "rls/descriptor_rules.hpp"
#include "unit/config/files.hpp"

namespace weir::cli {
namespace {

using config::FileDescriptor;
using Entries = std::vector<identity::DescriptorEntry>;

class RandomFile {
 public:
  explicit RandomFile(std::uint32_t seed) : random_(seed), text_("domain: d\n" + level(3) + "\n") {}

  const std::string& text() const { return text_; }

  /// Entries with the keys of a rule in its order. Most have its values.
  Entries request(const std::vector<std::vector<const FileDescriptor*>>& rules) {
    static const std::vector<std::string> values = {"", "x", "y", "xz", "b", "b_x"};
    Entries entries;
    for (const FileDescriptor* const step : rules[random_() % rules.size()]) {
      const bool is_exact = step->value.find('*') == std::string::npos && !step->value.empty();
      entries.push_back(
          {step->key, is_exact && sometimes(70) ? std::string_view(step->value) : one_of(values)});
    }
    return entries;
  }

 private:
  bool sometimes(unsigned percent) { return random_() % 100 < percent; }
  const std::string& one_of(const std::vector<std::string>& all) {
    return all[random_() % all.size()];
  }

  std::string level(int depth) {
    static const std::vector<std::string> keys = {"a", "a", "a", "b", "b", "c", "a_b"};
    static const std::vector<std::string> values = {"", "", "", "x", "x", "y", "b", "b_x", "'*'"};
    std::map<std::string, std::string> made;  // by text, because a file has each once
    for (int i = 0; i < 3; ++i) {
      const std::string key = sometimes(2) ? "'a*'" : one_of(keys);
      const std::string value = sometimes(3) ? "'x*'" : one_of(values);
      made.emplace(value.empty() ? key : key + '_' + value, descriptor(key, value, depth));
    }
    std::vector<std::string> all;
    for (auto& [text, one] : made)
      all.push_back(std::move(one));
    std::ranges::shuffle(all, random_);
    std::string out;
    for (const std::string& one : all)
      out += (out.empty() ? "" : ", ") + one;
    return "descriptors: [" + out + "]";
  }

  std::string descriptor(const std::string& key, const std::string& value, int depth) {
    std::string out = "{key: " + key;
    if (!value.empty()) out += ", value: " + value;
    if (value.find('*') != std::string::npos && sometimes(50)) out += ", share_threshold: true";
    if (sometimes(60)) out += ", rate_limit: " + limit();
    if (depth > 1 && sometimes(60)) out += ", " + level(depth - 1);
    return out + "}";
  }

  std::string limit() {
    if (sometimes(10)) return "{unlimited: true}";
    return "{unit: day, requests_per_unit: " + std::to_string(sometimes(10) ? 0 : 5) + "}";
  }

  std::mt19937 random_;
  std::string text_;
};

void add_rules(const std::vector<FileDescriptor>& descriptors,
               std::vector<const FileDescriptor*>& path,
               std::vector<std::vector<const FileDescriptor*>>& to) {
  for (const FileDescriptor& one : descriptors) {
    path.push_back(&one);
    if (one.limit) to.push_back(path);
    add_rules(one.descriptors, path, to);
    path.pop_back();
  }
}

/// A loaded service.
struct Loaded {
  explicit Loaded(std::shared_ptr<const config::Config> from)
      : config(std::move(from)), rules(*config->rate_limit_service) {}

  std::string name_of(std::size_t policy) const { return config->limiter.policies[policy].name; }

  std::shared_ptr<const config::Config> config;
  rls::DescriptorRules rules;
};

/// The policy of a request, and the key that it is counted for.
using Counted = std::pair<std::string, Hash128>;

/// By the file. Nothing, if its limit is one of another key with the same text.
Counted by_file(const Loaded& service, const Entries& entries) {
  const rls::DomainRules* const domain = service.rules.find_domain("d");
  const auto nodes = rls::find_nodes(*domain, entries);
  rls::SearchScratch scratch;
  const rls::FileLimit found = rls::find_limit(*domain, entries, scratch);
  if (found.limit == nullptr || !found.limit->policy) return {};
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (nodes[i]->key != entries[i].key) return {};
  return {service.name_of(*found.limit->policy), identity::key_of_entries(found.counted, 0, {})};
}

Counted by_policies(const Loaded& service, const Entries& entries) {
  const rls::DomainRules* const domain = service.rules.find_domain("d");
  if (domain == nullptr) return {};
  const auto found = std::ranges::find_if(
      domain->policies, [&](const auto* candidate) { return rls::matches(*candidate, entries); });
  if (found == domain->policies.end()) return {};
  const identity::ClientAddressOptions client;
  std::vector<identity::DescriptorEntry> scratch;
  return {service.name_of((*found)->policy),
          rls::key_of(**found, entries, {.client = client}, service.config->limiter, scratch)};
}

TEST_CASE("random files and their policies limit the same requests") {
  const config::test::Files files;
  std::size_t limited = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    RandomFile random(seed);
    const config::LimitFileContent content = config::parse_limit_file(random.text());
    REQUIRE(content.problems.empty());
    std::vector<std::vector<const FileDescriptor*>> rules;
    std::vector<const FileDescriptor*> path;
    add_rules(content.descriptors, path, rules);
    const ImportedLimits imported = imported_limits({&content, 1});
    if (imported.losses.size() == rules.size()) continue;  // no rule is written
    files.write("d.yaml", random.text());
    INFO("seed " << seed << '\n' << random.text() << imported.yaml);
    const Loaded by_name(config::test::must_load(imported.yaml + config::test::route_tail));
    const Loaded service(
        config::test::must_load("rate_limit_service: {files: [d.yaml]}", files.environment()));
    std::map<Counted, Counted> keys;
    std::map<Counted, Counted> back;
    for (int i = 0; i < 50; ++i) {
      const Entries entries = random.request(rules);
      Counted expected = by_file(service, entries);
      const auto& policies = by_name.config->limiter.policies;
      const bool is_written =
          std::ranges::find(policies, expected.first, &limiter::Policy::name) != policies.end();
      if (!is_written) expected = {};
      const Counted found = by_policies(by_name, entries);
      std::string text;
      for (const auto& [key, value] : entries)
        text += std::string(key) + '=' + std::string(value) + ' ';
      INFO(text);
      REQUIRE(found.first == expected.first);
      if (!is_written) continue;
      // They have the same counts in common.
      REQUIRE(keys.try_emplace(expected, found).first->second == found);
      REQUIRE(back.try_emplace(found, expected).first->second == expected);
      ++limited;
    }
  }
  CHECK(limited > 1000);
}

}  // namespace
}  // namespace weir::cli
