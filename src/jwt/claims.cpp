#include "jwt/claims.hpp"

#include <algorithm>

#include "jwt/decimal.hpp"

namespace weir::jwt {
namespace {

using Check = std::optional<Rejection>;

bool is_text(const json::Value* value) {
  return value != nullptr && value->kind == json::Kind::string;
}

Check check_issuer(const json::Value& payload, const Provider& provider) {
  const json::Value* const issuer = payload.find("iss");
  const bool is_well_formed = issuer == nullptr || is_text(issuer);
  const bool is_expected =
      !provider.issuer || (is_text(issuer) && issuer->text == *provider.issuer);
  if (!is_well_formed || !is_expected) return Rejection::wrong_issuer;
  return std::nullopt;
}

/// Returns whether `aud` is a text or a list of texts, and one of them is ours.
Check check_audience(const json::Value& payload, const Provider& provider) {
  const json::Value* const audience = payload.find("aud");
  const auto is_ours = [&](const json::Value& value) {
    return std::ranges::find(provider.audiences, value.text) != provider.audiences.end();
  };
  bool is_well_formed = audience == nullptr || is_text(audience);
  bool is_found = is_text(audience) && is_ours(*audience);
  if (audience != nullptr && audience->kind == json::Kind::list) {
    const auto& list = audience->members;
    is_well_formed =
        std::ranges::all_of(list, [](const json::Member& each) { return is_text(&each.value); });
    is_found = std::ranges::any_of(list, is_ours, &json::Member::value);
  }
  if (!is_well_formed || (!is_found && !provider.audiences.empty()))
    return Rejection::wrong_audience;
  return std::nullopt;
}

/// `exp`, `nbf` and `iat`.
struct Dates {
  std::optional<Instant> expires_at;
  std::optional<Instant> valid_from;
  std::optional<Instant> issued_at;
};

/// Returns false if a date is there and is not a NumericDate.
bool read_date(const json::Value& payload, const char* name, std::optional<Instant>& date) {
  const json::Value* const value = payload.find(name);
  if (value == nullptr) return true;
  if (value->kind != json::Kind::number) return false;
  date = instant_of(read_decimal(value->text));
  return date.has_value();
}

Check check_dates(const Dates& dates, const Provider& provider, Instant now) {
  const Duration leeway = provider.leeway;
  if (!dates.expires_at && provider.is_expiry_required) return Rejection::no_expiry;
  if (dates.expires_at && now >= *dates.expires_at + leeway) return Rejection::expired;
  if (dates.valid_from && now < *dates.valid_from - leeway) return Rejection::not_yet_valid;
  if (dates.issued_at && now < *dates.issued_at - leeway) return Rejection::issued_in_future;
  if (!provider.max_age) return std::nullopt;
  if (!dates.issued_at || now >= *dates.issued_at + *provider.max_age + leeway)
    return Rejection::too_old;
  return std::nullopt;
}

ValidUntil end_of(const Dates& dates, const Provider& provider) {
  ValidUntil end;
  if (dates.expires_at) end = *dates.expires_at + provider.leeway;
  if (provider.max_age && dates.issued_at) {
    const Instant too_old_at = *dates.issued_at + *provider.max_age + provider.leeway;
    end = end ? std::min(*end, too_old_at) : too_old_at;
  }
  return end;
}

Check check_subject(const json::Value& payload) {
  const json::Value* const subject = payload.find("sub");
  if (subject == nullptr) return std::nullopt;
  if (!is_text(subject) || subject->text.empty() || subject->text.size() > longest_subject)
    return Rejection::bad_subject;
  return std::nullopt;
}

/// Returns the value at a path; nullptr if there is none. The depth of the payload limits the
/// recursion, and each object is searched at most once.
const json::Value* find_value(const json::Value& object, std::string_view path) {
  if (const json::Value* const member = object.find(path)) return member;
  for (auto dot = path.rfind('.'); dot != std::string_view::npos;
       dot = dot == 0 ? std::string_view::npos : path.rfind('.', dot - 1)) {
    const json::Value* const member = object.find(path.substr(0, dot));
    if (member == nullptr) continue;
    if (const json::Value* const found = find_value(*member, path.substr(dot + 1))) return found;
  }
  return nullptr;
}

}  // namespace

Result<ValidUntil, Rejection> check_claims(const json::Value& payload, const Provider& provider,
                                           Instant now) {
  if (const Check rejection = check_issuer(payload, provider)) return *rejection;
  if (const Check rejection = check_audience(payload, provider)) return *rejection;
  Dates dates;
  if (!read_date(payload, "exp", dates.expires_at) ||
      !read_date(payload, "nbf", dates.valid_from) || !read_date(payload, "iat", dates.issued_at))
    return Rejection::bad_date;
  if (const Check rejection = check_dates(dates, provider, now)) return *rejection;
  if (const Check rejection = check_subject(payload)) return *rejection;
  return end_of(dates, provider);
}

Claim find_claim(const json::Value& payload, std::string_view path) {
  const json::Value* const value = find_value(payload, path);
  if (value == nullptr) return {};
  switch (value->kind) {
    case json::Kind::null:
      break;
    case json::Kind::boolean:
      return {.kind = ClaimKind::boolean, .text = value->text};
    case json::Kind::number:
      return {.kind = ClaimKind::number, .text = canonical_text(read_decimal(value->text))};
    case json::Kind::string:
      if (value->text.empty()) break;
      return {.kind = ClaimKind::text, .text = value->text};
    case json::Kind::list:
      return {.kind = ClaimKind::list, .text = {}};
    case json::Kind::object:
      return {.kind = ClaimKind::object, .text = {}};
  }
  return {};
}

}  // namespace weir::jwt
