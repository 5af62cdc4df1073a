#include "config/written.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include "config/key_path.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::config {

void Written::add(const std::string& path, std::string_view text, std::string_view value) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return http::is_control(c) || c == '\t'; }, '?');
  scalars_.insert_or_assign(path, Scalar{std::move(line), std::string(value)});
}

void Written::inherit(const std::string& path, const std::string& origin) {
  if (const auto found = scalars_.find(origin); found != scalars_.end())
    scalars_.insert_or_assign(path, Scalar(found->second));
}

std::string Written::without_values(std::string message) const {
  const auto replace = [&](const std::string& value, const std::string& text) {
    if (!value.empty()) replace_quoted(message, value, text);
  };
  for (const auto& [path, scalar] : scalars_) {
    std::string value = scalar.value;
    std::string text = scalar.text;
    replace(value, text);
    const std::size_t colon = value.find(':');
    if (colon != std::string::npos) {  // `query:NAME` of an attribute
      const bool has_kind = text.starts_with(value.substr(0, colon + 1));
      value.erase(0, colon + 1);
      if (has_kind) text.erase(0, colon + 1);
      replace(value, text);
    }
    std::ranges::transform(value, value.begin(), http::to_lower);
    replace(value, text);
  }
  return message;
}

Shown Shown::operator[](std::string_view key) const {
  return Shown(written_, key_path(path_, key));
}

Shown Shown::operator[](std::size_t index) const {
  return Shown(written_, item_path(path_, index));
}

std::string Shown::operator()(std::string value) const {
  const auto found = written_.scalars_.find(path_);
  return found == written_.scalars_.end() ? std::move(value) : found->second.text;
}

std::string Shown::operator()(std::int64_t value) const {
  return (*this)(std::to_string(value));
}

std::string Shown::operator()(Duration value) const {
  return (*this)(format_duration(value));
}

std::vector<identity::Source> Shown::all(const std::vector<identity::Source>& sources) const {
  std::vector<identity::Source> all;
  for (std::size_t i = 0; i < sources.size(); ++i)
    all.push_back((*this)[i](sources[i]));
  return all;
}

identity::Source Shown::operator()(const identity::Source& source) const {
  const Shown& at = *this;
  identity::Source copy = source;
  if (auto* header = std::get_if<identity::FromHeader>(&copy.from)) {
    header->name = at["header"](header->name);
  } else if (auto* query = std::get_if<identity::FromQuery>(&copy.from)) {
    query->name = at["query"](query->name);
  } else if (auto* cookie = std::get_if<identity::FromCookie>(&copy.from)) {
    cookie->name = at["cookie"](cookie->name);
  } else if (auto* claim = std::get_if<identity::FromClaim>(&copy.from)) {
    claim->provider = at["jwt"]["provider"](claim->provider);
    claim->claim = at["jwt"]["claim"](claim->claim);
  } else if (auto* segment = std::get_if<identity::FromPath>(&copy.from)) {
    segment->parameter = at["path"](segment->parameter);
  } else if (auto* any = std::get_if<identity::AnyOf>(&copy.from)) {
    any->sources = at["any_of"].all(any->sources);
  } else if (auto* all = std::get_if<identity::AllOf>(&copy.from)) {
    all->sources = at["all_of"].all(all->sources);
  }
  return copy;
}

std::string Shown::operator()(const limiter::PlanSource& source) const {
  if (const auto* const header = std::get_if<limiter::PlanFromHeader>(&source.from))
    return "header " + (*this)["header"](header->name);
  if (const auto* const claim = std::get_if<limiter::PlanFromClaim>(&source.from))
    return identity::describe((*this)(claim->source));
  return limiter::describe(source);
}

bool Shown::is_hidden() const {
  const auto& scalars = written_.scalars_;
  for (auto at = scalars.lower_bound(path_); at != scalars.end(); ++at) {
    const std::string& found = at->first;
    if (!found.starts_with(path_)) return false;
    if (found.size() == path_.size() || found[path_.size()] == '.' || found[path_.size()] == '[')
      return true;
  }
  return false;
}

bool Shown::hides_numbers() const {
  constexpr std::string_view numbers[] = {"rate", "rates", "burst", "limit", "queue", "max_delay"};
  return std::ranges::any_of(numbers,
                             [&](std::string_view key) { return (*this)[key].is_hidden(); });
}

std::string unless_hidden(bool is_hidden, std::string text) {
  return is_hidden ? std::string(from_environment) : std::move(text);
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
