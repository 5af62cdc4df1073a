#include "tls/parameters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace weir::tls {
namespace {

using namespace std::string_view_literals;

constexpr std::array safe_groups{"X25519"sv, "P-256"sv, "P-384"sv, "P-521"sv, "X448"sv};
constexpr std::array group_numbers{Group::x25519, Group::p256, Group::p384, Group::p521,
                                   Group::x448};
static_assert(safe_groups.size() == group_numbers.size());

constexpr std::array safe_ciphers{
    // TLS 1.2: forward secrecy and authenticated encryption.
    "ECDHE-ECDSA-AES128-GCM-SHA256"sv,
    "ECDHE-RSA-AES128-GCM-SHA256"sv,
    "ECDHE-ECDSA-AES256-GCM-SHA384"sv,
    "ECDHE-RSA-AES256-GCM-SHA384"sv,
    "ECDHE-ECDSA-CHACHA20-POLY1305"sv,
    "ECDHE-RSA-CHACHA20-POLY1305"sv,
    // TLS 1.3
    "TLS_AES_128_GCM_SHA256"sv,
    "TLS_AES_256_GCM_SHA384"sv,
    "TLS_CHACHA20_POLY1305_SHA256"sv,
};

/// IANA's names, and OpenSSL's older ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> group_aliases{{
    {"secp256r1", "P-256"},
    {"prime256v1", "P-256"},
    {"secp384r1", "P-384"},
    {"secp521r1", "P-521"},
    {"x25519", "X25519"},
    {"x448", "X448"},
}};

constexpr std::string_view finite_field =
    "finite-field Diffie-Hellman is not allowed, because a handshake with it can cost the worker a "
    "hundred times one with X25519";

bool starts_with_ignoring_case(std::string_view text, std::string_view beginning) {
  if (text.size() < beginning.size()) return false;
  for (std::size_t i = 0; i < beginning.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != beginning[i]) return false;
  }
  return true;
}

}  // namespace

std::span<const std::string_view> known_groups() {
  return safe_groups;
}

std::span<const std::string_view> known_ciphers() {
  return safe_ciphers;
}

std::vector<Group> numbers_of(const std::vector<std::string>& groups) {
  std::vector<Group> numbers;
  for (const std::string_view name : groups) {
    const auto found = std::find(safe_groups.begin(), safe_groups.end(), name);
    if (found != safe_groups.end())
      numbers.push_back(group_numbers[static_cast<std::size_t>(found - safe_groups.begin())]);
  }
  return numbers;
}

bool is_tls13_cipher(std::string_view name) {
  return name.starts_with("TLS_");
}

std::string_view why_not_group(std::string_view name) {
  const bool is_finite =
      starts_with_ignoring_case(name, "ffdhe") || starts_with_ignoring_case(name, "dh_");
  return is_finite ? finite_field : std::string_view{};
}

std::string_view why_not_cipher(std::string_view name) {
  if (name.starts_with("DHE-") || name.starts_with("EDH-")) return finite_field;
  if (name.starts_with("TLS_")) return {};
  if (!name.starts_with("ECDHE-"))
    return "only ciphers with ECDHE are allowed: the others have no forward secrecy";
  const bool is_known =
      std::find(safe_ciphers.begin(), safe_ciphers.end(), name) != safe_ciphers.end();
  if (!is_known && name.find("-SHA") != std::string_view::npos)
    return "only ciphers with authenticated encryption (GCM, ChaCha20-Poly1305) are allowed";
  return {};
}

std::string_view group_with_alias(std::string_view name) {
  for (const auto& [alias, group] : group_aliases) {
    if (name == alias) return group;
  }
  return {};
}

}  // namespace weir::tls
