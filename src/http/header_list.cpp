#include "http/header_list.hpp"

#include <algorithm>

#include "http/head_parser.hpp"

namespace weir::http {
namespace {

constexpr std::string_view crumb_separator = "; ";

}  // namespace

void HeaderList::begin(std::size_t most_bytes) {
  text_.clear();
  places_.clear();
  pseudo_.fill({});
  cookies_ = 0;
  has_secret_crumb_ = false;
  most_bytes_ = most_bytes;
  size_ = 0;
  count_ = 0;
  is_too_large_ = false;
}

HeaderList::Piece HeaderList::keep(std::string_view text) {
  const Piece piece{.begin = text_.size(), .size = text.size()};
  text_.append(text);
  return piece;
}

void HeaderList::add(std::string_view name, std::string_view value, bool is_never_indexed) {
  size_ += name.size() + value.size() + field_overhead;
  const bool is_pseudo = name.starts_with(':');
  count_ += is_pseudo ? 0 : 1;
  is_too_large_ |= size_ > most_bytes_ || count_ > most_fields;
  if (is_too_large_) return;
  if (is_pseudo) {
    const auto at = std::ranges::find(pseudo_names, name);
    if (at != pseudo_names.end())
      pseudo_[static_cast<std::size_t>(at - pseudo_names.begin())] = keep(value);
    return;
  }
  const bool is_cookie = name == "cookie";
  cookies_ += is_cookie ? 1 : 0;
  has_secret_crumb_ |= is_cookie && is_never_indexed;
  const Piece kept_name = keep(name);
  places_.push_back({.name = kept_name,
                     .value = keep(value),
                     .is_cookie = is_cookie,
                     .is_never_indexed = is_never_indexed});
}

/// Several crumbs are joined after all other text.
HeaderList::Piece HeaderList::join_cookies() {
  std::size_t size = text_.size();
  for (const Place& place : places_)
    size += place.is_cookie ? place.value.size + crumb_separator.size() : 0;
  text_.reserve(size);  // the crumbs are read from the same text
  const std::size_t begin = text_.size();
  for (const Place& place : places_) {
    if (!place.is_cookie) continue;
    if (text_.size() > begin) text_.append(crumb_separator);
    text_.append(text_of(place.value));
  }
  return {.begin = begin, .size = text_.size() - begin};
}

void HeaderList::finish(std::vector<FieldView>& fields) {
  fields.clear();
  const Piece cookie = cookies_ > 1 ? join_cookies() : Piece{};
  bool has_cookie = false;
  for (const Place& place : places_) {
    const bool is_joined = place.is_cookie && cookies_ > 1;
    if (is_joined && has_cookie) continue;
    has_cookie |= is_joined;
    const std::string_view name = text_of(place.name);
    fields.push_back({.id = boost::beast::http::string_to_field({name.data(), name.size()}),
                      .is_never_indexed = is_joined ? has_secret_crumb_ : place.is_never_indexed,
                      .name = name,
                      .value = text_of(is_joined ? cookie : place.value)});
  }
}

}  // namespace weir::http
