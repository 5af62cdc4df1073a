#include "config/written.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include "config/key_path.hpp"
#include "http/characters.hpp"

namespace weir::config {

void Written::add(const std::string& path, std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return http::is_control(c) || c == '\t'; }, '?');
  texts_.insert_or_assign(path, std::move(line));
}

bool Written::has_within(const std::string& path) const {
  for (auto at = texts_.lower_bound(path); at != texts_.end(); ++at) {
    const std::string& found = at->first;
    if (!found.starts_with(path)) return false;
    if (found.size() == path.size() || found[path.size()] == '.' || found[path.size()] == '[')
      return true;
  }
  return false;
}

bool Written::hides_numbers_of(const std::string& policy_path) const {
  constexpr std::string_view numbers[] = {"rate", "rates", "burst", "limit", "queue", "max_delay"};
  return std::any_of(std::begin(numbers), std::end(numbers),
                     [&](std::string_view key) { return has_within(key_path(policy_path, key)); });
}

std::string Written::shown(std::string_view path, std::string value) const {
  const auto found = texts_.find(path);
  if (found != texts_.end()) value = found->second;
  return value;
}

std::vector<identity::Source> Written::shown_all(
    const std::string& path, const std::vector<identity::Source>& sources) const {
  std::vector<identity::Source> all;
  for (std::size_t i = 0; i < sources.size(); ++i)
    all.push_back(shown(item_path(path, i), sources[i]));
  return all;
}

identity::Source Written::shown(const std::string& path, const identity::Source& source) const {
  identity::Source copy = source;
  if (auto* header = std::get_if<identity::FromHeader>(&copy.from)) {
    header->name = shown(key_path(path, "header"), header->name);
  } else if (auto* query = std::get_if<identity::FromQuery>(&copy.from)) {
    query->name = shown(key_path(path, "query"), query->name);
  } else if (auto* cookie = std::get_if<identity::FromCookie>(&copy.from)) {
    cookie->name = shown(key_path(path, "cookie"), cookie->name);
  } else if (auto* claim = std::get_if<identity::FromClaim>(&copy.from)) {
    const std::string jwt = key_path(path, "jwt");
    claim->provider = shown(key_path(jwt, "provider"), claim->provider);
    claim->claim = shown(key_path(jwt, "claim"), claim->claim);
  } else if (auto* segment = std::get_if<identity::FromPath>(&copy.from)) {
    segment->parameter = shown(key_path(path, "path"), segment->parameter);
  } else if (auto* any = std::get_if<identity::AnyOf>(&copy.from)) {
    any->sources = shown_all(key_path(path, "any_of"), any->sources);
  } else if (auto* all = std::get_if<identity::AllOf>(&copy.from)) {
    all->sources = shown_all(key_path(path, "all_of"), all->sources);
  }
  return copy;
}

std::string without_numbers(std::string_view message) {
  std::string out;
  bool in_number = false;
  for (const char c : message) {
    const bool is_digit = http::is_digit(c);
    if (!is_digit) out += c;
    if (is_digit && !in_number) out += "...";
    in_number = is_digit;
  }
  return out;
}

}  // namespace weir::config
