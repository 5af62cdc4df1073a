#include "http/field_guard.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "http/characters.hpp"
#include "http/look_alike.hpp"
#include "http/trusted_fields.hpp"

namespace weir::http {
namespace {

namespace beast = boost::beast::http;

/// Fields whose look-alikes are refused in any configuration, in addition to the fields for trusted
/// peers.
constexpr std::array<std::string_view, 2> framing_fields{"content-length", "transfer-encoding"};

constexpr auto last_known_field = static_cast<std::size_t>(FieldId::xref);

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

/// One of 64 bits, which names of the same begin_of() share.
constexpr std::uint64_t bit_of(std::uint32_t begin) {
  constexpr std::uint32_t spread = 0x9E37'79B1;  // 2^32 by the golden ratio
  return std::uint64_t{1} << ((begin * spread) >> 26);
}

}  // namespace

bool may_be_untrusted(std::string_view name) {
  return !iequals(name, "host") &&
         std::none_of(framing_fields.begin(), framing_fields.end(),
                      [name](std::string_view framing) { return iequals(name, framing); });
}

bool FieldGuard::Pattern::matches(std::string_view field_name) const {
  if (is_prefix) return iequals(field_name.substr(0, name.size()), name);
  return iequals(field_name, name);
}

/// The part of a name after a prefix must be plain too: X-Forwarded-Client.Cert may be read as
/// X-Forwarded-Client-Cert.
bool FieldGuard::Pattern::is_imitated_by(std::string_view field_name, bool field_is_plain) const {
  if (is_plain && field_is_plain) return false;
  if (!is_prefix) return is_look_alike(field_name, name);
  const auto begin = field_name.substr(0, name.size());
  if (!are_one_variable(begin, name)) return false;
  return !iequals(begin, name) || !is_plain_name(field_name.substr(name.size()));
}

FieldGuard::FieldGuard(const FieldGuardOptions& options) : drops_unusual_(options.drops_unusual) {
  distrust(origin_fields, false);
  distrust(std::array{options.client_field}, false);
  if (options.removes_untrusted) {
    distrust(removable_fields, true);
    distrust(options.untrusted, true);
  }
  for (const auto& name : framing_fields)
    guard(name);
  for (const auto& name : options.own) {
    guard(name);
    own_.push_back(in_lower_case(name));
  }
  for (const auto& name : options.observed)
    guard(name);
  std::ranges::sort(untrusted_, {}, &Untrusted::begin);
  begins_ |= bit_of(begin_of(cgi_proxy_field));
  if (has_short_prefix_) begins_ = ~std::uint64_t{0};
  find_known();
}

/// The first four characters of a name in lower case; punctuation changes as well, but in the same
/// way for equal names.
std::uint32_t FieldGuard::begin_of(std::string_view name) {
  std::uint32_t begin = 0;
  if (name.size() >= sizeof begin)
    std::memcpy(&begin, name.data(), sizeof begin);
  else if (!name.empty())
    std::memcpy(&begin, name.data(), name.size());
  return begin | 0x2020'2020;
}

template <class Names>
void FieldGuard::distrust(const Names& names, bool spares_own) {
  for (const std::string_view written : names) {
    guard(written);
    const Pattern& pattern = guarded_.back();
    untrusted_.push_back(
        {.begin = begin_of(pattern.name), .spares_own = spares_own, .pattern = pattern});
    begins_ |= bit_of(untrusted_.back().begin);
    has_short_prefix_ |= pattern.is_prefix && pattern.name.size() < sizeof(std::uint32_t);
  }
}

void FieldGuard::guard(std::string_view written) {
  Pattern pattern{.name = in_lower_case(written), .is_prefix = written.ends_with('*')};
  const std::string refusal = "a field has a name that services may read as \"" + pattern.name +
                              "\"; remove it, or write that name";
  if (pattern.is_prefix) pattern.name.pop_back();
  pattern.is_plain = is_plain_name(pattern.name);
  pattern.refusal = refusal;
  has_unusual_ |= !pattern.is_plain;
  guarded_.push_back(std::move(pattern));
}

void FieldGuard::find_known() {
  static_assert(last_known_field < decltype(known_){}.size());
  for (std::size_t id = 1; id <= last_known_field; ++id) {
    const auto text = beast::to_string(static_cast<FieldId>(id));
    const std::string_view name{text.data(), text.size()};
    known_[id] = may_be_untrusted(name) && is_untrusted(name);
  }
}

void FieldGuard::drop_unusual(std::vector<FieldView>& fields) const {
  if (!drops_unusual_) return;
  std::erase_if(fields, [](const FieldView& field) {
    return field.id == FieldId::unknown && !is_plain_name(field.name);
  });
}

std::optional<Refusal> FieldGuard::refusal_of(std::span<const FieldView> fields) const {
  for (const FieldView& field : fields) {
    const bool is_ordinary = field.id != FieldId::unknown || is_plain_name(field.name);
    if (is_ordinary && !has_unusual_) continue;
    if (const Pattern* const imitated = imitated_by(field.name))
      return Refusal{400, imitated->refusal};
  }
  return std::nullopt;
}

const FieldGuard::Pattern* FieldGuard::imitated_by(std::string_view name) const {
  const bool is_plain = is_plain_name(name);
  const auto is_imitated = [&](const Pattern& one) { return one.is_imitated_by(name, is_plain); };
  const auto found = std::find_if(guarded_.begin(), guarded_.end(), is_imitated);
  if (found == guarded_.end()) return nullptr;
  // A guarded name is read as it is, even if it resembles another one.
  const bool is_guarded = std::any_of(guarded_.begin(), guarded_.end(), [&](const Pattern& one) {
    return !one.is_prefix && iequals(one.name, name);
  });
  return is_guarded ? nullptr : &*found;
}

bool FieldGuard::is_removed(std::string_view name, bool peer_is_trusted) const {
  if ((bit_of(begin_of(name)) & begins_) == 0) return false;
  return iequals(name, cgi_proxy_field) || (!peer_is_trusted && is_untrusted(name));
}

bool FieldGuard::is_untrusted(std::string_view name) const {
  const std::uint32_t begin = begin_of(name);
  auto one = untrusted_.begin();
  if (!has_short_prefix_) one = std::ranges::lower_bound(untrusted_, begin, {}, &Untrusted::begin);
  bool removable = false;
  for (; one != untrusted_.end() && (one->begin == begin || has_short_prefix_); ++one) {
    if (!one->pattern.matches(name)) continue;
    if (!one->spares_own) return true;
    removable = true;
  }
  return removable && !is_own(name);
}

bool FieldGuard::is_own(std::string_view name) const {
  return std::any_of(own_.begin(), own_.end(),
                     [name](const std::string& one) { return iequals(one, name); });
}

bool FieldGuard::is_forbidden_in_trailers(std::string_view name) const {
  if (drops_unusual_ && !is_plain_name(name)) return true;
  return std::any_of(guarded_.begin(), guarded_.end(), [name](const Pattern& one) {
    const auto begin = one.is_prefix ? name.substr(0, one.name.size()) : name;
    return are_one_variable(begin, one.name);
  });
}

}  // namespace weir::http
