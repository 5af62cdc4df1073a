#include "http/proxy_protocol.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace weir::http {
namespace {

using State = ProxyHeader::State;

constexpr std::string_view v1_start = "PROXY ";
constexpr std::string_view v2_start{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t longest_v1 = 107;  // section 2.1, with CRLF
constexpr std::size_t v2_fixed_size = 16;
constexpr std::uint8_t type_crc32c = 0x03;
constexpr std::size_t tlv_head_size = 3;

ProxyHeader malformed() {
  return {.state = State::malformed, .size = 0, .source = {}};
}

ProxyHeader complete(std::size_t size, std::optional<IpAddress> source = {}) {
  return {.state = State::complete, .size = size, .source = source};
}

std::uint8_t byte_at(std::string_view data, std::size_t at) {
  return static_cast<std::uint8_t>(data[at]);
}

std::size_t u16_at(std::string_view data, std::size_t at) {
  return static_cast<std::size_t>(byte_at(data, at) << 8 | byte_at(data, at + 1));
}

/// True if `data`, as far as it has arrived, agrees with `start`.
bool may_start_with(std::string_view data, std::string_view start) {
  return start.starts_with(data.substr(0, start.size()));
}

/// Decimal, no sign, no leading zero.
bool is_canonical_port(std::string_view text) {
  const bool has_zero = text.size() > 1 && text.front() == '0';
  return !has_zero && parse_number<std::uint16_t>(text);
}

std::optional<IpAddress> address(std::string_view text, bool v6) {
  const bool has_colon = text.find(':') != std::string_view::npos;
  return has_colon == v6 ? IpAddress::parse(text) : std::nullopt;
}

ProxyHeader parse_v1(std::string_view data) {
  data = data.substr(0, longest_v1);
  const std::size_t end = data.find("\r\n");
  if (end == std::string_view::npos) {
    const std::size_t cr = data.find('\r');
    const bool stray_end = data.find('\n') != std::string_view::npos ||
                           (cr != std::string_view::npos && cr + 1 < data.size());
    return data.size() == longest_v1 || stray_end ? malformed() : ProxyHeader{};
  }
  std::string_view rest = data.substr(v1_start.size(), end - v1_start.size());
  if (rest.find_first_of("\r\n") != std::string_view::npos) return malformed();
  // "the receiver must ignore anything presented before the CRLF"
  if (rest == "UNKNOWN" || rest.starts_with("UNKNOWN ")) return complete(end + 2);
  const std::string_view family = take_until(rest, ' ');
  if (family != "TCP4" && family != "TCP6") return malformed();
  if (std::count(rest.begin(), rest.end(), ' ') != 3) return malformed();
  const auto source = address(take_until(rest, ' '), family == "TCP6");
  const auto destination = address(take_until(rest, ' '), family == "TCP6");
  const std::string_view source_port = take_until(rest, ' ');
  if (!source || !destination || !is_canonical_port(source_port) || !is_canonical_port(rest))
    return malformed();
  return complete(end + 2, source);
}

/// CRC-32C (Castagnoli), bit by bit, because checksums are rare and headers short.
std::uint32_t crc32c(std::string_view data, std::size_t zero_from, std::size_t zero_size) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < data.size(); ++i) {
    crc ^= i >= zero_from && i < zero_from + zero_size ? 0 : byte_at(data, i);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

/// True if each extension lies within the header and a checksum, if present, is correct.
bool has_sound_extensions(std::string_view header, std::size_t at) {
  while (at < header.size()) {
    if (header.size() - at < tlv_head_size) return false;
    const std::size_t size = u16_at(header, at + 1);
    const std::size_t value = at + tlv_head_size;
    if (header.size() - value < size) return false;
    if (byte_at(header, at) == type_crc32c) {
      if (size != 4) return false;
      const auto sent =
          static_cast<std::uint32_t>(u16_at(header, value) << 16 | u16_at(header, value + 2));
      if (sent != crc32c(header, value, size)) return false;
    }
    at = value + size;
  }
  return true;
}

template <std::size_t N>
std::array<std::uint8_t, N> bytes_at(std::string_view data, std::size_t at) {
  std::array<std::uint8_t, N> bytes{};
  std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), N, bytes.begin());
  return bytes;
}

ProxyHeader parse_v2(std::string_view data) {
  if (data.size() > 12 && byte_at(data, 12) != 0x20 && byte_at(data, 12) != 0x21)
    return malformed();
  if (data.size() < v2_fixed_size) return {};
  const bool is_local = byte_at(data, 12) == 0x20;
  const std::uint8_t family = byte_at(data, 13);
  const std::size_t size = v2_fixed_size + u16_at(data, 14);
  if (size > longest_proxy_header) return malformed();
  // Section 2.2: families, and sizes of their addresses; other values are invalid.
  std::size_t address_size = 0;
  switch (family) {
    case 0x00:  // unspecified: the meaning of the rest is unknown
      return data.size() < size ? ProxyHeader{} : complete(size);
    case 0x11:
    case 0x12:
      address_size = 12;
      break;
    case 0x21:
    case 0x22:
      address_size = 36;
      break;
    case 0x31:
    case 0x32:
      address_size = 216;
      break;
    default:
      return malformed();
  }
  if (data.size() < size && (is_local || size >= v2_fixed_size + address_size)) return {};
  if (is_local) return complete(size);  // addresses of a LOCAL connection are ignored
  if (size < v2_fixed_size + address_size) return malformed();
  const std::string_view header = data.substr(0, size);
  if (!has_sound_extensions(header, v2_fixed_size + address_size)) return malformed();
  if (family == 0x11) return complete(size, IpAddress::v4(bytes_at<4>(header, v2_fixed_size)));
  if (family == 0x21) return complete(size, IpAddress::v6(bytes_at<16>(header, v2_fixed_size)));
  return complete(size);  // datagrams and unix sockets: treated as unspecified
}

}  // namespace

ProxyHeader parse_proxy_header(std::string_view data) {
  if (data.empty()) return {};
  if (may_start_with(data, v1_start))
    return data.size() <= v1_start.size() ? ProxyHeader{} : parse_v1(data);
  if (may_start_with(data, v2_start))
    return data.size() < v2_start.size() ? ProxyHeader{} : parse_v2(data);
  return malformed();
}

}  // namespace weir::http
