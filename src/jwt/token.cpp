#include "jwt/token.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "jwt/base64url.hpp"

namespace weir::jwt {
namespace {

constexpr json::Limits header_limits{.depth = 8, .values = 1'024};
constexpr json::Limits payload_limits{.depth = 32, .values = 8'192};

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
  const auto root = json::read(*text, header_limits);
  if (!root || root->kind != json::Kind::object) return Rejection::not_compact;
  const json::Value* const name = root->find("alg");
  const bool is_none = name != nullptr && name->kind == json::Kind::string && name->text == "none";
  return is_none ? Rejection::unsigned_token : Rejection::not_compact;
}

/// `otherwise`: for text that is not an object.
Result<json::Value, Rejection> read_object(std::string_view text, const json::Limits& limits,
                                           Rejection otherwise) {
  auto root = json::read(text, limits);
  if (root) {
    if (root->kind != json::Kind::object) return otherwise;
    return std::move(*root);
  }
  switch (root.error()) {
    case json::ReadError::duplicate_member:
      return Rejection::duplicate_member;
    case json::ReadError::too_deep:
    case json::ReadError::too_many_values:
      return Rejection::too_complex;
    case json::ReadError::syntax:
      break;
  }
  return otherwise;
}

/// RFC 7515 section 4.1.11: a verifier rejects extensions that it does not support, and this one
/// supports none. RFC 7797: `b64: false` is one, and must not be read as the usual encoding.
std::optional<Rejection> check_extensions(const json::Value& header) {
  if (header.find("enc") != nullptr || header.find("zip") != nullptr) return Rejection::encrypted;
  if (header.find("crit") != nullptr) return Rejection::unsupported_extension;
  const json::Value* const b64 = header.find("b64");
  if (b64 != nullptr && (b64->kind != json::Kind::boolean || b64->text != "true"))
    return Rejection::unsupported_extension;
  const json::Value* const content_type = header.find("cty");
  if (content_type == nullptr) return std::nullopt;
  if (content_type->kind != json::Kind::string) return Rejection::bad_header;
  if (is_type(content_type->text, "JWT")) return Rejection::encrypted;
  return std::nullopt;
}

Result<Header, Rejection> read_header(const json::Value& root) {
  Header header;
  const json::Value* const name = root.find("alg");
  const auto algorithm = name != nullptr && name->kind == json::Kind::string
                             ? find_algorithm(name->text)
                             : std::nullopt;
  if (const auto rejection = check_extensions(root)) return *rejection;
  if (!algorithm) return Rejection::unsupported_algorithm;
  header.algorithm = *algorithm;
  if (const json::Value* const id = root.find("kid")) {
    if (id->kind != json::Kind::string || id->text.empty() || id->text.size() > longest_key_id)
      return Rejection::bad_key_id;
    header.key_id = id->text;
  }
  if (const json::Value* const type = root.find("typ")) {
    if (type->kind != json::Kind::string) return Rejection::bad_header;
    header.type = type->text;
  }
  return header;
}

}  // namespace

bool is_type(std::string_view text, std::string_view expected) {
  constexpr auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto equal = [&](std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
  };
  constexpr std::string_view prefix = "application/";
  const auto subtype = [&](std::string_view type) {
    return equal(type.substr(0, prefix.size()), prefix) ? type.substr(prefix.size()) : type;
  };
  return equal(subtype(text), subtype(expected));
}

Result<Token, Rejection> parse_token(std::string_view token, std::size_t max_size) {
  if (token.size() > max_size) return Rejection::too_large;
  const auto parts = split(token);
  if (!parts) return Rejection::not_compact;
  if ((*parts)[2].empty()) return rejection_of_unsigned((*parts)[0]);
  const auto header_text = decode_base64url((*parts)[0]);
  auto payload = decode_base64url((*parts)[1]);
  auto signature = decode_base64url((*parts)[2]);
  if (!header_text || !payload || !signature) return Rejection::not_base64url;

  const auto root = read_object(*header_text, header_limits, Rejection::bad_header);
  if (!root) return root.error();
  auto header = read_header(*root);
  if (!header) return header.error();
  return Token{.header = std::move(*header),
               .payload = std::move(*payload),
               .signature = std::move(*signature),
               .signed_size = (*parts)[0].size() + 1 + (*parts)[1].size()};
}

Result<json::Value, Rejection> read_payload(const Token& token) {
  return read_object(token.payload, payload_limits, Rejection::bad_payload);
}

}  // namespace weir::jwt
