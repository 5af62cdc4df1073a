#include "config/limit_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "config/key_path.hpp"
#include "config/suggest.hpp"
#include "config/yaml11.hpp"
#include "http/request_view.hpp"
#include "json/read.hpp"

namespace weir::config {
namespace {

using options::RateLimitUnit;

/// Deeper than the descriptors of a request.
constexpr DocumentLimits file_limits{.depth = 200};

constexpr std::array<std::string_view, 16> all_keys{"domain",
                                                    "key",
                                                    "value",
                                                    "descriptors",
                                                    "rate_limit",
                                                    "unit",
                                                    "unlimited",
                                                    "name",
                                                    "requests_per_unit",
                                                    "replaces",
                                                    "shadow_mode",
                                                    "quota_mode",
                                                    "detailed_metric",
                                                    "value_to_metric",
                                                    "share_threshold",
                                                    "metadata"};
constexpr std::array<std::string_view, 2> root_keys{"domain", "descriptors"};
constexpr std::array<std::string_view, 10> descriptor_keys{
    "key",        "value",           "descriptors",     "rate_limit",      "shadow_mode",
    "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata"};
constexpr std::array<std::string_view, 5> limit_keys_of_file{"unit", "requests_per_unit",
                                                             "unlimited", "name", "replaces"};
constexpr std::array<std::string_view, 1> replaces_keys{"name"};

constexpr std::array<std::pair<std::string_view, RateLimitUnit>, 7> unit_words{{
    {"second", RateLimitUnit::second},
    {"minute", RateLimitUnit::minute},
    {"hour", RateLimitUnit::hour},
    {"day", RateLimitUnit::day},
    {"week", RateLimitUnit::week},
    {"month", RateLimitUnit::month},
    {"year", RateLimitUnit::year},
}};

std::optional<RateLimitUnit> unit_of(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      unit_words, [&](const auto& one) { return http::iequals(one.first, text); });
  if (found == unit_words.end()) return std::nullopt;
  return found->second;
}

bool is_among(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      break;
  }
  return "a map";
}

constexpr std::int64_t most_requests = std::numeric_limits<std::uint32_t>::max();

/// Describes the fix for a number that is not one of requests, such as 0.5 or 1e+12.
std::string count_fault(const Fraction& number) {
  if (!(number.value > 0 && number.value < static_cast<double>(most_requests)))
    return "expected a number from 0 to 4294967295";
  return "expected a whole number; write a longer unit with more requests, such as "
         "{unit: minute, requests_per_unit: 30} for one request in two seconds";
}

/// A node of the file and its key path.
struct Place {
  const Node& node;
  std::string path;

  Place at(const Entry& entry) const { return {entry.value, key_path(path, entry.key)}; }
  Place at(std::size_t index) const { return {node.items[index], item_path(path, index)}; }
  /// The value of `key`, or this one if the key is absent.
  Place at_key(std::string_view key) const {
    const Entry* const entry = node.find(key);
    return entry == nullptr ? *this : at(*entry);
  }
};

class LimitFileReader {
 public:
  explicit LimitFileReader(LimitFileContent& to) : to_(to) {}

  void read(const Node& root) {
    const Place place{root, {}};
    check_keys(place);
    // A file with a key in a wrong place gets no second problem for what it means there.
    if (!to_.problems.empty()) return;
    warn_of_misplaced(place, root_keys);
    to_.domain = text_at(place, "domain");
    if (is_missing(place, "domain"))
      error(place.at_key("domain"),
            "the domain is missing or empty; write that of Envoy's rate limit filter, such as "
            "domain: edge");
    to_.descriptors = descriptors_at(place);
    warn_of_unknown_names();
  }

 private:
  void error(const Place& place, std::string message) {
    to_.problems.push_back(diagnostic_at(place.node.position, std::move(message), place.path));
  }
  void error_showing(const Place& place, std::string message) {
    error(place, message.append(" (here ").append(in_quotes(place.node.text)).append(")"));
  }
  void expected(const Place& place, std::string_view what) {
    error(
        place,
        std::string("expected ").append(what).append(", found ").append(name_of(place.node.kind)));
  }
  void warn(const Place& place, std::string message) {
    to_.warnings.push_back(diagnostic_at(place.node.position, std::move(message), place.path));
  }

  // The keys and the kinds of values, wherever they are.

  void check_keys(const Place& map) {
    if (map.node.kind != Node::Kind::map)
      return expected(map, "a map with the keys domain and descriptors");
    for (const Entry& entry : map.node.entries) {
      const Place value = map.at(entry);
      if (!is_among(all_keys, entry.key)) {
        to_.problems.push_back(diagnostic_at(
            entry.position, "unknown key " + in_quotes(entry.key) + hint(entry.key, all_keys),
            value.path));
      } else if (entry.key != "metadata") {
        check_value(entry.key, value);
      }
    }
  }

  void check_value(std::string_view key, const Place& value) {
    if (value.node.kind == Node::Kind::map) return check_keys(value);
    for (std::size_t i = 0; i < value.node.items.size(); ++i) {
      const Place item = value.at(i);
      if (item.node.kind != Node::Kind::map) {
        expected(item, "a map, such as {key: remote_address}");
      } else {
        check_keys(item);
      }
    }
    const Yaml11Value read = yaml11_value(value.node);
    const auto* const number = std::get_if<Fraction>(&read);
    if (number == nullptr) return;
    error_showing(value, key == "requests_per_unit"
                             ? count_fault(*number)
                             : "a number with a fraction, or one that is too large, has no "
                               "meaning here; put quotes around a text");
  }

  /// envoyproxy/ratelimit ignores them.
  void warn_of_misplaced(const Place& map, std::span<const std::string_view> known) {
    for (const Entry& entry : map.node.entries) {
      if (is_among(known, entry.key)) continue;
      const bool is_of_limit = is_among(limit_keys_of_file, entry.key);
      const std::string_view place = is_of_limit             ? "rate_limit"
                                     : entry.key == "domain" ? "the top level of the file"
                                                             : "the descriptor";
      warn(map.at(entry), "has no effect here; write it in " + std::string(place));
    }
  }

  /// envoyproxy/ratelimit reads these keys with a limit only.
  void warn_of_useless(const Place& in, const FileDescriptor& one) {
    const bool is_unlimited = one.limit && one.limit->unlimited;
    const auto check = [&](std::string_view key, bool is_set) {
      if (!is_set || (one.limit && !is_unlimited)) return;
      warn(
          in.at_key(key),
          is_unlimited
              ? "has no effect: the descriptor is unlimited"
              : "has no effect: the descriptor has no rate_limit; write it at those that have one");
    };
    check("shadow_mode", one.shadow_mode);
    check("quota_mode", one.quota_mode);
    check("detailed_metric", one.detailed_metric);
    check("metadata", !one.metadata.empty());
    if (one.limit && !is_unlimited && one.shadow_mode && one.quota_mode)
      warn(in.at_key("quota_mode"),
           "has no effect: with shadow_mode the limit never denies; remove one of them");
  }

  void warn_of_unknown_names() {
    const std::vector<std::string_view> known(names_.begin(), names_.end());
    for (const auto& [name, place] : replaced_) {
      if (names_.contains(name)) continue;
      const std::string_view near = closest(name, known);
      warn(place, "has no effect: no limit of this file has the name " + in_quotes(name) +
                      (near.empty() ? "; write it as name in the rate_limit that is replaced"
                                    : "; did you mean " + in_quotes(near) + "?"));
    }
  }

  // Values. An absent one, and one without a value, is empty.

  static bool is_missing(const Place& map, std::string_view key) {
    const Entry* const entry = map.node.find(key);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return true;
    return entry->value.kind == Node::Kind::scalar && entry->value.text.empty();
  }

  std::string text_at(const Place& map, std::string_view key) {
    const Entry* const entry = map.node.find(key);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return {};
    if (entry->value.kind != Node::Kind::scalar) expected(map.at(*entry), "a text");
    return entry->value.text;
  }

  bool flag_at(const Place& map, std::string_view key) {
    const Entry* const entry = map.node.find(key);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return false;
    const Yaml11Value value = yaml11_value(entry->value);
    const bool* const flag = std::get_if<bool>(&value);
    if (flag == nullptr) error_showing(map.at(*entry), "expected true or false");
    return flag != nullptr && *flag;
  }

  std::uint32_t count_at(const Place& map, std::string_view key) {
    const Entry* const entry = map.node.find(key);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return 0;
    const Yaml11Value value = yaml11_value(entry->value);
    const auto* const number = std::get_if<std::int64_t>(&value);
    if (number != nullptr && *number >= 0 && *number <= most_requests)
      return static_cast<std::uint32_t>(*number);
    error_showing(map.at(*entry), "expected a number from 0 to 4294967295, without quotes");
    return 0;
  }

  /// Calls `visit(item)` for each item of a list that may be absent.
  template <class Visit>
  void each_item(const Place& map, std::string_view key, Visit&& visit) {
    const Entry* const entry = map.node.find(key);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return;
    const Place list = map.at(*entry);
    if (list.node.kind != Node::Kind::sequence) return expected(list, "a list");
    for (std::size_t i = 0; i < list.node.items.size(); ++i)
      visit(list.at(i));
  }

  // Descriptors.

  std::vector<FileDescriptor> descriptors_at(const Place& map) {
    std::vector<FileDescriptor> all;
    std::map<std::string, int> lines;  // where each text is first
    each_item(map, "descriptors", [&](const Place& item) {
      all.push_back(descriptor(item));
      const auto [first, is_new] = lines.emplace(all.back().text(), item.node.position.line);
      if (!is_new)
        error(item, "the descriptor " + in_quotes(first->first) + " is already on line " +
                        std::to_string(first->second) +
                        "; keep one (key and value count as one text, joined by _)");
    });
    return all;
  }

  FileDescriptor descriptor(const Place& in) {
    warn_of_misplaced(in, descriptor_keys);
    FileDescriptor one{.position = in.node.position,
                       .path = in.path,
                       .key = text_at(in, "key"),
                       .value = text_at(in, "value"),
                       .limit = limit_at(in),
                       .shadow_mode = flag_at(in, "shadow_mode"),
                       .quota_mode = flag_at(in, "quota_mode"),
                       .detailed_metric = flag_at(in, "detailed_metric"),
                       .value_to_metric = flag_at(in, "value_to_metric"),
                       .share_threshold = flag_at(in, "share_threshold"),
                       .metadata = metadata_at(in),
                       .descriptors = descriptors_at(in)};
    if (is_missing(in, "key"))
      error(in.at_key("key"),
            "the descriptor has no key; write that of an entry, such as key: remote_address");
    if (one.share_threshold && one.text().find('*') == std::string::npos)
      error(in.at_key("share_threshold"),
            "share_threshold needs a * in the value: values that match it share one count; remove "
            "it, or write a value such as \"files/*\"");
    warn_of_useless(in, one);
    return one;
  }

  std::string metadata_at(const Place& in) {
    const Entry* const entry = in.node.find("metadata");
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return {};
    if (entry->value.kind != Node::Kind::map) {
      expected(in.at(*entry), "a map, such as {owner: billing}");
      return {};
    }
    if (entry->value.entries.empty()) return {};
    std::vector<Diagnostic> problems;
    std::string json = json_of_yaml11(entry->value, problems);
    for (Diagnostic& problem : problems) {
      problem.key_path = in.at(*entry).path;
      to_.problems.push_back(std::move(problem));
    }
    if (const json::Limits limits; problems.empty() && !json::read(json, limits))
      error(in.at(*entry), "metadata has at most " + std::to_string(limits.depth) +
                               " levels of lists and maps, and " + std::to_string(limits.values) +
                               " values; remove what no filter reads");
    return json;
  }

  std::optional<FileLimit> limit_at(const Place& descriptor) {
    const Entry* const entry = descriptor.node.find("rate_limit");
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return std::nullopt;
    const Place in = descriptor.at(*entry);
    if (in.node.kind != Node::Kind::map) {
      expected(in, "a map, such as {unit: minute, requests_per_unit: 100}");
      return std::nullopt;
    }
    warn_of_misplaced(in, limit_keys_of_file);
    FileLimit limit{.position = in.node.position,
                    .unlimited = flag_at(in, "unlimited"),
                    .requests_per_unit = count_at(in, "requests_per_unit"),
                    .name = text_at(in, "name")};
    read_unit(in, limit);
    read_replaces(in, limit);
    if (!limit.unlimited && !limit.name.empty()) names_.insert(limit.name);
    if (!limit.unlimited && in.node.find("requests_per_unit") == nullptr)
      warn(in, "without requests_per_unit every request is denied; write it, or remove rate_limit");
    return limit;
  }

  void read_unit(const Place& in, FileLimit& to) {
    const std::string text = text_at(in, "unit");
    const auto unit = unit_of(text);
    const Place place = in.at_key("unit");
    if (to.unlimited) {
      if (unit) error(place, "an unlimited descriptor has no unit; remove unit, or unlimited");
      if (!unit && !text.empty()) warn(place, "has no effect: the descriptor is unlimited");
    } else if (unit) {
      to.unit = *unit;
    } else if (text.empty()) {
      error(place,
            "the limit has no unit; write second, minute, hour, day, week, month or year, such as "
            "unit: minute");
    } else {
      error(place, "expected a unit: second, minute, hour, day, week, month or year (here " +
                       in_quotes(text) + ")");
    }
  }

  void read_replaces(const Place& in, FileLimit& to) {
    each_item(in, "replaces", [&](const Place& item) {
      warn_of_misplaced(item, replaces_keys);
      std::string name = text_at(item, "name");
      if (is_missing(item, "name")) {
        error(item.at_key("name"),
              "the entry has no name; write that of another limit, as in replaces: [{name: NAME}]");
      } else if (name == to.name) {
        error(item.at_key("name"),
              "the limit replaces itself; remove it, or write the name of another limit");
      } else {
        replaced_.emplace_back(name, item.at_key("name"));
      }
      to.replaces.push_back(std::move(name));
    });
  }

  LimitFileContent& to_;
  std::set<std::string, std::less<>> names_{};             ///< of limits that can be replaced
  std::vector<std::pair<std::string, Place>> replaced_{};  ///< names in `replaces`
};

}  // namespace

LimitFileContent parse_limit_file(std::string_view yaml) {
  LimitFileContent content;
  std::optional<Node> root = parse_document(yaml, content.problems, file_limits);
  if (!root && content.problems.empty()) {
    content.problems.push_back(diagnostic_at(
        {}, "the file is empty; write domain: NAME and descriptors, or remove the file"));
  }
  if (!root || !content.problems.empty()) return content;
  expand_merge_keys(*root, content.problems);
  if (content.problems.empty()) LimitFileReader(content).read(*root);
  for (auto* const list : {&content.problems, &content.warnings}) {
    std::ranges::stable_sort(*list, {},
                             [](const Diagnostic& one) { return std::pair(one.line, one.column); });
  }
  return content;
}

}  // namespace weir::config
