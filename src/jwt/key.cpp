#include "jwt/key.hpp"

#include <algorithm>
#include <array>
#include <openssl/crypto.h>
#include <utility>

#include "jwt/base64url.hpp"
#include "jwt/token.hpp"

namespace weir::jwt {
namespace {

constexpr std::array private_members{"d", "p", "q", "dp", "dq", "qi", "oth"};

std::size_t hash_size(JwsAlgorithm hmac) {
  switch (hmac) {
    case JwsAlgorithm::hs256:
      return 32;
    case JwsAlgorithm::hs384:
      return 48;
    default:
      return 64;
  }
}

bool fits_type(KeyType type, JwsAlgorithm algorithm) {
  switch (algorithm) {
    case JwsAlgorithm::hs256:
    case JwsAlgorithm::hs384:
    case JwsAlgorithm::hs512:
      return type == KeyType::secret;
    case JwsAlgorithm::rs256:
    case JwsAlgorithm::rs384:
    case JwsAlgorithm::rs512:
    case JwsAlgorithm::ps256:
    case JwsAlgorithm::ps384:
    case JwsAlgorithm::ps512:
      return type == KeyType::rsa;
    case JwsAlgorithm::es256:
      return type == KeyType::p256;
    case JwsAlgorithm::es384:
      return type == KeyType::p384;
    case JwsAlgorithm::es512:
      return type == KeyType::p521;
    case JwsAlgorithm::eddsa:
      return type == KeyType::ed25519 || type == KeyType::ed448;
  }
  return false;
}

/// Returns the text of a member; nullptr if it is absent or not a text.
const std::string* text_of(const json::Value& jwk, std::string_view name) {
  const json::Value* const member = jwk.find(name);
  return member != nullptr && member->kind == json::Kind::string ? &member->text : nullptr;
}

/// Returns the bytes that a member encodes.
Result<std::string> bytes_of_member(const json::Value& jwk, std::string_view name) {
  const std::string* const text = text_of(jwk, name);
  auto bytes = text == nullptr ? std::nullopt : decode_base64url(*text);
  if (!bytes || bytes->empty())
    return Problem{"its \"" + std::string(name) + "\" is missing or not base64url"};
  return {boost::system::in_place_value, std::move(*bytes)};
}

std::optional<KeyType> find_curve(std::string_view key_type, std::string_view name) {
  if (key_type == "EC") {
    if (name == "P-256") return KeyType::p256;
    if (name == "P-384") return KeyType::p384;
    if (name == "P-521") return KeyType::p521;
  } else {
    if (name == "Ed25519") return KeyType::ed25519;
    if (name == "Ed448") return KeyType::ed448;
  }
  return std::nullopt;
}

Result<KeyMaterial> read_rsa(const json::Value& jwk) {
  const auto modulus = bytes_of_member(jwk, "n");
  if (!modulus) return modulus.error();
  const auto exponent = bytes_of_member(jwk, "e");
  if (!exponent) return exponent.error();
  return make_rsa_key(*modulus, *exponent);
}

Result<KeyMaterial> read_curve_point(const json::Value& jwk, KeyType type) {
  const auto x = bytes_of_member(jwk, "x");
  if (!x) return x.error();
  if (coordinate_size(type) == 0) return make_edwards_key(type, *x);
  const auto y = bytes_of_member(jwk, "y");
  if (!y) return y.error();
  return make_ec_key(type, *x, *y);
}

Result<KeyMaterial> read_secret(const json::Value& jwk, std::size_t& size) {
  auto bytes = bytes_of_member(jwk, "k");
  if (!bytes) return bytes.error();
  size = bytes->size();
  auto key = make_secret_key(*bytes);
  OPENSSL_cleanse(bytes->data(), bytes->size());
  return key;
}

/// Reads what the key consists of: `kty`, `crv` and the numbers.
Result<KeyMaterial> read_material(const json::Value& jwk, KeyOrigin origin, Key& key) {
  const std::string* const type = text_of(jwk, "kty");
  if (type == nullptr) return Problem{"it has no \"kty\""};
  if ((*type == "oct") != (origin == KeyOrigin::configured))
    return Problem{origin == KeyOrigin::published
                       ? "it is a secret (\"kty\" is \"oct\"), which must not be published"
                       : "it is not a secret (\"kty\" is not \"oct\")"};
  if (*type == "oct") {
    key.type = KeyType::secret;
    return read_secret(jwk, key.secret_size);
  }
  if (*type == "RSA") {
    key.type = KeyType::rsa;
    return read_rsa(jwk);
  }
  if (*type != "EC" && *type != "OKP")
    return Problem{"its \"kty\" is not one of RSA, EC, OKP and oct"};
  const std::string* const curve = text_of(jwk, "crv");
  const auto found = curve == nullptr ? std::nullopt : find_curve(*type, *curve);
  if (!found)
    return Problem{*type == "EC" ? "its \"crv\" is not one of P-256, P-384 and P-521"
                                 : "its \"crv\" is not Ed25519 or Ed448"};
  key.type = *found;
  return read_curve_point(jwk, *found);
}

}  // namespace

bool Key::fits(JwsAlgorithm wanted) const {
  if (algorithm && *algorithm != wanted) return false;
  if (!fits_type(type, wanted)) return false;
  return !is_symmetric(wanted) || secret_size >= hash_size(wanted);
}

bool is_for_verifying(const json::Value& jwk) {
  const json::Value* const use = jwk.find("use");
  if (use != nullptr && (use->kind != json::Kind::string || use->text != "sig")) return false;
  const json::Value* const operations = jwk.find("key_ops");
  if (operations == nullptr) return true;
  return operations->kind == json::Kind::list &&
         std::ranges::any_of(operations->members, [](const json::Member& operation) {
           return operation.value.kind == json::Kind::string && operation.value.text == "verify";
         });
}

bool has_private_members(const json::Value& jwk) {
  const std::string* const type = text_of(jwk, "kty");
  if (type != nullptr && *type == "oct") return false;
  return std::ranges::any_of(private_members,
                             [&](const char* name) { return jwk.find(name) != nullptr; });
}

Result<Key> read_key(const json::Value& jwk, KeyOrigin origin) {
  Key key;
  if (const json::Value* const id = jwk.find("kid")) {
    if (id->kind != json::Kind::string || id->text.empty() || id->text.size() > longest_key_id)
      return Problem{"its \"kid\" is not a text of 1 to " + std::to_string(longest_key_id) +
                     " bytes"};
    key.id = id->text;
  }
  auto material = read_material(jwk, origin, key);
  if (!material) return material.error();
  key.material = std::move(*material);
  const json::Value* const name = jwk.find("alg");
  if (name == nullptr) return key;
  if (name->kind == json::Kind::string) key.algorithm = find_algorithm(name->text);
  if (!key.algorithm) return Problem{"its \"alg\" is not an algorithm for tokens"};
  if (!fits_type(key.type, *key.algorithm))
    return Problem{"its \"alg\" does not fit its type or curve"};
  if (!key.fits(*key.algorithm))
    return Problem{"it has " + std::to_string(key.secret_size) + " bytes, and " +
                   std::string(name_of(*key.algorithm)) + " needs at least " +
                   std::to_string(hash_size(*key.algorithm))};
  return key;
}

Result<Key> secret_key(std::string_view secret) {
  auto material = make_secret_key(secret);
  if (!material) return material.error();
  return Key{.id = std::nullopt,
             .algorithm = std::nullopt,
             .type = KeyType::secret,
             .secret_size = secret.size(),
             .material = std::move(*material)};
}

}  // namespace weir::jwt
