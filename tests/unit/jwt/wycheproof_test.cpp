// The vectors of C2SP/wycheproof for JWS and JWK sets; tests/acceptance/README.md has their source.
// Their payloads are bytes and not claims, so this is everything up to the signature.
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "jwt/key_set.hpp"
#include "jwt/signature.hpp"
#include "jwt/token.hpp"
#include "source_directory.hpp"

namespace weir::jwt {
namespace {

using Vectors = nlohmann::json;

Vectors read_vectors(const std::string& name) {
  std::ifstream file(std::string(WEIR_SOURCE_DIR) + "/tests/acceptance/" + name);
  REQUIRE(file);
  return Vectors::parse(file);
}

/// The public keys of a group; its secrets, if it has no other keys.
KeySet keys_of(const Vectors& group, bool is_set) {
  const Vectors& keys = group.contains("public") ? group["public"] : group["private"];
  const Vectors set = is_set ? keys : Vectors{{"keys", Vectors::array({keys})}};
  bool has_only_secrets = true;
  for (const auto& key : set["keys"])
    has_only_secrets = has_only_secrets && key["kty"] == "oct";
  auto read =
      read_key_set(set.dump(), has_only_secrets ? KeyOrigin::configured : KeyOrigin::published);
  REQUIRE(read.has_value());
  return std::move(read->keys);
}

bool is_accepted(const std::string& text, const KeySet& keys) {
  const auto token = parse_token(text, 8'192);
  if (!token) return false;
  const auto algorithm = token->header.algorithm;
  const auto found = keys.candidates(token->header.key_id, algorithm);
  const std::string_view signed_part = std::string_view(text).substr(0, token->signed_size);
  for (std::size_t i = 0; i < found.count; ++i) {
    if (is_signed(signed_part, token->signature, *found.keys[i], algorithm)) return true;
  }
  return false;
}

TEST_CASE("the JWS vectors of Wycheproof have the expected results") {
  // These differ, with the reason.
  const std::map<int, bool> exceptions{
      {346, false}, {350, false},  // the key is for PS256, the token uses PS384
      {347, false}, {351, false},  // the key is for ES521, which does not exist
      {372, false}, {373, false},  // "?" within base64url, which RFC 7515 section 2 excludes
      {367, true},  {370, true},   // the same text as vector 357, which is valid
  };
  const Vectors vectors = read_vectors("jws_wycheproof.json");
  int count = 0;
  for (const auto& group : vectors["testGroups"]) {
    const KeySet keys = keys_of(group, false);
    for (const auto& vector : group["tests"]) {
      const int id = vector["tcId"];
      INFO(id << ' ' << group["comment"] << ' ' << vector["comment"]);
      const auto exception = exceptions.find(id);
      const bool expected =
          exception != exceptions.end() ? exception->second : vector["result"] == "valid";
      CHECK(is_accepted(vector["jws"], keys) == expected);
      ++count;
    }
  }
  CHECK(count == vectors["numberOfTests"]);
  CHECK(count == 401);
}

TEST_CASE("vectors of Wycheproof whose key names a wrong algorithm are valid with the right one") {
  const std::map<int, const char*> algorithms{
      {346, "PS384"}, {350, "PS384"}, {347, "ES512"}, {351, "ES512"}};
  const Vectors vectors = read_vectors("jws_wycheproof.json");
  for (auto group : vectors["testGroups"]) {
    for (const auto& vector : group["tests"]) {
      const auto found = algorithms.find(vector["tcId"]);
      if (found == algorithms.end()) continue;
      group["public"]["alg"] = found->second;
      CHECK(is_accepted(vector["jws"], keys_of(group, false)));
      group["public"].erase("alg");
      CHECK(is_accepted(vector["jws"], keys_of(group, false)));
    }
  }
}

TEST_CASE("the JWK vectors of Wycheproof have the expected results") {
  const Vectors vectors = read_vectors("jwk_wycheproof.json");
  int count = 0;
  for (const auto& group : vectors["testGroups"]) {
    const KeySet keys = keys_of(group, true);
    for (const auto& vector : group["tests"]) {
      INFO(vector["tcId"] << ' ' << group["comment"] << ' ' << vector["comment"]);
      CHECK(is_accepted(vector["jws"], keys) == (vector["result"] == "valid"));
      ++count;
    }
  }
  CHECK(count == vectors["numberOfTests"]);
  CHECK(count == 26);
}

TEST_CASE("the RSA key of Wycheproof that a defective library made is reported") {
  const Vectors vectors = read_vectors("jwk_wycheproof.json");
  for (const auto& group : vectors["testGroups"]) {
    if (group["comment"] != "jws_rsa_roca_key") continue;
    const auto set = read_key_set(group["public"].dump(), KeyOrigin::published);
    REQUIRE(set.has_value());
    REQUIRE(set->problems.size() == 1);
    CHECK(set->problems[0].find("(ROCA)") != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::jwt
