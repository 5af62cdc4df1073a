#include "identity/identity.hpp"

#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "identity/parameters.hpp"
#include "unit/http/request_of.hpp"

namespace weir::identity {
namespace {

using http::NameValue;
using http::RequestOf;

constexpr SipKey key{.k0 = 1, .k1 = 2};

/// What a request is, for resolving identities from it.
struct Given {
  std::initializer_list<NameValue> fields{};
  std::string_view query{};
  std::string_view path = "/";
  std::vector<PathParameter> parameters{};
  const char* client = "192.0.2.1";
  int ipv4_prefix = 32;
  int ipv6_prefix = 64;
};

Resolution resolution(const Source& source, const Given& given, SipKey with = key) {
  RequestOf request{given.fields};
  request.view.path = given.path;
  request.view.query = given.query;
  const IpAddress client = IpAddress::parse(given.client).value();
  ClientAddressSettings settings;
  settings.ipv4_prefix = given.ipv4_prefix;
  settings.ipv6_prefix = given.ipv6_prefix;
  return resolve(source, {request.view, given.path, client, given.parameters, settings}, with);
}

/// The key, if there is one.
std::optional<Hash128> resolved(const Source& source, const Given& given, SipKey with = key) {
  const Resolution resolution = identity::resolution(source, given, with);
  if (resolution.state != Resolution::State::found) return std::nullopt;
  return resolution.key;
}

/// In words, or "clear".
std::string ambiguity(const Source& source, const Given& given) {
  const Resolution resolution = identity::resolution(source, given);
  if (resolution.state != Resolution::State::ambiguous) return "clear";
  return describe(resolution.ambiguity);
}

Source header(std::string name) {
  return {FromHeader{std::move(name)}};
}
Source query(std::string name, Repeated repeated = Repeated::refuse) {
  return {FromQuery{std::move(name), repeated}};
}
Source from_cookie(std::string name, Repeated repeated = Repeated::refuse) {
  return {FromCookie{std::move(name), repeated}};
}
Source path(std::string parameter = {}) {
  return {FromPath{std::move(parameter)}};
}
Source any_of(std::vector<Source> sources) {
  return {AnyOf{std::move(sources)}};
}
Source all_of(std::vector<Source> sources) {
  return {AllOf{std::move(sources)}};
}
const Source client_source{FromClientAddress{}};

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

TEST_CASE("a repeated query parameter is ambiguous, unless the first or the last counts") {
  for (const char* text : {"k=a&k=b", "k=a&k=a", "x=1&k=a&%6b=b", "k&k=a", "k=a&&k"}) {
    INFO(text);
    CHECK(ambiguity(query("k"), {.query = text}) ==
          "the query parameter \"k\", which identifies the client, appears more than once");
    const std::string_view given = text;
    CHECK(ambiguity(query("k", Repeated::first), {.query = given}) == "clear");
    CHECK(ambiguity(query("k", Repeated::last), {.query = given}) == "clear");
  }
  const auto a = resolved(query("k"), {.query = "k=a"});
  CHECK(resolved(query("k", Repeated::first), {.query = "k=a&k=b&k=c"}) == a);
  CHECK(resolved(query("k", Repeated::last), {.query = "k=c&k=b&k=a"}) == a);
  CHECK(resolved(query("k", Repeated::last), {.query = "k=a&k="}) == std::nullopt);
}

TEST_CASE("a query parameter under a name that services read as another is ambiguous") {
  for (const char* text :
       {"api.key=a", "api+key=a", "api%20key", "api[key=a", "API_KEY=a", "+api_key=a",
        "%20%09api_key=a", "api_key%00=a", "api_key%00b", "api_key[]=a", "api_key%5Bx%5D=a",
        "api.KEY[", "x=1&api%2Bkey=a", "api%2ekey", "%0Aapi_key"}) {
    INFO(text);
    const std::string expected =
        "a query parameter may be read as \"api_key\", which identifies the client; remove it, or "
        "write that name";
    CHECK(ambiguity(query("api_key"), {.query = text}) == expected);
    CHECK(ambiguity(query("api_key", Repeated::last),
                    {.query = std::string("api_key=1&") + text}) == expected);
  }
  for (const char* text :
       {"api-key=a", "api_keys=a", "api__key=a", "xapi_key", "api_ke", "api_key]=a", "", "+", "%00",
        "[]", "api_key+=a", "a=api_key", "api%5Fkey=a"}) {
    INFO(text);
    CHECK(ambiguity(query("api_key"), {.query = text}) == "clear");
  }
  CHECK(ambiguity(query("filter[key]"), {.query = "filter[key]=a&filter[x]=b&filter=c"}) ==
        "clear");
  CHECK(ambiguity(query("filter[key]"), {.query = "filter.key]=a"}) != "clear");
  CHECK(ambiguity(query("a.b"), {.query = "a_b=1"}) != "clear");
  CHECK(ambiguity(query("a.b"), {.query = "a.b=1"}) == "clear");
}

TEST_CASE("a query parameter beside a semicolon is ambiguous") {
  for (const char* text :
       {"a=1;k=a", "k=a;b", ";k=a", "x;k", "k=a;", "a=b&c=d;K[]=1", "a;%6b=1;c"}) {
    INFO(text);
    CHECK(ambiguity(query("k"), {.query = text}) ==
          "the query parameter \"k\", which identifies the client, has a \";\" before or in it, "
          "which some services take for a separator; write %3B");
  }
  for (const char* text : {"a=1;b=2&k=a", "k=a%3Bb", "a=k;b=k", ";;&;"}) {
    INFO(text);
    CHECK(ambiguity(query("k"), {.query = text}) == "clear");
  }
}

TEST_CASE("a cookie: the only one of its name over all lines, without quotes") {
  const auto expected = resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=abc"}}});
  REQUIRE(expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "a=b; sid=abc; other=sid"}}}) ==
        expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "a=b"}, {"cookie", "sid=\"abc\""}}}) ==
        expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "xsid=1;sid=abc;c"}}}) == expected);
  CHECK(resolved(from_cookie("sid"), {.fields = {{"Cookie", "a; sid = abc "}}}) == expected);
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
  const auto expected = of("sid=a b/c");
  REQUIRE(expected);
  for (const char* line : {"sid=a%20b%2Fc", "sid=%61+b/%63", "sid=\"a b/c\"",
                           "sid=\" a b/c%00%0a\"", "sid=%09a b/c+"}) {
    INFO(line);
    CHECK(of(line) == expected);
  }
  CHECK(of("sid=a b/C") != expected);
  CHECK(of("sid=%20") == std::nullopt);
  CHECK(
      ambiguity(from_cookie("sid"), {.fields = {{"Cookie", "sid=\"\\141\""}}}) ==
      "the cookie \"sid\", which identifies the client, has a backslash, which some services take "
      "for an escape; write %5C");
}

TEST_CASE("blanks at the ends of a query parameter do not make another client") {
  const auto expected = resolved(query("k"), {.query = "k=a b"});
  REQUIRE(expected);
  for (const char* text : {"k=+a+b", "k=a%20b%20%20", "k=%09%0a%0d%0b%00a+b%00"}) {
    INFO(text);
    CHECK(resolved(query("k"), {.query = text}) == expected);
  }
  CHECK(resolved(query("k"), {.query = "k=ab"}) != expected);
  CHECK(resolved(query("k"), {.query = "k=+%20"}) == std::nullopt);
}

TEST_CASE("the scheme of credentials is read in any case") {
  const auto of = [](const char* name, const char* value) {
    return resolved(header(name), {.fields = {{name, value}}});
  };
  const auto expected = of("Authorization", "Bearer aBc d");
  REQUIRE(expected);
  for (const char* value : {"bearer aBc d", "BEARER   aBc d", "bEARER \t aBc d"}) {
    INFO(value);
    CHECK(of("authorization", value) == expected);
  }
  for (const char* value :
       {"Bearer abc d", "Basic aBc d", "BeareraBc d", "Bearer", "Bearer aBc  d"}) {
    INFO(value);
    CHECK(of("authorization", value) != expected);
  }
  CHECK(of("Authorization", "abc") != of("Authorization", "ABC"));
  CHECK(of("x-authorization", "bearer a") != of("x-authorization", "Bearer a"));
  CHECK(of("Proxy-Authorization", "basic a") == of("Proxy-Authorization", "Basic a"));
}

TEST_CASE("a repeated cookie is ambiguous, unless the first or the last counts") {
  const std::string expected =
      "the cookie \"sid\", which identifies the client, appears more than once";
  for (const char* line : {"sid=a; sid=b", "sid=a;sid=a", "sid; sid=a", "a=b; sid=a; c=d; sid"}) {
    INFO(line);
    CHECK(ambiguity(from_cookie("sid"), {.fields = {{"Cookie", line}}}) == expected);
  }
  const Given lines{.fields = {{"Cookie", "sid=a; x=y"}, {"Cookie", "sid=b"}}};
  CHECK(ambiguity(from_cookie("sid"), lines) == expected);
  CHECK(resolved(from_cookie("sid", Repeated::first), lines) ==
        resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=a"}}}));
  CHECK(resolved(from_cookie("sid", Repeated::last), lines) ==
        resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=b"}}}));
}

TEST_CASE("a cookie under a name that services read as another is ambiguous") {
  const auto of = [](const char* line) {
    return ambiguity(from_cookie("s_id"), {.fields = {{"Cookie", line}}});
  };
  for (const char* line : {"s.id=a", "s id=a", "s%5Fid=a", "%73_id=a", "s[id=a", "s_id[]=a",
                           "s_id[x]=a", "s_id%00=a", "%20s_id=a", "a=b; s+id", "s_id=1; s.id=2"}) {
    INFO(line);
    CHECK(of(line) ==
          "a cookie may be read as \"s_id\", which identifies the client; remove it, or "
          "write that name");
  }
  for (const char* line : {"S_ID=a", "s-id=a", "s_ids=a", "xs_id=a", "s_id=a.b[c", "", "a=s_id"}) {
    INFO(line);
    CHECK(of(line) == "clear");
  }
  for (const char* line : {"a=b, s_id=c", "s_id=c,d", "a,s.id"}) {
    INFO(line);
    CHECK(of(line) ==
          "the cookie \"s_id\", which identifies the client, has a \",\" before or in "
          "it, which some services take for a separator; write %2C");
  }
  CHECK(of("a=1,2; s_id=c") == "clear");
}

TEST_CASE("a combination with an ambiguous part is ambiguous") {
  const Given given{.fields = {{"a", "1"}}, .query = "b=1&b=2"};
  const std::string expected =
      "the query parameter \"b\", which identifies the client, appears more than once";
  CHECK(ambiguity(any_of({header("a"), query("b")}), given) == expected);
  CHECK(ambiguity(any_of({query("b"), header("a")}), given) == expected);
  CHECK(ambiguity(all_of({header("a"), query("b")}), given) == expected);
  CHECK(ambiguity(all_of({header("x"), query("b")}), given) == expected);
  CHECK(ambiguity(any_of({header("a"), all_of({header("x"), any_of({query("b")})})}), given) ==
        expected);
  CHECK(ambiguity(any_of({header("a"), query("c")}), given) == "clear");
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

TEST_CASE("pitfall 18: a client address is its network, by family") {
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
  // what an absent alternative has found so far leaves no trace
  CHECK(resolved(any_of({all, query("b")}), {.fields = {{"a", "1"}}, .query = "c=1&b=2"}) ==
        resolved(all, {.fields = {{"a", "1"}}, .query = "b=2"}));
  CHECK(resolved(any_of({all_of({header("a"), header("x")}), query("b")}),
                 {.fields = {{"a", "1"}}, .query = "b=2"}) ==
        resolved(query("b"), {.query = "b=2"}));
}

TEST_CASE("pitfall 17: parts do not run into each other, and kinds do not mix") {
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

TEST_CASE("pitfall 21: the hash depends on the key") {
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

TEST_CASE("identities are described by where they come from") {
  CHECK(describe(client_source) == "client_address");
  CHECK(describe(header("x-api-key")) == "header x-api-key");
  CHECK(describe(query("k")) == "query k");
  CHECK(describe(from_cookie("sid")) == "cookie sid");
  CHECK(describe(path()) == "path");
  CHECK(describe(path("id")) == "path id");
  CHECK(describe(any_of({header("a"), all_of({query("b"), client_source})})) ==
        "any of (header a, all of (query b, client_address))");
}

}  // namespace
}  // namespace weir::identity
