#include "base/ip_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <bit>
#include <charconv>
#include <span>

#include "base/text.hpp"

namespace weir {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0,    0,
                                              0, 0, 0, 0, 0xff, 0xff};  // ::ffff:0:0/96
constexpr std::array<std::uint8_t, 12> nat64{0, 0x64, 0xff, 0x9b};      // 64:ff9b::/96

bool starts_with(const Bytes& bytes, const std::array<std::uint8_t, 12>& start) {
  return std::equal(start.begin(), start.end(), bytes.begin());
}

/// A decimal number up to `limit`: no sign, no leading zero.
std::optional<int> small_number(std::string_view text, int limit) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  const auto number = parse_number<std::uint16_t>(text);
  return number && *number <= limit ? std::optional<int>(*number) : std::nullopt;
}

std::optional<std::array<std::uint8_t, 4>> parse_quad(std::string_view text) {
  std::array<std::uint8_t, 4> quad{};
  for (std::size_t i = 0; i < quad.size(); ++i) {
    const auto dot = i + 1 < quad.size() ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = small_number(text.substr(0, dot), 255);
    if (!number) return std::nullopt;
    quad[i] = static_cast<std::uint8_t>(*number);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return quad;
}

/// inet_pton on a copy that ends in NUL. A quad at the end is checked here first: C libraries
/// differ about leading zeros.
std::optional<Bytes> parse_v6(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN + 1> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  const auto last = text.substr(text.rfind(':') + 1);
  if (last.find('.') != std::string_view::npos && !parse_quad(last)) return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  Bytes bytes{};
  if (inet_pton(AF_INET6, terminated.data(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

/// Each of these writes at `to`, which has enough room, and returns the end.
char* put_quad(char* to, char* end, std::span<const std::uint8_t, 4> quad) {
  for (std::size_t i = 0; i < quad.size(); ++i) {
    if (i > 0) *to++ = '.';
    to = std::to_chars(to, end, quad[i]).ptr;
  }
  return to;
}

struct Run {
  std::size_t begin = 0;
  std::size_t length = 0;
};

/// The longest run of zero groups, the first of equals; a single one is not shortened (RFC 5952
/// section 4.2).
Run longest_zero_run(const std::array<std::uint16_t, 8>& groups) {
  Run longest;
  Run run;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    run = groups[i] != 0 ? Run{i + 1, 0} : Run{run.begin, run.length + 1};
    if (run.length > longest.length) longest = run;
  }
  return longest.length > 1 ? longest : Run{groups.size(), 0};
}

char* put_v6(char* to, char* end, const Bytes& bytes) {
  std::array<std::uint16_t, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  const Run zeros = longest_zero_run(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.begin) {
      *to++ = ':';
      if (i == 0) *to++ = ':';
      i += zeros.length - 1;
      continue;
    }
    to = std::to_chars(to, end, groups[i], 16).ptr;
    if (i + 1 < groups.size()) *to++ = ':';
  }
  return to;
}

/// Ones in the first `count` bits.
Bytes mask_of(int count) {
  Bytes mask{};
  for (std::size_t i = 0; count > 0 && i < mask.size(); ++i, count -= 8) {
    mask[i] = static_cast<std::uint8_t>(0xff00 >> std::min(count, 8));
  }
  return mask;
}

Bytes both(const Bytes& a, const Bytes& b) {
  using Words = std::array<std::uint64_t, 2>;
  const auto x = std::bit_cast<Words>(a);
  const auto y = std::bit_cast<Words>(b);
  return std::bit_cast<Bytes>(Words{x[0] & y[0], x[1] & y[1]});
}

}  // namespace

IpAddress IpAddress::v4(std::array<std::uint8_t, 4> bytes) {
  IpAddress address;
  std::copy(mapped.begin(), mapped.end(), address.bytes_.begin());
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin() + mapped.size());
  return address;
}

IpAddress IpAddress::v6(std::array<std::uint8_t, 16> bytes) {
  IpAddress address;
  address.bytes_ = bytes;
  if (starts_with(bytes, nat64)) std::copy(mapped.begin(), mapped.end(), address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const auto quad = parse_quad(text);
    return quad ? std::optional{v4(*quad)} : std::nullopt;
  }
  const auto bytes = parse_v6(text);
  return bytes ? std::optional{v6(*bytes)} : std::nullopt;
}

bool IpAddress::is_v4() const {
  return starts_with(bytes_, mapped);
}

IpAddress IpAddress::masked(int ipv4_prefix, int ipv6_prefix) const {
  IpAddress address;
  address.bytes_ = both(bytes_, mask_of(is_v4() ? 96 + ipv4_prefix : ipv6_prefix));
  return address;
}

AddressText IpAddress::text() const {
  AddressText text;
  char* const begin = text.text_.data();
  char* const end = begin + text.text_.size();
  const char* const last =
      is_v4() ? put_quad(begin, end, std::span{bytes_}.last<4>()) : put_v6(begin, end, bytes_);
  text.size_ = static_cast<std::size_t>(last - begin);
  return text;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  const auto address = IpAddress::parse(address_text);
  if (!address) return std::nullopt;
  const bool is_quad = address_text.find(':') == std::string_view::npos;
  const int bits = is_quad ? 32 : 128;
  const auto length =
      slash == std::string_view::npos ? bits : small_number(text.substr(slash + 1), bits);
  if (!length) return std::nullopt;
  IpPrefix prefix;
  prefix.network_ = *address;
  prefix.mask_ = mask_of(128 - bits + *length);
  if (both(address->bytes(), prefix.mask_) != address->bytes()) return std::nullopt;
  return prefix;
}

IpPrefix IpPrefix::around(const IpAddress& address, int bits) {
  IpPrefix prefix;
  prefix.network_ = address.masked(bits - 96, bits);
  prefix.mask_ = mask_of(bits);
  return prefix;
}

int IpPrefix::bits() const {
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(mask_);
  return std::popcount(words[0]) + std::popcount(words[1]);
}

std::string IpPrefix::to_string() const {
  std::string text = network_.to_string();
  if (const int fixed = bits(); fixed < 128)
    text += '/' + std::to_string(network_.is_v4() ? fixed - 96 : fixed);
  return text;
}

bool IpPrefix::contains(const IpAddress& address) const {
  return both(address.bytes(), mask_) == network_.bytes() && address.is_v4() == network_.is_v4();
}

}  // namespace weir
