#include "jwt/verify.hpp"

#include <utility>

#include "jwt/signature.hpp"
#include "jwt/token.hpp"

namespace weir::jwt {
namespace {

std::optional<Rejection> check_header(const Header& header, const Provider& provider) {
  if (!provider.algorithms.contains(header.algorithm)) return Rejection::disallowed_algorithm;
  if (provider.type && (!header.type || !is_type(*header.type, *provider.type)))
    return Rejection::wrong_type;
  return std::nullopt;
}

bool is_signed_by_any(std::string_view text, const Token& token, const Candidates& candidates) {
  for (std::size_t i = 0; i < candidates.count; ++i) {
    if (is_signed(text, token.signature, *candidates.keys[i], token.header.algorithm)) return true;
  }
  return false;
}

}  // namespace

Verification verify(std::string_view token, const Provider& provider, const KeySet& keys,
                    Instant now) {
  auto parsed = parse_token(token, provider.max_size);
  if (!parsed) return Rejected{parsed.error()};
  const auto payload = read_payload(*parsed);
  if (!payload) return Rejected{payload.error()};
  Header& header = parsed->header;
  if (const auto rejection = check_header(header, provider)) return Rejected{*rejection};
  const auto valid_until = check_claims(*payload, provider, now);
  if (!valid_until) return Rejected{valid_until.error()};

  const Candidates candidates = keys.candidates(header.key_id, header.algorithm);
  if (!candidates.known) return NeedsKey{std::move(header.key_id)};
  if (candidates.count == 0) return Rejected{Rejection::unsuitable_key};
  if (!is_signed_by_any(token.substr(0, parsed->signed_size), *parsed, candidates))
    return Rejected{Rejection::bad_signature};

  Verified verified{.claims = {}, .valid_until = *valid_until};
  verified.claims.reserve(provider.claims.size());
  for (const std::string& path : provider.claims)
    verified.claims.push_back(find_claim(*payload, path));
  return verified;
}

}  // namespace weir::jwt
