#include "jwt/jws_algorithm.hpp"

#include "catch.hpp"

namespace weir::jwt {
namespace {

constexpr std::size_t algorithm_count = 13;

JwsAlgorithm nth_algorithm(std::size_t i) {
  return static_cast<JwsAlgorithm>(i);
}

TEST_CASE("an algorithm is found by its exact name") {
  for (std::size_t i = 0; i < algorithm_count; ++i)
    CHECK(find_algorithm(name_of(nth_algorithm(i))) == nth_algorithm(i));
  CHECK(name_of(JwsAlgorithm::hs256) == "HS256");
  CHECK(name_of(JwsAlgorithm::rs512) == "RS512");
  CHECK(name_of(JwsAlgorithm::es256) == "ES256");
  CHECK(name_of(JwsAlgorithm::eddsa) == "EdDSA");
}

TEST_CASE("none, another case and other algorithms are not found") {
  for (const char* const name :
       {"", "none", "None", "NONE", "hs256", "Hs256", "EDDSA", "eddsa", "HS", "HS2560", "HS256 ",
        " HS256", "ES256K", "RSA-OAEP", "A256GCM", "dir", "Ed25519"}) {
    CAPTURE(name);
    CHECK_FALSE(find_algorithm(name).has_value());
  }
}

TEST_CASE("only the algorithms of HMAC are symmetric") {
  for (std::size_t i = 0; i < algorithm_count; ++i)
    CHECK(is_symmetric(nth_algorithm(i)) == name_of(nth_algorithm(i)).starts_with("HS"));
}

TEST_CASE("a set of algorithms contains those that were added") {
  AlgorithmSet set;
  CHECK(set.empty());
  for (std::size_t i = 0; i < algorithm_count; ++i)
    CHECK_FALSE(set.contains(nth_algorithm(i)));
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    set.add(nth_algorithm(i));
    set.add(nth_algorithm(i));
    CHECK_FALSE(set.empty());
    for (std::size_t j = 0; j < algorithm_count; ++j)
      CHECK(set.contains(nth_algorithm(j)) == (j <= i));
  }
  CHECK(AlgorithmSet{JwsAlgorithm::es256, JwsAlgorithm::eddsa} ==
        AlgorithmSet{JwsAlgorithm::eddsa, JwsAlgorithm::es256});
  CHECK_FALSE(AlgorithmSet{JwsAlgorithm::es256} == AlgorithmSet{JwsAlgorithm::es384});
}

}  // namespace
}  // namespace weir::jwt
