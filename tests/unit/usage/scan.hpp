// Runs the scanner over a body, whole or divided, for the tests of this room.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "usage/usage_scanner.hpp"

namespace weir::usage {

/// A result of which all members are compared, and shown when a check fails.
struct Found {
  std::optional<std::int64_t> cost;
  bool is_complete = true;
  MissingUsage missing = MissingUsage::none;
  friend bool operator==(const Found&, const Found&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& found) {
    if (found.cost) {
      out << *found.cost;
    } else {
      out << name_of(found.missing);
    }
    return out << (found.is_complete ? "" : " (incomplete)");
  }
};

inline JsonPointer pointer(std::string_view text) {
  auto parsed = JsonPointer::parse(text);
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  return *parsed;
}

/// Compiles entries: pointers that are summed are separated by " + "; without a slash, a field.
inline UsagePlan plan_of(const std::vector<std::string>& entries) {
  std::vector<UsageSource> sources;
  for (std::string_view entry : entries) {
    UsageSource source;
    if (!entry.starts_with('/')) source.field = entry;
    while (entry.starts_with('/')) {
      const std::size_t plus = std::min(entry.find(" + "), entry.size());
      source.pointers.push_back(pointer(entry.substr(0, plus)));
      entry.remove_prefix(std::min(plus + 3, entry.size()));
    }
    sources.push_back(source);
  }
  auto plan = UsagePlan::compile(sources);
  if (!plan) throw std::invalid_argument(plan.error().message);
  return *plan;
}

inline Found found_in(const Usage& usage) {
  return {.cost = usage.cost, .is_complete = usage.is_complete, .missing = usage.missing};
}

/// Feeds the pieces one after the other; the scanner may have read another body before.
inline Found scan(UsageScanner& scanner, std::string_view type,
                  std::initializer_list<std::string_view> pieces, BodyEnd end = BodyEnd::complete) {
  scanner.begin(type, "");
  for (const std::string_view piece : pieces)
    scanner.feed(piece);
  return found_in(scanner.finish(end));
}

inline Found scan_bytes(UsageScanner& scanner, std::string_view type, std::string_view body,
                        std::size_t step = 1) {
  scanner.begin(type, "");
  for (std::size_t at = 0; at < body.size(); at += step)
    scanner.feed(body.substr(at, step));
  return found_in(scanner.finish(BodyEnd::complete));
}

/// Scans a whole body of one type with these entries.
inline Found scan(const std::vector<std::string>& entries, std::string_view type,
                  std::string_view body, BodyEnd end = BodyEnd::complete) {
  const UsagePlan plan = plan_of(entries);
  UsageScanner scanner(plan);
  return scan(scanner, type, {body}, end);
}

}  // namespace weir::usage
