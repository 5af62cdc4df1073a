// Numbers the host patterns of a route table, and finds the number for the host of a request.
//
// A request's host matches one exact pattern at most, and wildcards that are nested in each other:
// *.a.example.com, *.example.com. So one number is enough: that of the most specific pattern, from
// which broader() leads to the others. Pure; thread-safe once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/eight_bytes.hpp"
#include "http/request_view.hpp"

namespace weir::routing {

/// A hash that ignores ASCII letter case and reads eight characters at a time.
///
/// Not keyed: only for tables whose keys the configuration chooses. Texts that a client sends are
/// looked up and never inserted, so no client can make a lookup slow. Pure.
/// The low bits are as evenly distributed as the high ones.
inline std::uint64_t folded_hash(std::string_view text) {
  constexpr std::size_t word = 8;
  constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
  const auto mixed = [](std::uint64_t hash, std::uint64_t bytes) {
    hash = (hash ^ lower_case(bytes)) * odd;
    return hash ^ (hash >> 32U);
  };
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = size;
  if (size >= word) {
    for (const char* const last = at + size - word; at < last; at += word)
      hash = mixed(hash, eight_bytes(at));
    return mixed(hash, eight_bytes(text.data() + size - word));
  }
  std::uint64_t bytes = 0;
  if (size >= word / 2) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    bytes = std::uint64_t{last} << 32U | first;
  } else {
    for (std::size_t i = 0; i < size; ++i)
      bytes = bytes << 8U | static_cast<unsigned char>(at[i]);
  }
  return mixed(hash, bytes);
}

class HostIndex {
 public:
  using Number = std::uint32_t;
  static constexpr Number any = 0;  ///< routes without a host

  /// Adds `pattern` in the form of Match::host. Returns the same number for the same pattern in
  /// another letter case.
  Number add(std::string_view pattern);
  /// Call it after the last add().
  void link();

  /// The most specific pattern that `host` matches, which must not be empty; `any` if there is
  /// none.
  Number find(std::string_view host) const;
  /// The next pattern that matches every host that `pattern` matches; `any` after the last.
  Number broader(Number pattern) const { return broader_[pattern]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return folded_hash(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return http::iequals(a, b); }
  };
  using Numbers = std::unordered_map<std::string, Number, Hash, Equal>;

  Number longest_wildcard(std::string_view host) const;

  Numbers exact_;
  Numbers wildcards_;          ///< by the text after the asterisk: ".example.com"
  std::size_t most_dots_ = 0;  ///< in one of the wildcards
  std::vector<Number> broader_{any};
};

}  // namespace weir::routing
