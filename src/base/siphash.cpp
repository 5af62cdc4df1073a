#include "base/siphash.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/eight_bytes.hpp"
#include "base/text.hpp"

namespace weir {

namespace {

static_assert(std::endian::native == std::endian::little, "SipHash reads its words little-endian");

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i)
      round();
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  std::uint64_t digest() const { return v0 ^ v1 ^ v2 ^ v3; }
};

SipState initial(SipKey key) {
  return {.v0 = key.k0 ^ 0x736f6d6570736575,
          .v1 = key.k1 ^ 0x646f72616e646f6d,
          .v2 = key.k0 ^ 0x6c7967656e657261,
          .v3 = key.k1 ^ 0x7465646279746573};
}

void absorb_all(SipState& state, std::string_view data) {
  const std::size_t whole = data.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, 8);
    state.absorb(word);
  }
  std::uint64_t tail = 0;
  if (const auto rest = data.substr(whole); !rest.empty())
    std::memcpy(&tail, rest.data(), rest.size());
  state.absorb(tail | std::uint64_t{data.size()} << 56);
}

/// Converts 32 bits to eight digits at once: each half of a byte moves to a byte of its own.
void put_hex(char* to, std::uint32_t bits) {
  std::uint64_t halves = bits;
  halves = (halves | halves << 16) & 0x0000'ffff'0000'ffff;
  halves = (halves | halves << 8) & 0x00ff'00ff'00ff'00ff;
  halves = (halves | halves << 4) & in_each_byte(0x0f);
  const std::uint64_t letters = ((halves + in_each_byte(6)) >> 4) & in_each_byte(1);
  const std::uint64_t digits =
      __builtin_bswap64(halves + in_each_byte('0') + letters * ('a' - '0' - 10));
  std::memcpy(to, &digits, sizeof digits);
}

std::array<char, 32> hex_digits(const Hash128& hash) {
  std::array<char, 32> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  auto* eight = digits.data();
  for (const std::uint64_t word : {hash.high, hash.low}) {
    put_hex(eight, static_cast<std::uint32_t>(word >> 32));
    put_hex(eight + 8, static_cast<std::uint32_t>(word));
    eight += 16;
  }
  return digits;
}

}  // namespace

Hash128 siphash128(SipKey key, std::string_view data) {
  SipState state = initial(key);
  state.v1 ^= 0xee;
  absorb_all(state, data);
  state.v2 ^= 0xee;
  state.rounds(4);
  Hash128 hash{.low = state.digest()};
  state.v1 ^= 0xdd;
  state.rounds(4);
  hash.high = state.digest();
  return hash;
}

void append_hex(Appender& out, const Hash128& hash) {
  const auto digits = hex_digits(hash);
  out.add({digits.data(), digits.size()});
}

void append_hex(std::string& out, const Hash128& hash) {
  const auto digits = hex_digits(hash);
  out.append(digits.data(), digits.size());
}

std::string to_hex(const Hash128& hash) {
  std::string text;
  append_hex(text, hash);
  return text;
}

SipKey sip_key_from_secret(std::string_view secret) {
  constexpr SipKey built_in{.k0 = 0x7765697220697320, .k1 = 0x6120736d616c6c20};
  if (secret.empty()) return built_in;
  const Hash128 hash = siphash128(built_in, secret);
  return {.k0 = hash.low, .k1 = hash.high};
}

std::optional<Hash128> hash_from_hex(std::string_view digits) {
  constexpr std::size_t half = 16;
  if (digits.size() != 2 * half) return std::nullopt;
  const auto high = parse_number<std::uint64_t>(digits.substr(0, half), 16);
  const auto low = parse_number<std::uint64_t>(digits.substr(half), 16);
  if (!high || !low) return std::nullopt;
  return Hash128{.low = *low, .high = *high};
}

}  // namespace weir
