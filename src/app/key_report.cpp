#include "app/key_report.hpp"

#include <algorithm>

namespace weir::app {
namespace {

using Level = LogLine::Level;

/// An issuer whose servers have different sets for a while must not fill the log.
constexpr std::size_t remembered_sets = 16;

std::string count_of_keys(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " key" : " keys");
}

}  // namespace

LogLine KeyReport::line(LogLine::Level level, const std::string& text) const {
  return {level, subject_ + ": " + text};
}

std::vector<LogLine> KeyReport::failed(const std::string& url, const std::string& reason,
                                       bool has_keys) {
  if (failure_ == reason) return {};
  failure_ = reason;
  return {line(Level::warning,
               "cannot fetch the keys from " + url + ": " + reason +
                   (has_keys ? "; the keys fetched before stay in use"
                             : "; tokens cannot be verified until the keys have been fetched"))};
}

std::vector<LogLine> KeyReport::fetched_again() {
  if (failure_.empty()) return {};
  failure_.clear();
  return {line(Level::info, "the keys can be fetched again")};
}

std::vector<LogLine> KeyReport::fetched(const std::string& url, const jwt::ReadKeySet& set,
                                        const std::string& digest) {
  failure_.clear();
  std::vector<LogLine> lines{
      line(Level::info, "fetched " + count_of_keys(set.keys.size()) + " from " + url)};
  if (std::ranges::find(reported_, digest) == reported_.end()) {
    reported_.push_back(digest);
    if (reported_.size() > remembered_sets) reported_.pop_front();
    add_problems(set, lines);
  }
  if (set.keys.size() == 0)
    lines.push_back(line(Level::warning, "the set has no usable key; every token is rejected"));
  return lines;
}

void KeyReport::add_problems(const jwt::ReadKeySet& set, std::vector<LogLine>& lines) const {
  const std::size_t listed = std::min(set.problems.size(), listed_problems);
  for (std::size_t i = 0; i < listed; ++i)
    lines.push_back(line(Level::warning, set.problems[i]));
  if (listed < set.problems.size()) {
    lines.push_back(line(Level::warning, "and " + std::to_string(set.problems.size() - listed) +
                                             " more problems of the set"));
  }
}

}  // namespace weir::app
