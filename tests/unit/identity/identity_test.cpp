#include "identity/identity.hpp"

#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/identity/resolving.hpp"

namespace weir::identity::test {

TEST_CASE("a header: its first line, under any case of its name") {
  const auto alice = resolved(header("x-api-key"), {.fields = {{"X-API-Key", "alice"}}});
  REQUIRE(alice);
  CHECK(resolved(header("X-Api-Key"), {.fields = {{"x-api-key", "alice"}, {"x-api-key", "bob"}}}) ==
        alice);
  CHECK(resolved(header("x-api-key"), {.fields = {{"x-api-key", "Alice"}}}) != alice);
  CHECK_FALSE(resolved(header("x-api-key"), {}));
  CHECK_FALSE(resolved(header("x-api-key"), {.fields = {{"x-api-key", ""}}}));
}

TEST_CASE("a query parameter: decoded, so that another spelling is not another client") {
  const auto expected = resolved(query("k y"), {.query = "k+y=a b"});
  REQUIRE(expected);
  for (const char* text :
       {"k%20y=a%20b", "k+y=a+b", "x=1&k+y=a+b", "%6b%20%79=%61+%62", "&&k y=a b&"}) {
    INFO(text);
    CHECK(resolved(query("k y"), {.query = text}) == expected);
  }
  for (const char* text : {"k+y=", "k+y", "", "xk+y=a", "k+yx=a", "=a", "+", "k"}) {
    INFO(text);
    CHECK(resolution(query("k y"), {.query = text}).state == Resolution::State::absent);
  }
  CHECK(resolved(query("k"), {.query = "k=a=b"}) == resolved(query("k"), {.query = "k=a%3Db"}));
  CHECK(resolved(query("k"), {.query = "k=%zz%4"}) ==
        resolved(query("k"), {.query = "k=%25zz%254"}));
  CHECK(resolved(query("k"), {.query = "k=%00"}) != resolved(query("k"), {.query = "k=0"}));
}

TEST_CASE("a cookie: the only one of its name, without quotes") {
  const auto expected = resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=abc"}}});
  REQUIRE(expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "a=b; sid=abc; other=sid"}}}) ==
        expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"cookie", "a=b; sid=\"abc\""}}}) == expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "xsid=1;sid=abc;c="}}}) == expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "a=; sid = abc "}}}) == expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=a=b"}}}) !=
        resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=a"}}}));
  for (const char* line : {"", "sid", "sid=", "sid=\"\"", "SID=abc", "a=sid=abc", "a=b", ";;"}) {
    INFO(line);
    CHECK_FALSE(resolved(from_cookie("sid"), {.fields = {{"Cookie", line}}}));
  }
}

TEST_CASE("spellings of one cookie are one client, as for services that decode it") {
  const auto of = [](const char* line) {
    return resolved(from_cookie("sid"), {.fields = {{"Cookie", line}}});
  };
  const auto expected = of("sid=a%20b/c");
  REQUIRE(expected);
  for (const char* line : {"sid=a%20b%2Fc", "sid=%61+b/%63", "sid=\"a b/c\"",
                           "sid=\" a b/c%00%0a\"", "sid=%09a%20b/c+"}) {
    INFO(line);
    CHECK(of(line) == expected);
  }
  CHECK(of("sid=a%20b/C") != expected);
  CHECK(of("sid=%20") == std::nullopt);
  CHECK(
      ambiguity(from_cookie("sid"), {.fields = {{"Cookie", "sid=\"\\141\""}}}) ==
      "the cookie \"sid\", which identifies the client, has a backslash, which some services take "
      "for an escape; write %5C");
}

TEST_CASE("blanks at the ends of a query parameter do not make another client") {
  const auto expected = resolved(query("k"), {.query = "k=a b"});
  REQUIRE(expected);
  for (const char* text :
       {"k=+a+b", "k=a%20b%20%20", "k=%09%0a%0d%0b%00a+b%00", "k=a+b%1c%1d", "k=%1E%1fa+b",
        "k=a+b%C2%A0", "k=%c2%a0a+b", "k=%C2%85a+b", "k=a+b%E1%9A%80", "k=%E2%80%80a+b%E2%80%8A",
        "k=a+b%E2%80%A8+%E2%80%A9", "k=%E2%80%AFa+b%E2%81%9F", "k=a+b%E3%80%80",
        "k=%EF%BB%BFa+b%EF%BB%BF"}) {
    INFO(text);
    CHECK(resolved(query("k"), {.query = text}) == expected);
    CHECK(resolved(from_cookie("k"), {.fields = {{"Cookie", text}}}) ==
          resolved(from_cookie("k"), {.fields = {{"Cookie", "k=a+b"}}}));
  }
  for (const char* text : {"k=a+b%A0", "k=a+b%85", "k=a+b%C2", "k=a+b%C3%A0", "k=a+b%E2%80%8B",
                           "k=a+b%E2%80", "k=%80%80a+b"}) {
    INFO(text);
    CHECK(resolved(query("k"), {.query = text}) != expected);
  }
  CHECK(resolved(query("k"), {.query = "k=ab"}) != expected);
  CHECK(resolved(query("k"), {.query = "k=+%20"}) == std::nullopt);
  CHECK(resolved(query("k"), {.query = "k=%C2%A0+%E3%80%80"}) == std::nullopt);
}

TEST_CASE("the scheme of credentials does not count") {
  const auto of = [](const char* name, const char* value) {
    return resolved(header(name), {.fields = {{name, value}}});
  };
  const auto expected = of("Authorization", "Bearer aBc");
  REQUIRE(expected);
  for (const char* value :
       {"bearer aBc", "BEARER   aBc", "bEARER \t aBc", "Token aBc", "aBc", "Token token=aBc",
        "token  token=\"aBc\"", "Token token=\"aBc\", nonce=\"1\""}) {
    INFO(value);
    CHECK(of("authorization", value) == expected);
  }
  for (const char* value : {"Bearer abc", "BeareraBc", "Bearer", "Bearer aBc=", "Bearer xaBc"}) {
    INFO(value);
    CHECK(of("authorization", value) != expected);
  }
  const auto parameters = of("Authorization", "Digest a=1, b=\"c d\"");
  REQUIRE(parameters);
  CHECK(of("Authorization", "Digest a=1,b=\"c d\"") == parameters);
  CHECK(of("Authorization", "digest  a=1,  b=\"c d\" ") == parameters);
  CHECK(of("Authorization", "Digest a=1, b=\"cd\"") != parameters);
  CHECK(of("Authorization", "abc") != of("Authorization", "ABC"));
  CHECK(of("x-authorization", "bearer a") != of("x-authorization", "Bearer a"));
  REQUIRE(of("Proxy-Authorization", "basic YTpi"));
  CHECK(of("Proxy-Authorization", "basic YTpi") == of("Proxy-Authorization", "Basic YTpi"));
}

TEST_CASE("a segment of the path, or all of it, which is decoded already") {
  const auto seven = resolved(path("id"), {.parameters = {{"other", "8"}, {"id", "7"}}});
  REQUIRE(seven);
  CHECK(resolved(path("id"), {.parameters = {{"id", "%37"}}}) != seven);
  CHECK(resolved(path("id"), {.parameters = {{"id", "8"}}}) != seven);
  CHECK(resolved(path("id"), {.parameters = {{"id", "a+b"}}}) !=
        resolved(path("id"), {.parameters = {{"id", "a b"}}}));
  CHECK_FALSE(resolved(path("id"), {.parameters = {{"other", "7"}}}));
  CHECK_FALSE(resolved(path("id"), {.parameters = {{"id", ""}}}));
  CHECK(resolved(path(), {.path = "/a"}) != resolved(path(), {.path = "/%61"}));
  CHECK(resolved(path(), {.path = "/a"}) != resolved(path(), {.path = "/b"}));
}

TEST_CASE("a client address is its network, by family") {
  const auto of = [](const char* client, int v4 = 32, int v6 = 64) {
    return resolved(client_source, {.client = client, .ipv4_prefix = v4, .ipv6_prefix = v6});
  };
  CHECK(of("2001:db8::1") == of("2001:db8::ffff:1"));
  CHECK(of("2001:db8::1") != of("2001:db8:0:1::1"));
  CHECK(of("::ffff:192.0.2.1") == of("192.0.2.1"));
  CHECK(of("::ffff:192.0.2.1") != of("::ffff:192.0.2.2"));
  CHECK(of("64:ff9b::192.0.2.1") == of("192.0.2.1"));
  CHECK(of("192.0.2.1", 24) == of("192.0.2.2", 24));
  CHECK(of("192.0.2.1", 24) != of("192.0.3.1", 24));
  CHECK(of("::", 0, 0) != of("0.0.0.0", 0, 0));
}

TEST_CASE("any_of takes the first that is present, all_of needs all") {
  const Source any = any_of({header("a"), query("b")});
  CHECK(resolved(any, {.fields = {{"a", "1"}}, .query = "b=2"}) ==
        resolved(header("a"), {.fields = {{"a", "1"}}}));
  CHECK(resolved(any, {.query = "b=2"}) == resolved(query("b"), {.query = "b=2"}));
  CHECK_FALSE(resolved(any, {}));
  const Source all = all_of({header("a"), query("b")});
  CHECK(resolved(all, {.fields = {{"a", "1"}}, .query = "b=2"}));
  CHECK_FALSE(resolved(all, {.fields = {{"a", "1"}}}));
  CHECK_FALSE(resolved(all, {.query = "b=2"}));
  // parts found before an absent one have no effect
  CHECK(resolved(any_of({all, query("b")}), {.fields = {{"a", "1"}}, .query = "c=1&b=2"}) ==
        resolved(all, {.fields = {{"a", "1"}}, .query = "b=2"}));
  CHECK(resolved(any_of({all_of({header("a"), header("x")}), query("b")}),
                 {.fields = {{"a", "1"}}, .query = "b=2"}) ==
        resolved(query("b"), {.query = "b=2"}));
}

TEST_CASE("parts are delimited, and kinds never collide") {
  std::set<Hash128> seen;
  std::size_t made = 0;
  const auto add = [&](const Source& source, const Given& given) {
    const auto hash = resolved(source, given);
    REQUIRE(hash);
    seen.insert(*hash);
    ++made;
  };
  const Source both = all_of({header("a"), header("b")});
  add(both, {.fields = {{"a", "1_2"}, {"b", "3"}}});
  add(both, {.fields = {{"a", "1"}, {"b", "2_3"}}});
  add(both, {.fields = {{"a", "1_"}, {"b", "2_3"}}});
  add(both, {.fields = {{"a", "12"}, {"b", "3"}}});
  add(both, {.fields = {{"a", "1"}, {"b", "23"}}});
  add(all_of({header("a"), header("c")}), {.fields = {{"a", "1"}, {"c", "23"}}});
  add(all_of({header("a")}), {.fields = {{"a", "1"}}});
  add(all_of({all_of({header("a")})}), {.fields = {{"a", "1"}}});
  add(all_of({all_of({header("a")}), header("b")}), {.fields = {{"a", "1"}, {"b", "1"}}});
  add(all_of({all_of({header("a"), header("b")})}), {.fields = {{"a", "1"}, {"b", "1"}}});
  // one name and value, read from different places
  add(header("a"), {.fields = {{"a", "1"}}});
  add(query("a"), {.query = "a=1"});
  add(from_cookie("a"), {.fields = {{"cookie", "a=1"}}});
  add(path("a"), {.parameters = {{"a", "1"}}});
  add(path(), {.path = "a1"});
  add(header("a1"), {.fields = {{"a1", "1"}}});
  add(client_source, {});
  CHECK(seen.size() == made);
}

TEST_CASE("the hash depends on the key") {
  const Given given{.fields = {{"a", "1"}}};
  CHECK(resolved(header("a"), given) != resolved(header("a"), given, SipKey{.k0 = 1, .k1 = 3}));
}

TEST_CASE("long values are hashed whole") {
  const std::string value(10'000, 'x');
  const std::string other = value.substr(1) + 'y';
  CHECK(resolved(header("a"), {.fields = {{"a", value}}}) !=
        resolved(header("a"), {.fields = {{"a", other}}}));
  CHECK(resolved(header("a"), {.fields = {{"a", value}}}) ==
        resolved(header("a"), {.fields = {{"a", value}}}));
}

}  // namespace weir::identity::test
