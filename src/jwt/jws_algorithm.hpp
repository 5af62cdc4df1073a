// The signature algorithms of JWS (RFC 7518 section 3.1, RFC 8037) that can be verified.
//
// `none` is not one of them, and no algorithm is found by comparing names without case.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace weir::jwt {

enum class JwsAlgorithm : std::uint8_t {
  hs256,
  hs384,
  hs512,
  rs256,
  rs384,
  rs512,
  ps256,
  ps384,
  ps512,
  es256,
  es384,
  es512,
  eddsa,
};

std::optional<JwsAlgorithm> find_algorithm(std::string_view name);
std::string_view name_of(JwsAlgorithm algorithm);

/// True for HMAC, whose key is a secret that both sides have.
bool is_symmetric(JwsAlgorithm algorithm);

/// The algorithms that a provider allows; none at first.
class AlgorithmSet {
 public:
  constexpr AlgorithmSet() = default;
  constexpr AlgorithmSet(std::initializer_list<JwsAlgorithm> algorithms) {
    for (const JwsAlgorithm each : algorithms)
      add(each);
  }

  constexpr void add(JwsAlgorithm algorithm) { bits_ |= bit(algorithm); }
  constexpr bool contains(JwsAlgorithm algorithm) const { return (bits_ & bit(algorithm)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend bool operator==(const AlgorithmSet&, const AlgorithmSet&) = default;

 private:
  static constexpr std::uint32_t bit(JwsAlgorithm algorithm) {
    return 1U << static_cast<unsigned int>(algorithm);
  }

  std::uint32_t bits_ = 0;
};

}  // namespace weir::jwt
