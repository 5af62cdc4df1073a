#include "jwt/token.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "catch.hpp"
#include "unit/jwt/encoding.hpp"

namespace weir::jwt {
namespace {

constexpr std::size_t max_size = 8'192;

/// Why the token is rejected before any key is looked up.
std::optional<Rejection> rejection_of(std::string_view text) {
  const auto token = parse_token(text, max_size);
  if (!token) return token.error();
  const auto payload = read_payload(*token);
  if (!payload) return payload.error();
  return std::nullopt;
}

std::optional<Rejection> rejection_of_header(std::string_view header) {
  INFO(header);
  return rejection_of(token_of(header, R"({"sub":"a"})"));
}

std::optional<Rejection> rejection_of_payload(std::string_view payload) {
  INFO(payload);
  return rejection_of(token_of(R"({"alg":"ES256"})", payload));
}

TEST_CASE("a token is taken apart") {
  const std::string text =
      token_of(R"({"alg":"ES256","kid":"k 1","typ":"at+jwt","jku":"https://evil.example"})",
               R"({"sub":"a"})");
  const auto token = parse_token(text, max_size);
  REQUIRE(token.has_value());
  CHECK(token->header.algorithm == JwsAlgorithm::es256);
  CHECK(token->header.key_id == "k 1");
  CHECK(token->header.type == "at+jwt");
  CHECK(token->payload == R"({"sub":"a"})");
  CHECK(token->signature == "sig");
  CHECK(text.substr(token->signed_size) == ".c2ln");
  CHECK_FALSE(rejection_of(text));
}

TEST_CASE("a header may contain white space and members that are not known") {
  // RFC 7515 appendix A.1.
  const auto token = parse_token(
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
      "Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      max_size);
  REQUIRE(token.has_value());
  CHECK(token->header.algorithm == JwsAlgorithm::hs256);
  CHECK(token->header.type == "JWT");
  CHECK_FALSE(token->header.key_id);
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","x":[1,{"y":null}],"cty":"twilio-fpa;v=1"})"));
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","b64":true})"));
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","jwk":{},"x5u":"u","x5c":[],"jku":"u"})"));
}

TEST_CASE("a token has exactly three parts") {
  const std::string header = encode_base64url(R"({"alg":"ES256"})");
  const std::string payload = encode_base64url(R"({"sub":"a"})");
  for (const std::string& text : {
           std::string(),
           std::string("."),
           std::string(".."),
           std::string("..."),
           header,
           header + '.' + payload,
           header + '.' + payload + ".c2ln.",
           '.' + header + ".c2ln.c2ln",
           header + '.' + payload + ".c2ln.c2ln",
           header + "." + payload + ".a.b.c",
           '.' + payload + ".c2ln",
           header + '.' + payload + '.',
       }) {
    INFO(text);
    CHECK(rejection_of(text) == Rejection::not_compact);
  }
  CHECK(rejection_of(header + "..c2ln") == Rejection::bad_payload);
  // The JSON serialization.
  CHECK(rejection_of(R"({"payload":")" + payload + R"(","signature":"c2ln"})") ==
        Rejection::not_compact);
}

TEST_CASE("a token with the algorithm none is rejected as unsigned") {
  const std::string payload = encode_base64url(R"({"sub":"a"})");
  const auto without_signature = [&](std::string_view header) {
    return rejection_of(encode_base64url(header) + '.' + payload + '.');
  };
  CHECK(without_signature(R"({"alg":"none"})") == Rejection::unsigned_token);
  CHECK(without_signature(R"({"typ":"JWT","alg":"none"})") == Rejection::unsigned_token);
  CHECK(description_of(Rejection::unsigned_token) == "tokens without a signature are not accepted");
  for (const char* const header :
       {R"({"alg":"ES256"})", "{}", R"({"alg":0})", "[]", "x", R"({"alg":"ES256","alg":"none"})"})
    CHECK(without_signature(header) == Rejection::not_compact);
  CHECK(rejection_of("!." + payload + '.') == Rejection::not_compact);
}

TEST_CASE("each part of a token is base64url") {
  const std::string good = token_of(R"({"alg":"ES256"})", R"({"sub":"a"})");
  REQUIRE_FALSE(rejection_of(good));
  for (const char c : std::string("=+/ \t\r\n\0?%\xc3", 11)) {
    for (std::size_t at = 0; at <= good.size(); ++at) {
      std::string text = good;
      text.insert(at, 1, c);
      INFO(text);
      CHECK(rejection_of(text) == Rejection::not_base64url);
    }
  }
  CHECK(rejection_of(good + "AA") == std::nullopt);
  CHECK(rejection_of(good + "AB") == Rejection::not_base64url);  // an unused bit is set
}

TEST_CASE("a token has at most the configured size") {
  const std::string text = token_of(R"({"alg":"ES256"})", R"({"sub":"a"})");
  CHECK(parse_token(text, text.size()).has_value());
  const auto longer = parse_token(text, text.size() - 1);
  REQUIRE(longer.has_error());
  CHECK(longer.error() == Rejection::too_large);
  CHECK(rejection_of(std::string(max_size + 1, '.')) == Rejection::too_large);
  CHECK(rejection_of(std::string(max_size, '.')) == Rejection::not_compact);
}

TEST_CASE("header and payload are JSON objects") {
  for (const char* const text :
       {"[]", R"([{"alg":"ES256"}])", R"("x")", "1", "null", "true", "x", "{", "{}x", "\xff"}) {
    CHECK(rejection_of_header(text) == Rejection::bad_header);
    CHECK(rejection_of_payload(text) == Rejection::bad_payload);
  }
  CHECK(rejection_of_payload("") == Rejection::bad_payload);
  CHECK(rejection_of_payload(R"({"exp":1e999})") == Rejection::bad_payload);
  CHECK_FALSE(rejection_of_payload("{}"));
}

TEST_CASE("a token with a member name that appears twice is rejected") {
  CHECK(rejection_of_header(R"({"alg":"none","alg":"ES256"})") == Rejection::duplicate_member);
  CHECK(rejection_of_header(R"({"alg":"ES256","x":{"a":1,"a":2}})") == Rejection::duplicate_member);
  CHECK(rejection_of_payload(R"({"sub":"a","sub":"b"})") == Rejection::duplicate_member);
  CHECK(rejection_of_payload(R"({"a":[{"b":1,"\u0062":2}]})") == Rejection::duplicate_member);
}

TEST_CASE("the JSON of a token is limited in depth and values") {
  const auto nested = [](std::size_t depth) {
    return R"({"alg":"ES256","a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') +
           '}';
  };
  CHECK_FALSE(rejection_of_header(nested(8)));
  CHECK(rejection_of_header(nested(9)) == Rejection::too_complex);
  CHECK_FALSE(rejection_of_payload(nested(32)));
  CHECK(rejection_of_payload(nested(33)) == Rejection::too_complex);
  CHECK(rejection_of_payload(nested(2'000)) == Rejection::too_complex);
  std::string values = R"({"alg":"ES256","a":[0)";
  for (int i = 0; i < 1'100; ++i)
    values += ",0";
  CHECK(rejection_of_header(values + "]}") == Rejection::too_complex);
  CHECK_FALSE(rejection_of_payload(values + "]}"));
}

TEST_CASE("a token with an algorithm that is not supported is rejected") {
  for (const char* const algorithm : {
           R"("none")",  R"("None")",   R"("NONE")",     R"("noNE")",        R"("es256")",
           R"("es384")", R"("ES384 ")", R"(" ES384")",   R"("ES384\u0000")", R"("")",
           R"("ES521")", R"("ES256K")", R"("RSA-OAEP")", R"("dir")",         R"("A256GCM")",
           "null",       "0",           "true",          R"(["ES384"])",     "{}",
       })
    CHECK(rejection_of_header(std::string(R"({"alg":)") + algorithm + '}') ==
          Rejection::unsupported_algorithm);
  CHECK(rejection_of_header("{}") == Rejection::unsupported_algorithm);
  CHECK(rejection_of_header(R"({"ALG":"ES256"})") == Rejection::unsupported_algorithm);
}

TEST_CASE("all algorithms are found by their names") {
  std::set<JwsAlgorithm> found;
  for (const std::string name : {"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256",
                                 "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}) {
    const auto token = parse_token(token_of(R"({"alg":")" + name + R"("})", "{}"), max_size);
    REQUIRE(token.has_value());
    CHECK(name_of(token->header.algorithm) == name);
    CHECK(is_symmetric(token->header.algorithm) == name.starts_with("HS"));
    found.insert(token->header.algorithm);
  }
  CHECK(found.size() == 13);
}

TEST_CASE("an algorithm set contains what was added") {
  AlgorithmSet set{JwsAlgorithm::rs256};
  CHECK(AlgorithmSet{}.empty());
  CHECK_FALSE(set.empty());
  set.add(JwsAlgorithm::eddsa);
  CHECK(set.contains(JwsAlgorithm::rs256));
  CHECK(set.contains(JwsAlgorithm::eddsa));
  CHECK_FALSE(set.contains(JwsAlgorithm::hs256));
  CHECK_FALSE(set.contains(JwsAlgorithm::ps256));
  CHECK(set == AlgorithmSet{JwsAlgorithm::eddsa, JwsAlgorithm::rs256});
}

TEST_CASE("a key ID is a text of 1 to 128 bytes") {
  for (const std::string& id :
       {std::string(R"("")"), std::string("null"), std::string("1"), std::string("[]"),
        std::string(R"({"a":1})"), '"' + std::string(129, 'k') + '"'})
    CHECK(rejection_of_header(R"({"alg":"ES256","kid":)" + id + '}') == Rejection::bad_key_id);
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","kid":")" + std::string(128, 'k') + "\"}"));
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","kid":"../../etc/passwd"})"));
}

TEST_CASE("a token that requires an extension is rejected") {
  for (const char* const members : {
           R"("crit":["exp"],"exp":1)",
           R"("crit":["x"])",
           R"("crit":[])",
           R"("crit":"exp")",
           R"("crit":null)",
           R"("crit":["b64"],"b64":false)",
           R"("crit":["b64"],"b64":true)",
           R"("b64":false)",
           R"("b64":"true")",
           R"("b64":null)",
           R"("b64":0)",
       })
    CHECK(rejection_of_header(std::string(R"({"alg":"ES256",)") + members + '}') ==
          Rejection::unsupported_extension);
}

TEST_CASE("encrypted, compressed and nested tokens are rejected") {
  for (const char* const header : {
           R"({"alg":"ES256","enc":"A256GCM"})",
           R"({"alg":"dir","enc":"A256GCM"})",
           R"({"alg":"PBES2-HS256+A128KW","p2c":2147483647,"enc":"A256GCM"})",
           R"({"alg":"ES256","zip":"DEF"})",
           R"({"alg":"ES256","cty":"JWT"})",
           R"({"alg":"ES256","cty":"jwt"})",
           R"({"alg":"ES256","cty":"application/jwt"})",
       })
    CHECK(rejection_of_header(header) == Rejection::encrypted);
  CHECK(rejection_of_header(R"({"alg":"ES256","cty":1})") == Rejection::bad_header);
}

TEST_CASE("the type of a token is a text") {
  CHECK(rejection_of_header(R"({"alg":"ES256","typ":1})") == Rejection::bad_header);
  CHECK(rejection_of_header(R"({"alg":"ES256","typ":null})") == Rejection::bad_header);
  CHECK_FALSE(rejection_of_header(R"({"alg":"ES256","typ":""})"));
}

TEST_CASE("descriptions of rejections fit error_description") {
  std::set<std::string_view> found;
  for (int i = 0; i <= static_cast<int>(Rejection::bad_subject); ++i) {
    const std::string_view text = description_of(static_cast<Rejection>(i));
    INFO(text);
    CHECK_FALSE(text.empty());
    CHECK(found.insert(text).second);
    for (const char c : text)
      CHECK((c >= 0x20 && c <= 0x7e && c != '"' && c != '\\'));
  }
}

TEST_CASE("names of types are equal without case and without the prefix application/") {
  const auto [text, expected, is_equal] = GENERATE(table<std::string_view, std::string_view, bool>({
      {"at+jwt", "at+jwt", true},
      {"AT+JWT", "at+jwt", true},
      {"application/at+jwt", "at+jwt", true},
      {"at+jwt", "Application/AT+jwt", true},
      {"application/at+jwt", "application/at+jwt", true},
      {"application/", "application/", true},
      {"application/application/jwt", "jwt", false},  // only one prefix
      {"jwt", "at+jwt", false},
      {"at+jwt ", "at+jwt", false},
      {"text/at+jwt", "at+jwt", false},
      {"application", "application/", false},
      {"", "jwt", false},
      {"[at]", "{at}", false},  // differ by the bit of the case, but are no letters
  }));
  CAPTURE(text, expected);
  CHECK(is_type(text, expected) == is_equal);
}

}  // namespace
}  // namespace weir::jwt
