#include "routing/host_index.hpp"

#include <algorithm>

#include "routing/matcher.hpp"

namespace weir::routing {

HostIndex::Number HostIndex::add(std::string_view pattern) {
  const bool is_wildcard = pattern.starts_with("*.");
  if (is_wildcard) {
    pattern.remove_prefix(1);
    const auto dots = static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '.'));
    most_dots_ = std::max(most_dots_, dots);
  }
  const auto next = static_cast<Number>(broader_.size());
  const auto [entry, is_new] =
      (is_wildcard ? wildcards_ : exact_).try_emplace(std::string(pattern), next);
  if (is_new) broader_.push_back(any);
  return entry->second;
}

void HostIndex::link() {
  for (const Numbers* const numbers : {&exact_, &wildcards_}) {
    for (const auto& [text, number] : *numbers)
      broader_[number] = longest_wildcard(text);
  }
}

HostIndex::Number HostIndex::find(std::string_view host) const {
  host = without_root_dot(host);
  const auto exact = exact_.find(host);
  return exact != exact_.end() ? exact->second : longest_wildcard(host);
}

/// A wildcard needs at least one character in place of its asterisk.
HostIndex::Number HostIndex::longest_wildcard(std::string_view host) const {
  Number longest = any;
  std::size_t at = host.size();
  for (std::size_t dots = 0; dots < most_dots_ && at > 1; ++dots) {
    at = host.rfind('.', at - 1);
    if (at == std::string_view::npos || at == 0) break;
    const auto wildcard = wildcards_.find(host.substr(at));
    if (wildcard != wildcards_.end()) longest = wildcard->second;
  }
  return longest;
}

}  // namespace weir::routing
