// Tokens. The input is a token; its first line and the rest are also the header and the payload of
// a token that is signed with a secret. An accepted token is the only encoding of its parts, and
// its claims are those that another JSON parser finds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "jwt/token.hpp"
#include "jwt/verify.hpp"
#include "unit/jwt/encoding.hpp"

namespace {

using namespace weir;

const std::string secret(32, 's');
constexpr Instant now{std::chrono::seconds(1'700'000'000)};

void require(bool holds) {
  if (!holds) std::abort();
}

const jwt::Provider& provider() {
  static const jwt::Provider value{.algorithms = {jwt::JwsAlgorithm::hs256},
                                   .issuer = std::nullopt,
                                   .audiences = {},
                                   .type = std::nullopt,
                                   .is_expiry_required = false,
                                   .max_age = std::nullopt,
                                   .max_size = 64 * 1024,
                                   .claims = {"sub", "a.b", "plan"}};
  return value;
}

jwt::Verification verify(std::string_view token) {
  static const jwt::KeySet keys = jwt::KeySet::of_secret(Secret{secret}).value();
  const auto result = jwt::verify(token, provider(), keys, now);
  if (const auto* const rejected = std::get_if<jwt::Rejected>(&result))
    require(!jwt::description_of(rejected->reason).empty());
  return result;
}

void check_parts(const std::string& text) {
  const auto token = jwt::parse_token(text, provider().max_size);
  if (!token) return;
  const auto& id = token->header.key_id;
  require(!id || (!id->empty() && id->size() <= jwt::longest_key_id));
  const auto dot = text.find('.');
  require(text.substr(dot + 1) ==
          jwt::encode_base64url(token->payload) + '.' + jwt::encode_base64url(token->signature));
  require(text[token->signed_size] == '.');
}

std::string sign(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(), &size);
  return text + '.' + jwt::encode_base64url({reinterpret_cast<const char*>(code.data()), size});
}

void check_claims(const jwt::Verified& verified, std::string_view payload) {
  require(verified.claims.size() == provider().claims.size());
  require(!verified.valid_until || *verified.valid_until > now);
  const auto json = nlohmann::json::parse(payload);
  require(json.is_object());
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const auto found = json.find(provider().claims[i]);
    const jwt::Claim& claim = verified.claims[i];
    require((claim.kind == jwt::ClaimKind::text) ==
            (found != json.end() && found->is_string() && *found != ""));
    if (claim.kind == jwt::ClaimKind::text) require(*found == claim.text);
    if (claim.kind == jwt::ClaimKind::number)
      require(std::strtod(claim.text.c_str(), nullptr) == found->get<double>());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  check_parts(input);
  require(!std::holds_alternative<jwt::NeedsKey>(verify(input)));

  const auto newline = std::min(input.find('\n'), input.size());
  const std::string payload = input.substr(std::min(newline + 1, input.size()));
  const std::string token = sign(jwt::unsigned_token(input.substr(0, newline), payload));
  check_parts(token);
  const auto result = verify(token);
  if (const auto* const verified = std::get_if<jwt::Verified>(&result))
    check_claims(*verified, payload);
  else
    require(std::get<jwt::Rejected>(result).reason != jwt::Rejection::bad_signature);
  return 0;
}
