// IP addresses and prefixes, compared by bits, never by notation.
//
// An address has 128 bits. IPv4 is stored in ::ffff:0:0/96, so ::ffff:192.0.2.1 and 192.0.2.1 are
// the same address, and so is its NAT64 form 64:ff9b::192.0.2.1 (RFC 6052). Values; thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// An address as text, without an allocation.
class AddressText {
 public:
  operator std::string_view() const { return {text_.data(), size_}; }

 private:
  friend class IpAddress;
  std::array<char, 39> text_{};  ///< ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  std::size_t size_ = 0;
};

class IpAddress {
 public:
  IpAddress() = default;  ///< ::, the unspecified address
  static IpAddress v4(std::array<std::uint8_t, 4> bytes);
  static IpAddress v6(
      std::array<std::uint8_t, 16> bytes);  ///< mapped and NAT64 addresses become IPv4
  /// Dotted quad or RFC 4291 text; no brackets, no port, no zone, no leading zeros in a quad.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const;
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  /// Keeps the first bits (of 32 for IPv4, of 128 otherwise), the rest becomes zero.
  IpAddress masked(int ipv4_prefix, int ipv6_prefix) const;
  AddressText text() const;  ///< canonical, RFC 5952
  std::string to_string() const { return std::string(std::string_view(text())); }

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

class IpPrefix {
 public:
  /// "10.0.0.0/8", "2001:db8::/32", or an address alone. Host bits must be zero. A prefix contains
  /// addresses of one family: "::/0" is all of IPv6 and none of IPv4.
  static std::optional<IpPrefix> parse(std::string_view text);
  /// The prefix of the first `bits` of the 128 bits of `address`; an IPv4 address has at least 96.
  static IpPrefix around(const IpAddress& address, int bits);

  bool contains(const IpAddress& address) const;
  /// The lowest address.
  const IpAddress& network() const { return network_; }
  /// The number of fixed bits, of the 128 bits of an address: 104 for 10.0.0.0/8.
  int bits() const;
  /// "10.0.0.0/8"; an address alone without a length.
  std::string to_string() const;
  friend bool operator==(const IpPrefix&, const IpPrefix&) = default;

 private:
  IpAddress network_;
  std::array<std::uint8_t, 16> mask_{};  ///< ones over the network's bits
};

}  // namespace weir
