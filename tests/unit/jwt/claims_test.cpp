#include "jwt/claims.hpp"

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::jwt {
namespace {

using std::chrono::seconds;

json::Value payload_of(const std::string& text) {
  INFO(text);
  const auto json = json::read(text, {});
  REQUIRE(json.has_value());
  return *json;
}

constexpr Instant at(std::int64_t second) {
  return Instant{seconds(second)};
}

/// Checks nothing but the form of claims.
const Provider lenient{.algorithms = {},
                       .issuer = std::nullopt,
                       .audiences = {},
                       .type = std::nullopt,
                       .leeway = seconds(0),
                       .is_expiry_required = false,
                       .max_age = std::nullopt,
                       .claims = {}};

std::optional<Rejection> rejection_of_claims(const std::string& payload, const Provider& provider,
                                             Instant now = at(1'000)) {
  const auto result = check_claims(payload_of(payload), provider, now);
  return result ? std::nullopt : std::optional(result.error());
}

TEST_CASE("the issuer is compared byte for byte") {
  Provider provider = lenient;
  provider.issuer = "https://issuer.example";
  CHECK_FALSE(rejection_of_claims(R"({"iss":"https://issuer.example"})", provider));
  CHECK_FALSE(rejection_of_claims(R"({"iss":"https:\/\/issuer\u002eexample"})", provider));
  for (const char* const payload : {
           "{}",
           R"({"iss":"https://issuer.example/"})",
           R"({"iss":"https://Issuer.example"})",
           R"({"iss":"https://issuer.exampl"})",
           R"({"iss":" https://issuer.example"})",
           R"({"iss":"https://issuer.example\u0000"})",
           R"({"iss":""})",
           R"({"iss":null})",
           R"({"iss":["https://issuer.example"]})",
           R"({"iss":1})",
       }) {
    INFO(payload);
    CHECK(rejection_of_claims(payload, provider) == Rejection::wrong_issuer);
  }
  // Without a configured issuer, only its form matters.
  CHECK_FALSE(rejection_of_claims("{}", lenient));
  CHECK_FALSE(rejection_of_claims(R"({"iss":"x"})", lenient));
  CHECK(rejection_of_claims(R"({"iss":["x"]})", lenient) == Rejection::wrong_issuer);
}

TEST_CASE("the audience is a text or a list that contains one of ours") {
  Provider provider = lenient;
  provider.audiences = {"api", "https://api.example"};
  for (const char* const payload :
       {R"({"aud":"api"})", R"({"aud":["api"]})", R"({"aud":["x","https://api.example"]})"})
    CHECK_FALSE(rejection_of_claims(payload, provider));
  for (const char* const payload : {
           "{}",
           R"({"aud":"ap"})",
           R"({"aud":"api "})",
           R"({"aud":"API"})",
           R"({"aud":"api2"})",
           R"({"aud":"https://api.example/"})",
           R"({"aud":""})",
           R"({"aud":[]})",
           R"({"aud":["x"]})",
           R"({"aud":["api",1]})",
           R"({"aud":[["api"]]})",
           R"({"aud":null})",
           R"({"aud":{"api":"api"}})",
           R"({"aud":1})",
           R"({"aud":"x api"})",
       }) {
    INFO(payload);
    CHECK(rejection_of_claims(payload, provider) == Rejection::wrong_audience);
  }
  CHECK_FALSE(rejection_of_claims("{}", lenient));
  CHECK_FALSE(rejection_of_claims(R"({"aud":["x"]})", lenient));
  CHECK(rejection_of_claims(R"({"aud":["x",1]})", lenient) == Rejection::wrong_audience);
  CHECK(rejection_of_claims(R"({"aud":true})", lenient) == Rejection::wrong_audience);
}

TEST_CASE("a token is valid from nbf - leeway until exp + leeway") {
  struct Row {
    const char* payload;
    std::int64_t leeway;
    std::int64_t first;  ///< the first second in which the token is valid
    std::int64_t last;   ///< the last one
  };
  for (const Row& row : {
           // exp: at this instant the token has expired
           Row{R"({"exp":2000})", 0, 0, 1'999},
           Row{R"({"exp":2000})", 60, 0, 2'059},
           Row{R"({"exp":2000.5})", 0, 0, 2'000},
           Row{R"({"exp":2e3})", 0, 0, 1'999},
           // nbf: at this instant the token is valid
           Row{R"({"nbf":1000,"exp":2000})", 0, 1'000, 1'999},
           Row{R"({"nbf":1000,"exp":2000})", 30, 970, 2'029},
           Row{R"({"nbf":999.5,"exp":2000})", 0, 1'000, 1'999},
           // iat: not in the future
           Row{R"({"iat":1000,"exp":2000})", 0, 1'000, 1'999},
           Row{R"({"iat":1000,"exp":2000})", 30, 970, 2'029},
           Row{R"({"iat":900,"nbf":1000,"exp":2000})", 0, 1'000, 1'999},
       }) {
    INFO(row.payload << ", leeway " << row.leeway);
    Provider provider = lenient;
    provider.leeway = seconds(row.leeway);
    const bool has_iat_only = std::string(row.payload).find("nbf") == std::string::npos;
    CHECK_FALSE(rejection_of_claims(row.payload, provider, at(row.first)));
    CHECK_FALSE(rejection_of_claims(row.payload, provider, at(row.last)));
    CHECK(rejection_of_claims(row.payload, provider, at(row.last + 1)) == Rejection::expired);
    if (row.first > 0)
      CHECK(rejection_of_claims(row.payload, provider, at(row.first - 1)) ==
            (has_iat_only ? Rejection::issued_in_future : Rejection::not_yet_valid));
  }
  // To the microsecond.
  CHECK_FALSE(rejection_of_claims(R"({"exp":2000})", lenient, at(2'000) - Duration(1)));
  CHECK(rejection_of_claims(R"({"exp":2000})", lenient, at(2'000)) == Rejection::expired);
  CHECK(rejection_of_claims(R"({"nbf":2000})", lenient, at(2'000) - Duration(1)) ==
        Rejection::not_yet_valid);
  CHECK_FALSE(rejection_of_claims(R"({"nbf":2000})", lenient, at(2'000)));
  CHECK(rejection_of_claims(R"({"nbf":3000,"exp":2000})", lenient, at(2'500)) ==
        Rejection::expired);
}

TEST_CASE("an expiry is required unless the provider permits tokens without one") {
  Provider provider = lenient;
  provider.is_expiry_required = true;
  CHECK(rejection_of_claims("{}", provider) == Rejection::no_expiry);
  CHECK_FALSE(rejection_of_claims(R"({"exp":2000})", provider));
  CHECK_FALSE(rejection_of_claims("{}", lenient));
}

TEST_CASE("a maximum age requires iat") {
  Provider provider = lenient;
  provider.max_age = seconds(100);
  CHECK(rejection_of_claims("{}", provider) == Rejection::too_old);
  CHECK_FALSE(rejection_of_claims(R"({"iat":1000})", provider, at(1'099)));
  CHECK(rejection_of_claims(R"({"iat":1000})", provider, at(1'100)) == Rejection::too_old);
  provider.leeway = seconds(10);
  CHECK_FALSE(rejection_of_claims(R"({"iat":1000})", provider, at(1'109)));
  CHECK(rejection_of_claims(R"({"iat":1000})", provider, at(1'110)) == Rejection::too_old);
}

TEST_CASE("a date that is not a NumericDate is rejected, whatever its meaning") {
  for (const std::string name : {"exp", "nbf", "iat"}) {
    for (const char* const value : {
             R"("2000")",
             R"("")",
             "null",
             "true",
             "false",
             "[]",
             "[2000]",
             "{}",
             "-1",
             "-0.5",
             "1e300",
             "1700000000000",
             "9223372036854775807",
             "18446744073709551616",
             R"("2030-01-01T00:00:00Z")",
         }) {
      INFO(name << ' ' << value);
      CHECK(rejection_of_claims("{\"" + name + "\":" + value + '}', lenient) ==
            Rejection::bad_date);
    }
    CHECK(json::read("{\"" + name + "\":1e999}", {}).has_error());
  }
  CHECK_FALSE(rejection_of_claims(R"({"exp":253402300799})", lenient));
  CHECK_FALSE(rejection_of_claims(R"({"nbf":0,"iat":0.0})", lenient));
}

TEST_CASE("a subject is a text of 1 to 255 bytes") {
  const auto with = [](const std::string& value) { return R"({"sub":)" + value + '}'; };
  CHECK_FALSE(rejection_of_claims("{}", lenient));
  CHECK_FALSE(rejection_of_claims(with(R"("a")"), lenient));
  CHECK_FALSE(rejection_of_claims(with('"' + std::string(255, 'a') + '"'), lenient));
  for (const std::string& value :
       {std::string(R"("")"), '"' + std::string(256, 'a') + '"', std::string("null"),
        std::string("5"), std::string("true"), std::string(R"(["a"])"), std::string("{}")})
    CHECK(rejection_of_claims(with(value), lenient) == Rejection::bad_subject);
}

TEST_CASE("the end of the validity includes leeway") {
  const auto end_of = [](const std::string& payload, const Provider& provider) {
    const auto end = check_claims(payload_of(payload), provider, at(1'000));
    REQUIRE(end.has_value());
    return *end;
  };
  Provider provider = lenient;
  provider.leeway = seconds(30);
  CHECK(end_of(R"({"exp":2000})", provider) == at(2'030));
  CHECK(end_of("{}", provider) == std::nullopt);
  CHECK(end_of(R"({"iat":990})", provider) == std::nullopt);
  provider.max_age = seconds(100);
  CHECK(end_of(R"({"iat":990})", provider) == at(1'120));
  CHECK(end_of(R"({"exp":2000,"iat":990})", provider) == at(1'120));
  CHECK(end_of(R"({"exp":1010,"iat":990})", provider) == at(1'040));
}

TEST_CASE("a claim of each kind becomes an identity or none") {
  struct Row {
    const char* value;
    Claim claim;
  };
  for (const Row& row : {
           // texts, as they are
           Row{R"("gold")", {ClaimKind::text, "gold"}},
           Row{R"(" ")", {ClaimKind::text, " "}},
           Row{R"("\u00e9")", {ClaimKind::text, "é"}},
           Row{R"("5")", {ClaimKind::text, "5"}},
           Row{R"("true")", {ClaimKind::text, "true"}},
           // numbers: equal ones are the same client
           Row{"5", {ClaimKind::number, "5"}},
           Row{"5.0", {ClaimKind::number, "5"}},
           Row{"5e0", {ClaimKind::number, "5"}},
           Row{"0", {ClaimKind::number, "0"}},
           Row{"-0", {ClaimKind::number, "0"}},
           Row{"1.5", {ClaimKind::number, "1.5"}},
           // and different ones are not, however large
           Row{"12345678901234567890123", {ClaimKind::number, "12345678901234567890123"}},
           Row{"12345678901234567890124", {ClaimKind::number, "12345678901234567890124"}},
           // booleans
           Row{"true", {ClaimKind::boolean, "true"}},
           Row{"false", {ClaimKind::boolean, "false"}},
           // nobody
           Row{R"("")", {}},
           Row{"null", {}},
           Row{"[]", {ClaimKind::list, ""}},
           Row{R"(["gold"])", {ClaimKind::list, ""}},
           Row{"{}", {ClaimKind::object, ""}},
           Row{R"({"a":1})", {ClaimKind::object, ""}},
       }) {
    INFO(row.value);
    const Claim claim =
        find_claim(payload_of(R"({"plan":)" + std::string(row.value) + '}'), "plan");
    CHECK(claim.kind == row.claim.kind);
    CHECK(claim.text == row.claim.text);
  }
  CHECK(find_claim(payload_of("{}"), "plan") == Claim{});
}

TEST_CASE("a claim is found by a dotted path, the longest name first") {
  const json::Value payload = payload_of(R"({
    "a": {"b": {"c": "a/b/c"}, "b.d": "a/b.d", "": "empty"},
    "a.e": "a.e", "a.f": {"g": "a.f/g"},
    "h": {"i": "hidden"}, "h.i": "shown",
    "j.k": {"x": 1}, "j": {"k": {"l": "j/k/l"}},
    "https://example.com/plan": "url", "https://example.com/claims": {"plan": "url/plan"},
    "list": [{"a": 1}], "text": "x", "n": null
  })");
  struct Row {
    const char* path;
    const char* text;
  };
  for (const Row& row : {
           Row{"a.b.c", "a/b/c"},
           Row{"a.b.d", "a/b.d"},
           Row{"a.e", "a.e"},
           Row{"a.f.g", "a.f/g"},
           Row{"h.i", "shown"},
           Row{"j.k.l", "j/k/l"},
           Row{"j.k.x", "1"},
           Row{"https://example.com/plan", "url"},
           Row{"https://example.com/claims.plan", "url/plan"},
           Row{"a.", "empty"},
       }) {
    INFO(row.path);
    CHECK(find_claim(payload, row.path).text == row.text);
  }
  for (const char* const path : {"", ".", "..", "b", "a.b.c.d", "a.c", ".a", "text.x", "list.0",
                                 "list.a", "n.x", "n", "A", "a..b"}) {
    INFO(path);
    CHECK(find_claim(payload, path).kind == ClaimKind::absent);
  }
  CHECK(find_claim(payload, "a.b").kind == ClaimKind::object);
}

}  // namespace
}  // namespace weir::jwt
