#include "rls/descriptor_rules.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::rls::test {
namespace {

using Entries = std::vector<identity::DescriptorEntry>;
using options::DescriptorNode;

DescriptorNode node(std::string key, const std::string& value, std::uint32_t limit,
                    std::vector<DescriptorNode> children = {}) {
  DescriptorNode made;
  made.text = value.empty() ? key : key + '_' + value;
  made.key = std::move(key);
  if (limit != 0) made.limit = options::DescriptorLimit{.requests_per_unit = limit};
  made.children = std::move(children);
  return made;
}

/// The number of the limit of a descriptor; 0: it has none.
std::uint32_t found(const std::vector<DescriptorNode>& nodes, const Entries& entries) {
  options::RateLimitService service;
  service.domains = {{.name = "d", .descriptors = nodes}};
  const DescriptorRules rules(service);
  SearchScratch scratch;
  const FileLimit limit = find_limit(*rules.find_domain("d"), entries, scratch);
  return limit.limit == nullptr ? 0 : limit.limit->requests_per_unit;
}

}  // namespace

TEST_CASE("The most specific rule of each entry counts, and the limit of the last one") {
  const std::vector<DescriptorNode> nodes = {
      node("path", "", 1),
      node("path", "/a", 2, {node("user", "", 3), node("user", "root", 4)}),
      node("path", "/b*", 5),
      node("path", "/b/exact", 6),
      node("path", "/*/x", 7),
      node("empty", "", 8),
      node("parent", "", 0, {node("child", "", 9)}),
      node("a_b", "", 10),
      node("*", "", 11),
  };
  const struct {
    const char* what;
    Entries entries;
    std::uint32_t limit;
  } rows[] = {
      {"an exact value", {{"path", "/a"}}, 2},
      {"another value: by the key alone", {{"path", "/other"}}, 11},
      {"an exact value before a pattern", {{"path", "/b/exact"}}, 6},
      {"the first pattern of several", {{"path", "/b/x"}}, 5},
      {"a pattern with characters behind the star", {{"path", "/c/x"}}, 7},
      {"a star stands for no characters, too", {{"path", "/b"}}, 5},
      {"an empty value", {{"empty", ""}}, 11},
      {"the second entry", {{"path", "/a"}, {"user", "x"}}, 3},
      {"the second entry with its value", {{"path", "/a"}, {"user", "root"}}, 4},
      {"deeper than the rules", {{"path", "/a"}, {"user", "x"}, {"more", ""}}, 0},
      {"a rule without a limit", {{"parent", "p"}}, 11},
      {"below a rule without a limit", {{"parent", "p"}, {"child", "c"}}, 0},
      {"key and value are joined, as in the files", {{"a", "b"}}, 10},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(found(nodes, row.entries) == row.limit);
  }
  const std::vector<DescriptorNode> without_any(nodes.begin(), nodes.end() - 1);
  CHECK(found(without_any, {{"path", "/other"}}) == 1);
  CHECK(found(without_any, {{"empty", ""}}) == 8);
  CHECK(found(without_any, {{"parent", "p"}}) == 0);
  CHECK(found(without_any, {{"parent", "p"}, {"child", "c"}}) == 9);
  CHECK(found(without_any, {{"unknown", "x"}}) == 0);
}

TEST_CASE("The descriptors on the way to a limit are shown until nothing matches") {
  options::RateLimitService service;
  service.domains = {
      {.name = "d",
       .descriptors = {node("path", "", 1), node("path", "/a*", 2, {node("user", "", 3)}),
                       node("path", "/a/b", 0, {node("user", "root", 4)})}}};
  const DescriptorRules rules(service);
  const auto texts = [&](const Entries& entries) {
    std::string all;
    for (const DescriptorNode* const one : find_nodes(*rules.find_domain("d"), entries))
      all += one->text + ' ';
    return all;
  };
  CHECK(texts({{"path", "/x"}}) == "path ");
  CHECK(texts({{"path", "/ab"}, {"user", "u"}}) == "path_/a* user ");
  CHECK(texts({{"path", "/a/b"}, {"user", "u"}}) == "path_/a/b ");
  CHECK(texts({{"other", "x"}}).empty());
}

TEST_CASE("The names of hits have values of requests where the flags say so") {
  enum Flags : unsigned { none = 0, detailed = 1, valued = 2, shared = 4 };
  const auto flagged = [](DescriptorNode made, unsigned flags) {
    if (made.limit) made.limit->detailed_metric = (flags & detailed) != 0;
    made.value_to_metric = (flags & valued) != 0;
    made.share_threshold = (flags & shared) != 0;
    return made;
  };
  options::RateLimitService service;
  service.domains = {
      {.name = "d",
       .descriptors = {
           node("plain", "", 1, {flagged(node("all", "", 1), detailed), node("none", "", 1)}),
           node("pattern", "a*", 1, {flagged(node("value", "", 1), valued)}),
           flagged(node("all", "", 1), detailed),
           flagged(node("all_and_value", "", 1), detailed | valued),
           flagged(node("key", "", 1, {node("below", "", 1)}), valued),
           flagged(node("by_pattern", "a*", 1), valued),
           flagged(node("exact", "one", 1), valued),
           flagged(node("shared", "a*", 1), shared),
           flagged(node("shared_value", "a*", 1), shared | valued),
           flagged(node("common", "a*", 1, {flagged(node("all", "", 1), detailed)}),
                   shared | detailed),
           node("pre*", "", 1),
       }}};
  const struct {
    Entries entries;
    std::string name;
    bool has_values;  ///< else it is always that of the file
  } rows[] = {
      {{{"plain", "x"}}, "d.plain", false},
      {{{"plain", "x"}, {"none", "y"}}, "d.plain.none", false},
      {{{"plain", "x"}, {"all", "y"}}, "d.plain_x.all_y", true},
      {{{"pattern", "ab"}}, "d.pattern_a*", false},
      {{{"pattern", "ab"}, {"value", "v"}}, "d.pattern_a*.value_v", true},
      {{{"all", "x"}}, "d.all_x", true},
      {{{"all", ""}}, "d.all_", true},
      {{{"all_and_value", "x"}}, "d.all_and_value_x", true},
      {{{"key", "x"}}, "d.key_x", true},
      {{{"key", ""}}, "d.key", true},
      {{{"key", "x"}, {"below", "y"}}, "d.key_x.below", true},
      {{{"by_pattern", "ab"}}, "d.by_pattern_ab", true},
      {{{"exact", "one"}}, "d.exact_one", false},
      {{{"shared", "ab"}}, "d.shared_a*", false},
      {{{"shared_value", "ab"}}, "d.shared_value_a*", false},
      {{{"common", "ab"}}, "d.common_a*", true},
      {{{"common", "ab"}, {"all", "x"}}, "d.common_a*.all_x", true},
      {{{"common", "ab"}, {"all", ""}}, "d.common_a*.all", true},
      {{{"prefix", "x"}}, "d.prefix_pre*", true},
  };
  const DescriptorRules rules(service);
  const DomainRules& domain = *rules.find_domain("d");
  for (const auto& row : rows) {
    CAPTURE(row.name);
    SearchScratch scratch;
    CHECK(find_limit(domain, row.entries, scratch).names_values == row.has_values);
    std::string name;
    append_hits_name(name, "d", domain, row.entries, scratch);
    CHECK(name == row.name);
  }
}

TEST_CASE("A star stands for any characters") {
  const struct {
    std::string pattern, value;
    bool matches;
  } rows[] = {
      {"a*", "a", true},       {"a*", "abc", true},       {"a*", "ba", false},
      {"*a", "ba", true},      {"*a", "ab", false},       {"a*b", "ab", true},
      {"a*b", "a", false},     {"aba*aba", "aba", false}, {"a*b*c", "a-b-c", true},
      {"a*b*c", "acb", false}, {"a*bb*c", "abc", false},  {"a**c", "ac", true},
      {"*", "", true},         {"a*b*b", "ab", false},    {"a*b*b", "abb", true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.pattern, row.value);
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= row.pattern.size(); ++at) {
      if (at < row.pattern.size() && row.pattern[at] != '*') continue;
      parts.push_back(std::string_view(row.pattern).substr(begin, at - begin));
      begin = at + 1;
    }
    CHECK(matches_pattern(parts, row.value) == row.matches);
  }
}

TEST_CASE("Values share the count of their pattern if it says so") {
  auto shared = node("path", "/files/*", 0, {node("user", "", 1)});
  shared.share_threshold = true;
  options::RateLimitService service;
  service.domains = {{.name = "d", .descriptors = {shared, node("path", "/own/*", 2)}}};
  const DescriptorRules rules(service);
  SearchScratch scratch;
  const Entries entries = {{"path", "/files/7"}, {"user", "u"}};
  const FileLimit limit = find_limit(*rules.find_domain("d"), entries, scratch);
  REQUIRE(limit.counted.size() == 2);
  CHECK(limit.counted[0].value == "/files/*");
  CHECK(limit.counted[1].value == "u");
  const Entries own = {{"path", "/own/7"}};
  CHECK(find_limit(*rules.find_domain("d"), own, scratch).counted[0].value == "/own/7");
}

TEST_CASE("A policy applies to descriptors with exactly its entries, in any order") {
  const options::PolicyDescriptor wanted{
      .domain = "d", .entries = {{.key = "plan", .value = "free"}, {.key = "user"}}};
  const struct {
    Entries entries;
    bool matches;
  } rows[] = {
      {{{"plan", "free"}, {"user", "u"}}, true},
      {{{"user", ""}, {"plan", "free"}}, true},
      {{{"plan", "paid"}, {"user", "u"}}, false},
      {{{"plan", "free"}}, false},
      {{{"plan", "free"}, {"user", "u"}, {"more", "m"}}, false},
      {{{"plan", "free"}, {"plan", "free"}}, false},
      {{}, false},
  };
  for (const auto& row : rows)
    CHECK(matches(wanted, row.entries) == row.matches);
}

TEST_CASE("A policy's key is the values of its entries, or that of the proxy's identity") {
  limiter::Options limits;
  limits.identity_key = {.k0 = 1, .k1 = 2};
  limits.identities = {{.name = "client", .source = {identity::FromClientAddress{}}}};
  const identity::ClientAddressOptions client;
  const identity::ValueOptions values{.client = client};
  options::PolicyDescriptor wanted{
      .domain = "d", .entries = {{.key = "a"}, {.key = "b"}}, .key = {"b"}};
  std::vector<identity::DescriptorEntry> scratch;
  const Entries first = {{"a", "1"}, {"b", "192.0.2.1"}};
  const Entries second = {{"b", "192.0.2.1"}, {"a", "2"}};
  const Hash128 own = key_of(wanted, first, values, limits, scratch);
  CHECK(own == key_of(wanted, second, values, limits, scratch));

  wanted.identity = 0;
  const Hash128 shared = key_of(wanted, first, values, limits, scratch);
  CHECK(shared ==
        identity::keys_of(limits.identities[0].source, "192.0.2.1", values, limits.identity_key)
            .front());
  const Entries no_address = {{"a", "1"}, {"b", "none"}};
  wanted.identity.reset();
  const Hash128 by_entries = key_of(wanted, no_address, values, limits, scratch);
  wanted.identity = 0;
  CHECK(key_of(wanted, no_address, values, limits, scratch) == by_entries);
}

}  // namespace weir::rls::test
