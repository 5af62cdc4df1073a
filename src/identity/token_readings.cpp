#include "identity/token_readings.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "http/characters.hpp"
#include "identity/blanks.hpp"
#include "identity/credentials.hpp"
#include "identity/parameters.hpp"

namespace weir::identity {
namespace {

using State = TokenReading::State;

/// A token in a request, or why there is none.
struct Found {
  std::string_view text{};
  std::optional<Ambiguity::Kind> ambiguity{};
  /// Not empty: credentials that services may read differently, unless the text is known to be a
  /// token.
  std::string_view credentials{};
};

bool are_clear(std::string_view credentials) {
  return judge_credentials(credentials) != Credentials::words;
}

/// Finds the token in a place.
class Finder {
 public:
  explicit Finder(const http::RequestView& request) : request_(request) {}

  Found operator()(const FromHeader& from) const {
    const http::FieldView* const field = request_.find(from.name);
    const std::string_view value = field == nullptr ? "" : without_blanks(field->value);
    const bool has_scheme = field != nullptr && (field->id == http::FieldId::authorization ||
                                                 field->id == http::FieldId::proxy_authorization);
    return has_scheme ? in_credentials(value) : Found{.text = after_bearer(value)};
  }
  Found operator()(const FromQuery& from) const {
    return of(counted_value(query_parameters(request_.query, from.name), from.repeated));
  }
  Found operator()(const FromCookie& from) const {
    Occurrences found = cookies(request_, from.name);
    found.malformed &= from.malformed == Malformed::refuse;
    return of(counted_value(found, from.repeated));
  }

 private:
  static Found of(const CountedValue& value) {
    return {.text = value.text, .ambiguity = value.ambiguity};
  }

  /// Credentials of another scheme are no token. One word has no scheme: it is taken for a token,
  /// so that a token that was sent without a scheme is never a new client. JSON is an invalid token
  /// rather than an ambiguity.
  static Found in_credentials(std::string_view value) {
    const std::string_view token = after_bearer(value);
    if (is_json_token(token)) return {.text = token};
    const bool is_bearer = token.size() != value.size();
    if (is_bearer || value.find_first_of(" \t") == std::string_view::npos)
      return {.text = token, .credentials = value};
    return are_clear(value) ? Found{} : Found{.ambiguity = Ambiguity::Kind::words};
  }

  /// The value without the scheme Bearer, which is compared without case (RFC 9110 section 11.1).
  static std::string_view after_bearer(std::string_view value) {
    constexpr std::string_view scheme = "bearer";
    const bool has_scheme = value.size() > scheme.size() &&
                            http::iequals(value.substr(0, scheme.size()), scheme) &&
                            http::is_white_space(value[scheme.size()]);
    return has_scheme ? http::trimmed(value.substr(scheme.size())) : value;
  }

  const http::RequestView& request_;
};

}  // namespace

TokenReadings::TokenReadings(std::span<const TokenProvider> providers, SipKey identity_key,
                             Counters counters)
    : providers_(providers),
      identity_key_(identity_key),
      hash_({.k0 = random_seed(), .k1 = random_seed()}),
      known_providers_(providers.size()) {
  for (std::size_t i = 0; i < providers.size(); ++i)
    known_providers_[i].counters =
        counters.empty() ? std::make_shared<TokenCounters>() : std::move(counters[i]);
  for (std::size_t i = 0; i < providers.size(); ++i)
    known_providers_[i].shares_place =
        std::ranges::count(providers, providers[i].place, &TokenProvider::place) > 1;
}

const TokenReading& TokenReadings::of(std::size_t provider, const http::RequestView& request) {
  TokenReading& reading = known_providers_[provider].reading;
  const std::uint32_t bit = std::uint32_t{1} << provider;
  if ((known_ & bit) == 0) {
    known_ |= bit;
    reading = read(provider, request);
  }
  return reading;
}

TokenReading TokenReadings::read(std::size_t index, const http::RequestView& request) {
  const TokenReading& its_own = own(index, request);
  const bool may_be_of_another = known_providers_[index].shares_place &&
                                 its_own.state == State::invalid &&
                                 its_own.rejection == jwt::Rejection::wrong_issuer;
  const TokenReading reading = may_be_of_another ? of_other_issuer(index, request) : its_own;
  TokenCounters& counters = *known_providers_[index].counters;
  switch (reading.state) {
    case State::valid:
      counters.valid.add();
      break;
    case State::unverifiable:
      counters.unverifiable.add();
      break;
    case State::invalid:
      counters.invalid.add();
      if (!providers_[index].rejects_invalid) return {};
      break;
    case State::absent:
    case State::ambiguous:
      break;
  }
  return reading;
}

const TokenReading& TokenReadings::own(std::size_t index, const http::RequestView& request) {
  const std::uint32_t bit = std::uint32_t{1} << index;
  if ((own_known_ & bit) == 0) {
    own_known_ |= bit;
    known_providers_[index].own = read_own(index, request);
  }
  return known_providers_[index].own;
}

/// The reading of the provider at the same place whose issuer the token names, except that a valid
/// token is none of this provider.
TokenReading TokenReadings::of_other_issuer(std::size_t index, const http::RequestView& request) {
  for (std::size_t i = 0; i < providers_.size(); ++i) {
    if (i == index || providers_[i].place != providers_[index].place) continue;
    const TokenReading& other = own(i, request);
    if (other.state == State::valid) return {};
    if (other.rejection != jwt::Rejection::wrong_issuer || other.state != State::invalid)
      return other;
  }
  return known_providers_[index].own;
}

TokenReading TokenReadings::read_own(std::size_t index, const http::RequestView& request) {
  const TokenProvider& provider = providers_[index];
  const Found found = std::visit(Finder{request}, provider.place);
  if (found.ambiguity) return {.state = State::ambiguous, .ambiguity = *found.ambiguity};
  if (found.text.empty()) return {};
  Known& known = known_providers_[index];
  if (known.edition != provider.state->keys.number()) {
    auto [keys, number] = provider.state->keys.edition();
    known.keys = std::move(keys);
    known.edition = number;
    known.cache.clear();
  }
  if (found.text.size() > provider.rules.max_size)
    return {.state = State::invalid, .rejection = jwt::Rejection::too_large};
  const Instant now = now_ + offset_;
  const Hash128 hash = hash_(found.text);
  if (const auto* const valid = known.cache.find_valid(hash, now)) return accept(provider, *valid);
  if (const auto rejection = known.cache.find_rejected(hash)) {
    if (*rejection == jwt::Rejection::unknown_key) provider.state->keys.note_unknown_key();
    return {.state = State::invalid, .rejection = *rejection};
  }
  if (!found.credentials.empty() && !are_clear(found.credentials))
    return {.state = State::ambiguous, .ambiguity = Ambiguity::Kind::words};
  return verify(provider, known, {.text = found.text, .hash = hash, .now = now});
}

TokenReading TokenReadings::verify(const TokenProvider& provider, Known& known,
                                   const NewToken& token) {
  static const jwt::KeySet no_keys;
  auto result =
      jwt::verify(token.text, provider.rules, known.keys ? *known.keys : no_keys, token.now);
  if (auto* const verified = std::get_if<jwt::Verified>(&result)) {
    Valid valid{.verified = std::move(*verified), .keys = {}};
    for (std::size_t i = 0; i < provider.rules.claims.size(); ++i)
      valid.keys.push_back(key_of_claim(provider.name, provider.rules.claims[i],
                                        valid.verified.claims[i], identity_key_));
    return accept(provider, known.cache.add(token.hash, std::move(valid)));
  }
  auto reason = jwt::Rejection::unknown_key;
  if (const auto* const rejected = std::get_if<jwt::Rejected>(&result)) {
    reason = rejected->reason;
  } else {
    provider.state->keys.note_unknown_key();
    if (!known.keys) return {.state = State::unverifiable};
  }
  known.cache.add(token.hash, reason);
  return {.state = State::invalid, .rejection = reason};
}

TokenReading TokenReadings::accept(const TokenProvider& provider, const Valid& valid) {
  using Kind = jwt::ClaimKind;
  const auto& claims = valid.verified.claims;
  auto& unusable = provider.state->unusable_claims;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool is_unusable = claims[i].kind == Kind::list || claims[i].kind == Kind::object;
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (is_unusable && (unusable.load(std::memory_order_relaxed) & bit) == 0)
      unusable.fetch_or(bit, std::memory_order_relaxed);
  }
  return {.state = State::valid, .claims = claims, .keys = valid.keys};
}

}  // namespace weir::identity
