#include "jwt/token.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "jwt/base64url.hpp"
#include "jwt/type_name.hpp"

namespace weir::jwt {
namespace {

constexpr JsonLimits header_limits{.depth = 8, .values = 1'024};
constexpr JsonLimits payload_limits{.depth = 32, .values = 8'192};

using Parts = std::array<std::string_view, 3>;

std::optional<Parts> split(std::string_view token) {
  if (std::ranges::count(token, '.') != 2) return std::nullopt;
  const auto first = token.find('.');
  const auto second = token.find('.', first + 1);
  const Parts parts{token.substr(0, first), token.substr(first + 1, second - first - 1),
                    token.substr(second + 1)};
  if (parts[0].empty()) return std::nullopt;
  return parts;
}

/// The reason for a token without a signature, which is never accepted. RFC 7519 section 6.1:
/// `alg: none` means one.
Rejection rejection_of_unsigned(std::string_view header) {
  const auto text = decode_base64url(header);
  if (!text) return Rejection::not_compact;
  const auto json = read_json(*text, header_limits);
  if (!json || json->kind != JsonKind::object) return Rejection::not_compact;
  const Json* const name = json->find("alg");
  const bool is_none = name != nullptr && name->kind == JsonKind::string && name->text == "none";
  return is_none ? Rejection::unsigned_token : Rejection::not_compact;
}

/// `otherwise`: for text that is not an object.
Result<Json, Rejection> read_object(std::string_view text, const JsonLimits& limits,
                                    Rejection otherwise) {
  auto json = read_json(text, limits);
  if (json) {
    if (json->kind != JsonKind::object) return otherwise;
    return std::move(*json);
  }
  switch (json.error()) {
    case JsonError::duplicate_member:
      return Rejection::duplicate_member;
    case JsonError::too_deep:
    case JsonError::too_many_values:
      return Rejection::too_complex;
    case JsonError::syntax:
      break;
  }
  return otherwise;
}

/// RFC 7515 section 4.1.11: a verifier rejects extensions that it does not support, and this one
/// supports none. RFC 7797: `b64: false` is one, and must not be read as the usual encoding.
std::optional<Rejection> check_extensions(const Json& header) {
  if (header.find("enc") != nullptr || header.find("zip") != nullptr) return Rejection::encrypted;
  if (header.find("crit") != nullptr) return Rejection::unsupported_extension;
  const Json* const b64 = header.find("b64");
  if (b64 != nullptr && (b64->kind != JsonKind::boolean || b64->text != "true"))
    return Rejection::unsupported_extension;
  const Json* const content_type = header.find("cty");
  if (content_type == nullptr) return std::nullopt;
  if (content_type->kind != JsonKind::string) return Rejection::bad_header;
  if (is_type(content_type->text, "JWT")) return Rejection::encrypted;
  return std::nullopt;
}

Result<Header, Rejection> read_header(const Json& json) {
  Header header;
  const Json* const name = json.find("alg");
  const auto algorithm =
      name != nullptr && name->kind == JsonKind::string ? find_algorithm(name->text) : std::nullopt;
  if (const auto rejection = check_extensions(json)) return *rejection;
  if (!algorithm) return Rejection::unsupported_algorithm;
  header.algorithm = *algorithm;
  if (const Json* const id = json.find("kid")) {
    if (id->kind != JsonKind::string || id->text.empty() || id->text.size() > longest_key_id)
      return Rejection::bad_key_id;
    header.key_id = id->text;
  }
  if (const Json* const type = json.find("typ")) {
    if (type->kind != JsonKind::string) return Rejection::bad_header;
    header.type = type->text;
  }
  return header;
}

}  // namespace

Result<Token, Rejection> parse_token(std::string_view token, std::size_t max_size) {
  if (token.size() > max_size) return Rejection::too_large;
  const auto parts = split(token);
  if (!parts) return Rejection::not_compact;
  if ((*parts)[2].empty()) return rejection_of_unsigned((*parts)[0]);
  const auto header_text = decode_base64url((*parts)[0]);
  auto payload = decode_base64url((*parts)[1]);
  auto signature = decode_base64url((*parts)[2]);
  if (!header_text || !payload || !signature) return Rejection::not_base64url;

  const auto json = read_object(*header_text, header_limits, Rejection::bad_header);
  if (!json) return json.error();
  auto header = read_header(*json);
  if (!header) return header.error();
  return Token{.header = std::move(*header),
               .payload = std::move(*payload),
               .signature = std::move(*signature),
               .signed_size = (*parts)[0].size() + 1 + (*parts)[1].size()};
}

Result<Json, Rejection> read_payload(const Token& token) {
  return read_object(token.payload, payload_limits, Rejection::bad_payload);
}

}  // namespace weir::jwt
