#include "jwt/jws_algorithm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace weir::jwt {
namespace {

/// In the order of the enumerators.
constexpr std::array<std::string_view, 13> names{"HS256", "HS384", "HS512", "RS256", "RS384",
                                                 "RS512", "PS256", "PS384", "PS512", "ES256",
                                                 "ES384", "ES512", "EdDSA"};

}  // namespace

std::optional<JwsAlgorithm> find_algorithm(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<JwsAlgorithm>(found - names.begin());
}

std::string_view name_of(JwsAlgorithm algorithm) {
  return names[static_cast<std::size_t>(algorithm)];
}

bool is_symmetric(JwsAlgorithm algorithm) {
  return algorithm <= JwsAlgorithm::hs512;
}

}  // namespace weir::jwt
