#include "jwt/key_set.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "jwt/base64url.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::jwt {
namespace {

std::string set_of(const std::vector<std::string>& keys) {
  std::string text = R"({"keys":[)";
  for (const std::string& key : keys)
    text += (text.back() == '[' ? "" : ",") + key;
  return text + "]}";
}

ReadKeySet read(const std::string& text, KeyOrigin origin = KeyOrigin::published) {
  INFO(text);
  auto set = read_key_set(text, origin);
  INFO((set ? "" : set.error().message));
  REQUIRE(set.has_value());
  return std::move(*set);
}

/// The problem of the only key of a set, which is not used.
std::string problem_of(const std::string& key, KeyOrigin origin = KeyOrigin::published) {
  const ReadKeySet set = read(set_of({key}), origin);
  CHECK(set.keys.size() == 0);
  REQUIRE(set.problems.size() == 1);
  return set.problems[0];
}

const Issuer& ec_issuer() {
  static const Issuer issuer("P-256");
  return issuer;
}
const Issuer& rsa_issuer() {
  static const Issuer issuer("RSA");
  return issuer;
}

TEST_CASE("a key is found by its ID") {
  const ReadKeySet set = read(
      set_of({ec_issuer().jwk(R"("kid":"b","use":"sig","key_ops":["sign","verify"],)"),
              rsa_issuer().jwk(R"("kid":"a","alg":"RS256","x5c":["AA"],"unknown":{"a":[]},)")}));
  CHECK(set.problems.empty());
  CHECK(set.keys.size() == 2);
  const auto b = set.keys.candidates("b", JwsAlgorithm::es256);
  CHECK(b.known);
  REQUIRE(b.count == 1);
  CHECK(b.keys[0]->id == "b");
  CHECK(b.keys[0]->type == KeyType::p256);
  const auto a = set.keys.candidates("a", JwsAlgorithm::rs256);
  REQUIRE(a.count == 1);
  CHECK(a.keys[0]->algorithm == JwsAlgorithm::rs256);
  for (const char* const id : {"", "c", "A", "aa", "../a"}) {
    const auto none = set.keys.candidates(id, JwsAlgorithm::es256);
    CHECK_FALSE(none.known);
    CHECK(none.count == 0);
  }
}

TEST_CASE("a key that is known but for another algorithm is no candidate") {
  const ReadKeySet set = read(
      set_of({ec_issuer().jwk(R"("kid":"e",)"), rsa_issuer().jwk(R"("kid":"r","alg":"RS256",)")}));
  struct Row {
    const char* id;
    JwsAlgorithm algorithm;
  };
  for (const Row& row : {
           Row{"e", JwsAlgorithm::hs256},
           Row{"e", JwsAlgorithm::rs256},
           Row{"e", JwsAlgorithm::es384},
           Row{"e", JwsAlgorithm::eddsa},
           Row{"r", JwsAlgorithm::hs256},
           Row{"r", JwsAlgorithm::rs512},
           Row{"r", JwsAlgorithm::ps256},
           Row{"r", JwsAlgorithm::es256},
       }) {
    INFO(row.id << ' ' << name_of(row.algorithm));
    const auto found = set.keys.candidates(row.id, row.algorithm);
    CHECK(found.known);
    CHECK(found.count == 0);
  }
}

TEST_CASE("without a key ID the first four keys that fit are tried") {
  std::vector<std::string> keys{ec_issuer().jwk(R"("kid":"e",)")};
  for (int i = 0; i < 6; ++i)
    keys.push_back(rsa_issuer().jwk(R"("kid":"r)" + std::to_string(i) +
                                    (i == 0 ? R"(","alg":"PS256",)" : R"(",)")));
  const ReadKeySet set = read(set_of(keys));
  const auto found = set.keys.candidates(std::nullopt, JwsAlgorithm::rs256);
  CHECK(found.known);
  REQUIRE(found.count == 4);
  CHECK(found.keys[0]->id == "r1");
  CHECK(found.keys[3]->id == "r4");
  CHECK(set.keys.candidates(std::nullopt, JwsAlgorithm::es256).count == 1);
  CHECK_FALSE(set.keys.candidates(std::nullopt, JwsAlgorithm::eddsa).known);
}

TEST_CASE("a key without an ID is used for tokens without one") {
  const ReadKeySet set = read(set_of({ec_issuer().jwk()}));
  CHECK(set.problems ==
        std::vector<std::string>{"key 1 is used only for tokens without one: it has no \"kid\""});
  CHECK(set.keys.candidates(std::nullopt, JwsAlgorithm::es256).count == 1);
  CHECK_FALSE(set.keys.candidates("a", JwsAlgorithm::es256).known);
}

TEST_CASE("keys that share an ID are not used, the others are") {
  const ReadKeySet set = read(
      set_of({ec_issuer().jwk(R"("kid":"a",)"), ec_issuer().jwk(R"("kid":"b",)"),
              rsa_issuer().jwk(R"("kid":"a",)"), rsa_issuer().jwk(R"("kid":"b","use":"enc",)")}));
  CHECK(set.problems ==
        std::vector<std::string>{
            "key 1 (kid \"a\") is not used: another key has the same \"kid\"",
            "key 3 (kid \"a\") is not used: another key has the same \"kid\"",
            "key 4 (kid \"b\") is not used: its \"use\" or \"key_ops\" is not for verifying"});
  CHECK(set.keys.size() == 1);
  CHECK(set.keys.candidates("b", JwsAlgorithm::es256).count == 1);
}

TEST_CASE("a key that is not for verifying is not used") {
  for (const char* const members :
       {R"("use":"enc",)", R"("use":"",)", R"("use":1,)", R"("key_ops":["encrypt"],)",
        R"("key_ops":["sign"],)", R"("key_ops":[],)", R"("key_ops":"verify",)",
        R"("use":"sig","key_ops":["sign"],)"})
    CHECK(problem_of(ec_issuer().jwk(members)) ==
          "key 1 is not used: its \"use\" or \"key_ops\" is not for verifying");
}

TEST_CASE("a key with wrong members is not used") {
  const std::string rsa = rsa_issuer().jwk_members();
  const std::string ec = ec_issuer().jwk_members();
  const std::string point = ec.substr(ec.find(R"("x")"));
  const std::string number = rsa.substr(rsa.find(R"("n")"));
  struct Row {
    std::string key;
    std::string why;
  };
  const std::string x31 = encode_base64url(std::string(31, '\1'));
  const std::string x32 = encode_base64url(std::string(32, '\1'));
  for (const Row& row : {
           Row{"1", "it is not an object"},
           Row{"null", "it is not an object"},
           Row{R"(["kty"])", "it is not an object"},
           Row{"{}", "it has no \"kty\""},
           Row{R"({"kty":1})", "it has no \"kty\""},
           Row{R"({"kty":"rsa",)" + number + '}', "its \"kty\" is not one of RSA, EC, OKP and oct"},
           Row{R"({"kty":"EC",)" + number + '}',
               "its \"crv\" is not one of P-256, P-384 and P-521"},
           Row{R"({"kty":"EC","crv":"secp256k1",)" + point + '}',
               "its \"crv\" is not one of P-256, P-384 and P-521"},
           Row{R"({"kty":"OKP","crv":"X25519","x":")" + x32 + "\"}",
               "its \"crv\" is not Ed25519 or Ed448"},
           Row{R"({"kty":"OKP","crv":"P-256",)" + point + '}',
               "its \"crv\" is not Ed25519 or Ed448"},
           // numbers that are missing or not base64url
           Row{R"({"kty":"RSA","e":"AQAB"})", "its \"n\" is missing or not base64url"},
           Row{R"({"kty":"RSA",)" + point + '}', "its \"n\" is missing or not base64url"},
           Row{R"({"kty":"RSA","n":"AA==","e":"AQAB"})", "its \"n\" is missing or not base64url"},
           Row{R"({"kty":"RSA","n":["AA"],"e":"AQAB"})", "its \"n\" is missing or not base64url"},
           Row{R"({"kty":"RSA","n":"AQAB"})", "its \"e\" is missing or not base64url"},
           Row{R"({"kty":"RSA","n":"AQAB","e":""})", "its \"e\" is missing or not base64url"},
           Row{R"({"kty":"EC","crv":"P-256","y":"AA"})", "its \"x\" is missing or not base64url"},
           Row{R"({"kty":"EC","crv":"P-256","x":"AA"})", "its \"y\" is missing or not base64url"},
           Row{R"({"kty":"OKP","crv":"Ed448"})", "its \"x\" is missing or not base64url"},
           // points
           Row{R"({"kty":"EC","crv":"P-384",)" + point + '}',
               "its coordinates do not have 48 bytes"},
           Row{R"({"kty":"EC","crv":"P-256","x":")" + x31 + R"(","y":")" + x32 + "\"}",
               "its coordinates do not have 32 bytes"},
           Row{R"({"kty":"EC","crv":"P-256","x":")" + x32 + R"(","y":")" + x32 + "\"}",
               "its point is not on the curve"},
           Row{R"({"kty":"OKP","crv":"Ed25519","x":")" + x31 + "\"}",
               "its public key does not have the size of the curve"},
           Row{R"({"kty":"OKP","crv":"Ed448","x":")" + x32 + "\"}",
               "its public key does not have the size of the curve"},
           // algorithms
           Row{rsa_issuer().jwk(R"("alg":"RSA-OAEP",)"),
               "its \"alg\" is not an algorithm for tokens"},
           Row{rsa_issuer().jwk(R"("alg":"none",)"), "its \"alg\" is not an algorithm for tokens"},
           Row{rsa_issuer().jwk(R"("alg":null,)"), "its \"alg\" is not an algorithm for tokens"},
           Row{rsa_issuer().jwk(R"("alg":"ES256",)"), "its \"alg\" does not fit its type or curve"},
           Row{rsa_issuer().jwk(R"("alg":"HS256",)"), "its \"alg\" does not fit its type or curve"},
           Row{ec_issuer().jwk(R"("alg":"ES384",)"), "its \"alg\" does not fit its type or curve"},
           // key IDs
           Row{ec_issuer().jwk(R"("kid":"",)"), "its \"kid\" is not a text of 1 to 128 bytes"},
           Row{ec_issuer().jwk(R"("kid":1,)"), "its \"kid\" is not a text of 1 to 128 bytes"},
           Row{ec_issuer().jwk(R"("kid":null,)"), "its \"kid\" is not a text of 1 to 128 bytes"},
           Row{ec_issuer().jwk(R"("kid":")" + std::string(129, 'k') + "\","),
               "its \"kid\" is not a text of 1 to 128 bytes"},
           // secrets
           Row{Issuer("oct").jwk(),
               "it is a secret (\"kty\" is \"oct\"), which must not be published"},
       }) {
    INFO(row.key);
    CHECK(problem_of(row.key) == "key 1 is not used: " + row.why);
  }
}

TEST_CASE("a weak RSA key is not used") {
  // Numbers that are not products of two primes, which costs too much time to check.
  const auto number = [](std::size_t bytes, const std::string& last) {
    return encode_base64url('\x80' + std::string(bytes - 1 - last.size(), '\0') + last);
  };
  const auto rsa = [](const std::string& modulus, const std::string& exponent) {
    return R"({"kty":"RSA","n":")" + modulus + R"(","e":")" + encode_base64url(exponent) + "\"}";
  };
  const std::string good = number(256, "\x0b");
  const std::string e65537("\1\0\1", 3);
  REQUIRE(read(set_of({rsa(good, e65537)})).keys.size() == 1);
  CHECK(read(set_of({rsa(good, "\3")})).keys.size() == 1);
  CHECK(read(set_of({rsa(encode_base64url('\0' + *decode_base64url(good)), e65537)})).keys.size() ==
        1);
  struct Row {
    std::string key;
    std::string why;
  };
  for (const Row& row : {
           Row{rsa(number(128, "\x0b"), e65537), "RSA with 1024 bits is not between 2048 and 8192"},
           Row{rsa(encode_base64url('\x7f' + std::string(254, '\0') + '\1'), e65537),
               "RSA with 2047 bits is not between 2048 and 8192"},
           Row{rsa(number(1'025, "\x0b"), e65537),
               "RSA with 8200 bits is not between 2048 and 8192"},
           Row{rsa(number(2'049, "\x0b"), e65537), "its modulus or exponent is too large"},
           Row{rsa(good, std::string(2'049, '\1')), "its modulus or exponent is too large"},
           Row{rsa(number(256, "\x0a"), e65537), "its modulus is even"},
           Row{rsa(good, "\1"), "its exponent is even or less than 3"},
           Row{rsa(good, std::string(1, '\0')), "its exponent is even or less than 3"},
           Row{rsa(good, "\2"), "its exponent is even or less than 3"},
           Row{rsa(good, std::string(9, '\1')), "its exponent has more than 64 bits"},
       }) {
    INFO(row.key);
    CHECK(problem_of(row.key) == "key 1 is not used: " + row.why);
  }
  int small_factors = 0;
  for (char last = 1; last < 60; last = static_cast<char>(last + 2))
    small_factors +=
        read(set_of({rsa(number(256, std::string(1, last)), e65537)})).keys.size() == 0;
  CHECK(small_factors > 10);
}

TEST_CASE("the private part of a key is reported and not used") {
  const ReadKeySet set = read(set_of({ec_issuer().jwk(R"("kid":"a","d":"c2VjcmV0",)")}));
  CHECK(set.keys.size() == 1);
  REQUIRE(set.problems.size() == 1);
  CHECK(set.problems[0] ==
        "key 1 (kid \"a\") is used, but should be replaced: "
        "it contains the private key, so others can make tokens");
}

TEST_CASE("problems contain nothing of a key") {
  const std::string number = "c2VjcmV0c2VjcmV0";
  for (const std::string& key : {
           R"({"kty":"RSA","n":")" + number + R"(","e":")" + number + "\"}",
           R"({"kty":"EC","crv":"P-256","x":")" + number + R"(","y":")" + number + "\"}",
           R"({"kty":"oct","alg":"HS512","k":")" + number + "\"}",
           R"({"kty":")" + number + "\"}",
           R"({"kty":"EC","crv":")" + number + "\"}",
           R"({"kty":"oct","use":")" + number + "\"}",
       }) {
    const std::string problem = problem_of(key);
    CHECK(problem.find("c2VjcmV0") == std::string::npos);
    CHECK(problem.find("secret\"") == std::string::npos);
  }
  // A key ID is shown only if it cannot break a line.
  for (const char* const id : {R"(a\nb)", R"(a\"b)", R"(\u001b[31m)", "\xc3\xa9", R"(\u0000)"})
    CHECK(problem_of(R"({"kid":")" + std::string(id) + "\"}") ==
          "key 1 is not used: it has no \"kty\"");
}

TEST_CASE("secrets of a published set are not used, its other keys are") {
  const ReadKeySet set = read(
      set_of({Issuer("oct").jwk(R"("kid":"s","alg":"HS256",)"), ec_issuer().jwk(R"("kid":"a",)")}));
  CHECK(set.problems ==
        std::vector<std::string>{"key 1 (kid \"s\") is not used: it is a secret (\"kty\" is "
                                 "\"oct\"), which must not be published"});
  CHECK(set.keys.size() == 1);
  CHECK_FALSE(set.keys.candidates("s", JwsAlgorithm::hs256).known);
  CHECK(set.keys.candidates("a", JwsAlgorithm::es256).count == 1);
}

TEST_CASE("a text that is not a JWK set is rejected") {
  struct Row {
    std::string text;
    std::string why;
  };
  const std::string no_set = "it is not a JWK set: an object with a list \"keys\"";
  for (const Row& row : {
           Row{"", "it is not JSON"},
           Row{"<html>", "it is not JSON"},
           Row{R"({"keys":[])", "it is not JSON"},
           Row{"[]", no_set},
           Row{"{}", no_set},
           Row{R"({"keys":{}})", no_set},
           Row{R"({"keys":null})", no_set},
           Row{ec_issuer().jwk(), no_set},
           Row{R"({"keys":[],"keys":[]})", "a member name appears more than once in an object"},
           Row{R"({"keys":[{"kty":"EC","kty":"RSA"}]})",
               "a member name appears more than once in an object"},
           Row{R"({"keys":)" + std::string(20, '[') + std::string(20, ']') + '}',
               "its JSON has too many levels"},
           Row{std::string(largest_key_set + 1, ' '), "it is larger than 4194304 bytes"},
       }) {
    const auto set = read_key_set(row.text, KeyOrigin::published);
    REQUIRE(set.has_error());
    CHECK(set.error().message == row.why);
  }
  std::string zeros = R"({"keys":[0)";
  for (int i = 0; i < 70'000; ++i)
    zeros += ",0";
  const auto set = read_key_set(zeros + "]}", KeyOrigin::published);
  REQUIRE(set.has_error());
  CHECK(set.error().message == "it has more than 65536 values");
}

TEST_CASE("a set without keys is a set") {
  const ReadKeySet set = read(R"({"keys":[],"other":1})");
  CHECK(set.problems.empty());
  CHECK(set.keys.size() == 0);
  CHECK_FALSE(set.keys.candidates("a", JwsAlgorithm::es256).known);
  CHECK_FALSE(KeySet().candidates(std::nullopt, JwsAlgorithm::es256).known);
}

TEST_CASE("a set of 1,000 keys is used, and keys after the first 1,024 are not") {
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i)
    keys.push_back(rsa_issuer().jwk(R"("kid":"k)" + std::to_string(i) + R"(","x5c":[],)"));
  const ReadKeySet set = read(set_of(keys));
  CHECK(set.problems.empty());
  CHECK(set.keys.size() == 1'000);
  for (const char* const id : {"k0", "k500", "k999"})
    CHECK(set.keys.candidates(id, JwsAlgorithm::rs256).count == 1);

  for (int i = 1'000; i < 1'030; ++i)
    keys.push_back(ec_issuer().jwk(R"("kid":"k)" + std::to_string(i) + R"(",)"));
  const ReadKeySet larger = read(set_of(keys));
  CHECK(larger.problems == std::vector<std::string>{"the keys after the first 1024 are not used"});
  CHECK(larger.keys.size() == 1'024);
  CHECK(larger.keys.candidates("k1023", JwsAlgorithm::es256).known);
  CHECK_FALSE(larger.keys.candidates("k1024", JwsAlgorithm::es256).known);
}

TEST_CASE("a configured secret is used for every key ID") {
  const auto set = KeySet::of_secret(Secret{std::string(48, 's')});
  REQUIRE(set.has_value());
  CHECK(set->candidates("any", JwsAlgorithm::hs256).count == 1);
  CHECK(set->candidates(std::nullopt, JwsAlgorithm::hs384).count == 1);
  // Shorter than the hash, or not for HMAC: no newer set can have the key.
  for (const JwsAlgorithm algorithm : {JwsAlgorithm::hs512, JwsAlgorithm::rs256}) {
    CHECK(set->candidates("any", algorithm).count == 0);
    CHECK(set->candidates("any", algorithm).known);
    CHECK(set->candidates(std::nullopt, algorithm).known);
  }
  CHECK(KeySet::of_secret(Secret{}).has_error());
}

TEST_CASE("a configured JWK set contains secrets only") {
  const ReadKeySet set = read(set_of({Issuer("oct").jwk(R"("kid":"a",)"),
                                      Issuer("oct").jwk(R"("kid":"b","alg":"HS512",)")}),
                              KeyOrigin::configured);
  CHECK(set.problems.empty());
  CHECK(set.keys.candidates("a", JwsAlgorithm::hs256).count == 1);
  CHECK(set.keys.candidates("b", JwsAlgorithm::hs256).count == 0);
  CHECK(problem_of(ec_issuer().jwk(), KeyOrigin::configured) ==
        "key 1 is not used: it is not a secret (\"kty\" is not \"oct\")");
  CHECK(problem_of(R"({"kty":"oct","k":"c2hvcnQ","alg":"HS256"})", KeyOrigin::configured) ==
        "key 1 is not used: it has 5 bytes, and HS256 needs at least 32");
  CHECK(problem_of(R"({"kty":"oct","k":""})", KeyOrigin::configured) ==
        "key 1 is not used: its \"k\" is missing or not base64url");
}

}  // namespace
}  // namespace weir::jwt
