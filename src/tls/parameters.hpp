// The TLS parameters of a listener: its lowest version, the groups of the key exchange and the
// ciphers, each from an allow-list.
//
// The client chooses among the offers, and its choice determines the cost for the worker: a
// handshake with ffdhe8192 takes a hundred times as long as one with X25519. So the lists have only
// values that are both safe and cheap. Immutable data and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tls {

enum class Version : std::uint8_t { tls12, tls13 };

/// The number of a group in ClientHellos (IANA, TLS Supported Groups).
enum class Group : std::uint16_t { p256 = 23, p384 = 24, p521 = 25, x25519 = 29, x448 = 30 };

struct Parameters {
  Version min_version = Version::tls12;
  /// Names from known_groups(); the client chooses among them.
  std::vector<std::string> groups{"X25519", "P-256", "P-384"};
  /// Names from known_ciphers(). A version for which the list has none keeps its default ciphers.
  std::vector<std::string> ciphers{};
  /// Offers HTTP/2 before HTTP/1.1 by ALPN (RFC 7301).
  bool http2 = false;
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// Every group that a listener may offer, by its name in OpenSSL.
std::span<const std::string_view> known_groups();
/// Every cipher that a listener may offer: ECDHE with AEAD for TLS 1.2, and the suites of TLS 1.3.
std::span<const std::string_view> known_ciphers();
/// The numbers of the groups, in the same order.
std::vector<Group> numbers_of(const std::vector<std::string>& groups);
bool is_tls13_cipher(std::string_view name);

/// Returns why an unknown group or cipher is refused, if there is a special reason; else empty. The
/// text is static.
std::string_view why_not_group(std::string_view name);
std::string_view why_not_cipher(std::string_view name);
/// Returns the name used here for a group with another name elsewhere, such as secp256r1; else
/// empty.
std::string_view group_with_alias(std::string_view name);

}  // namespace weir::tls
