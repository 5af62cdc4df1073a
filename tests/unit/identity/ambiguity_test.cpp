// Requests in which services read different identities.
#include "catch.hpp"
#include "unit/identity/resolving.hpp"

namespace weir::identity::test {

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

TEST_CASE("a query with more parameters than services read is ambiguous") {
  std::string text;
  for (int i = 0; i < 999; ++i)
    text += "a&";
  CHECK(ambiguity(query("k"), {.query = text + "k=v"}) == "clear");
  CHECK(ambiguity(query("k"), {.query = text + "b&k=v"}) ==
        "the query parameter \"k\", which identifies the client, is one of more than 1000 "
        "parameters, of which some services read only the first");
}

TEST_CASE("white space at the ends of a value makes no other client, that of Latin-1 included") {
  const auto plain = resolved(header("a"), {.fields = {{"a", "v"}}});
  REQUIRE(plain);
  for (const char* value : {"v\xa0", "\xa0\xa0v", "v\x85 \xa0"}) {
    CHECK(resolved(header("a"), {.fields = {{"a", value}}}) == plain);
    const std::string line = std::string("a=") + value;
    CHECK(resolved(from_cookie("a"), {.fields = {{"Cookie", line}}}) ==
          resolved(from_cookie("a"), {.fields = {{"Cookie", "a=v"}}}));
  }
  CHECK(resolved(header("a"), {.fields = {{"a", "v\xc2\xa0"}}}) == plain);
  CHECK(resolved(header("a"), {.fields = {{"a", "\xa0"}}}) == std::nullopt);
}

TEST_CASE("a query parameter under a name that services read as another is ambiguous") {
  for (const char* text : {"api.key=a",
                           "api+key=a",
                           "api%20key",
                           "api[key=a",
                           "API_KEY=a",
                           "+api_key=a",
                           "%20%09api_key=a",
                           "api_key%00=a",
                           "api_key%00b",
                           "api_key[]=a",
                           "api_key%5Bx%5D=a",
                           "api.KEY[",
                           "x=1&api%2Bkey=a",
                           "api%2ekey",
                           "%0Aapi_key",
                           "[api_key]=a",
                           "%5Bapi_key%5D=a",
                           "api_key]=a",
                           "api_key%5dx=a",
                           "]][[api.key]=a",
                           "[+api_key][x]=a",
                           "?api_key=a",
                           "%3F%3Fapi_key",
                           "\xa0"
                           "api_key=a",
                           "api_key\x85=a"}) {
    INFO(text);
    const std::string expected =
        "a query parameter may be read as \"api_key\", which identifies the client; remove it, or "
        "write that name";
    CHECK(ambiguity(query("api_key"), {.query = text}) == expected);
    CHECK(ambiguity(query("api_key", Repeated::last),
                    {.query = std::string("api_key=1&") + text}) == expected);
  }
  for (const char* text : {"api-key=a", "api_keys=a", "api__key=a", "xapi_key", "api_ke", "", "+",
                           "%00", "[]", "api_key+=a", "a=api_key", "api%5Fkey=a"}) {
    INFO(text);
    CHECK(ambiguity(query("api_key"), {.query = text}) == "clear");
  }
  CHECK(ambiguity(query("filter[key]"), {.query = "filter[key]=a&filter[x]=b&filter=c"}) ==
        "clear");
  for (const char* text :
       {"filter.key]=a", "[filter][key]=a", "filter[key=a", "filter][key]]=a", "filter[key][]=a"}) {
    INFO(text);
    CHECK(ambiguity(query("filter[key]"), {.query = text}) != "clear");
  }
  CHECK(ambiguity(query("a.b"), {.query = "a_b=1"}) != "clear");
  CHECK(ambiguity(query("a.b"), {.query = "a.b=1"}) == "clear");
}

TEST_CASE("a query parameter whose value some services take for the end of its name is ambiguous") {
  for (const char* text : {"k=a]=b", "k=]=", "k=a%5D=b", "k=a=b%5d=", "x=1&%6b=[k]=b"}) {
    INFO(text);
    CHECK(ambiguity(query("k", Repeated::first), {.query = text}) ==
          "a query parameter may be read as \"k\", which identifies the client; remove it, or "
          "write that name");
  }
  for (const char* text : {"k=a]", "k=a]b=", "k=a]%3D", "k=a=b", "x=a]=b&k=c", "k=%5D5D="}) {
    INFO(text);
    CHECK(ambiguity(query("k"), {.query = text}) == "clear");
  }
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

TEST_CASE("Basic credentials that are not canonical Base64 are ambiguous") {
  const auto of = [](const char* value) {
    return ambiguity(header("authorization"), {.fields = {{"Authorization", value}}});
  };
  for (const char* value :
       {"Basic dXNl!cjpwYXNz", "Basic dXNlcjpwYXN", "basic YTp=", "Basic YTo", "Basic YTp=",
        "BASIC YQ=", "Basic YR==", "Basic YQ===", "Basic dXNlcjpwYXNz=", "Basic dXNl cjpw",
        "Basic ====", "Basic YTo=YTo=", "Basic dXN-cjpw", "Basic dXN_cjpw"}) {
    INFO(value);
    CHECK(of(value) ==
          "the header \"authorization\", which identifies the client, has credentials that are not "
          "canonical Base64 (RFC 4648 section 4)");
  }
  for (const char* value : {"Basic dXNlcjpwYXNz", "basic  YTo=", "Basic YQ==", "Basic /+8=",
                            "Basic", "Bearer YR==", "Basics YR==", "YR=="}) {
    INFO(value);
    CHECK(of(value) == "clear");
  }
  CHECK(ambiguity(header("x-key"), {.fields = {{"X-Key", "Basic YR=="}}}) == "clear");
}

TEST_CASE("credentials of several words are ambiguous") {
  const auto of = [](std::string_view value, std::string name = "authorization") {
    return ambiguity(header(name), {.fields = {{name, value}}});
  };
  for (const char* value : {"Bearer mine x1",
                            "Bearer mine\tx",
                            "bearer a  b",
                            "Bearer\xa0mine",
                            "Bearer\x85mine",
                            "Bearer mine\xa0x",
                            "Bearer mine\xa0",
                            "\xa0mine",
                            "m\xc3\xbcller",
                            "Bearer mine,x",
                            "Bearer mine;x",
                            "Bearer \"mine\"",
                            "Bearer mi\\ne",
                            "Bearer token=mine",
                            "Bearer a=b=",
                            "Token mine x",
                            "Token mine,x",
                            "Token mine, x=1",
                            "Token mine;x",
                            "Token \"mine\"",
                            "Token a=b",
                            "Token a=b, token=c",
                            "Token token=a, token=b",
                            "token token=\"a\", x=\";token=b\"",
                            "Token token=a;b",
                            "Token token=\"a,b\"",
                            "Token token=a, b",
                            "Token TOKEN=a",
                            "Foo token=a, b",
                            "Token a=b c",
                            "Token a=b, c",
                            "Token a=\"b",
                            "Token a=\"b\\\"",
                            "Token a=1,",
                            "Token ,a=1",
                            "Digest a=\"Bearer mine,x\"",
                            "Digest xbearer mine",
                            "x Bearer mine"}) {
    INFO(value);
    CHECK(of(value) ==
          "the header \"authorization\", which identifies the client, has credentials that "
          "services read in different ways; expected a scheme and one word of ASCII characters, or "
          "a scheme and parameters (RFC 9110 section 11.4)");
  }
  for (const char* value :
       {"Bearer eyJh.eyJz-_.x~+/==", "Bearer 1|aBc", "Bearer sk:a%20!@#$&*()", "token ghp_1",
        "mine", "key=AAA:APA91-b", "SharedKey account:c2ln==", "AWS AKIA:c2ln=", "Negotiate YII=",
        "AWS4-HMAC-SHA256 Credential=a/b/s3/aws4_request, SignedHeaders=host;range, Signature=0f",
        "AWS4-HMAC-SHA256 Credential=a/b,SignedHeaders=host;range,Signature=0f",
        "Digest username=\"Mufasa x\", realm=\"a, b \\\" c\", nc=00000001, qop=auth",
        "Signature keyId=\"k\",headers=\"(request-target) host date\",signature=\"c2l=\"",
        "Token token=\"abc\", nonce=\"def\"", "SharedAccessSignature sr=a&sig=b%3D&se=1",
        "OAuth realm=\"\", oauth_version=\"1.0\"", "Bearer", "Bearer "}) {
    INFO(value);
    CHECK(of(value) == "clear");
  }
  CHECK(of("Bearer mine x", "proxy-authorization") != "clear");
  CHECK(of("mine x", "x-api-key") == "clear");
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
  const Given line{.fields = {{"Cookie", "sid=a; x=y; sid=b"}}};
  CHECK(resolved(from_cookie("sid", Repeated::first), line) ==
        resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=a"}}}));
  CHECK(resolved(from_cookie("sid", Repeated::last), line) ==
        resolved(from_cookie("sid"), {.fields = {{"Cookie", "sid=b"}}}));
}

TEST_CASE("a cookie on one of several Cookie lines is ambiguous") {
  const std::string expected =
      "the cookie \"sid\", which identifies the client, is in one of several Cookie fields, which "
      "services join in different ways; send one (RFC 6265 section 5.4)";
  for (const auto& given :
       {Given{.fields = {{"Cookie", "x=1"}, {"Cookie", "sid=a"}}},
        Given{.fields = {{"Cookie", "sid=a"}, {"cookie", "y"}}},
        Given{.fields = {{"Cookie", "sid=a"}, {"Host", "a"}, {"Cookie", ""}}}}) {
    CHECK(ambiguity(from_cookie("sid"), given) == expected);
    CHECK(ambiguity(from_cookie("sid", Repeated::first), given) == expected);
    CHECK(resolution(from_cookie("id"), given).state == Resolution::State::absent);
  }
}

TEST_CASE("a cookie on a malformed Cookie line is ambiguous") {
  const std::string expected =
      "the cookie \"sid\", which identifies the client, is in a Cookie field with a part that is "
      "not NAME=VALUE, of which some services read no cookie";
  for (const char* line : {"sid=r1;x", ";;sid=A", "%;sid=A", "; sid=A", "sid=A; ;a=b", "sid=A; =b",
                           "sid=A; =", "x; sid=A"}) {
    INFO(line);
    const Given given{.fields = {{"Cookie", line}}};
    CHECK(ambiguity(from_cookie("sid"), given) == expected);
    CHECK(ambiguity(from_cookie("sid", Repeated::last), given) == expected);
    CHECK(ambiguity({FromCookie{.name = "sid", .malformed = Malformed::accept}}, given) == "clear");
    CHECK(resolution(from_cookie("id"), given).state == Resolution::State::absent);
  }
  for (const char* line : {"sid=A;", "sid=A; ", "a=; sid=A", "a=b=c; sid=A", " sid=A;a=b ;"}) {
    INFO(line);
    CHECK(ambiguity(from_cookie("sid"), {.fields = {{"Cookie", line}}}) == "clear");
  }
}

TEST_CASE("a cookie among more than services read is ambiguous") {
  std::string line;
  for (int i = 0; i < 999; ++i)
    line += "a=1;";
  CHECK(ambiguity(from_cookie("k"), {.fields = {{"Cookie", line + "k=v"}}}) == "clear");
  line += "a=1;";
  CHECK(ambiguity(from_cookie("k"), {.fields = {{"Cookie", line + "k=v"}}}) ==
        "the cookie \"k\", which identifies the client, is one of more than 1000 cookies, of which "
        "some services read only the first");
  CHECK(resolution(from_cookie("b"), {.fields = {{"Cookie", line + "k=v"}}}).state ==
        Resolution::State::absent);
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

TEST_CASE("a cookie beside a blank is ambiguous") {
  const auto of = [](const char* line) {
    return ambiguity(from_cookie("sid"), {.fields = {{"Cookie", line}}});
  };
  for (const char* line :
       {"x=1 sid=mine", "x=1\tsid=mine", "x=1 sid = mine", "x sid", "x=\"y sid=mine\"",
        "sid=mine x=1", "sid=mine secure", "sid=mine\t1", "x=1 \t sid=a; sid=b",
        "sid=a; x=1 sid.=b; x=1 sid[]=b", "a=b; x=1 %73id=1"}) {
    INFO(line);
    CHECK(
        of(line) ==
        "the cookie \"sid\", which identifies the client, has a blank before or in it, which some "
        "services take for a separator; write %20");
  }
  for (const char* line : {"a=1; b=\"x y\"; sid=7", "a=b c; sid=7; d=e f",
                           "a = b ; sid = 7 ; c=", "sid=\"x y\"; a=b", "a=xsid sids", "a=b c"}) {
    INFO(line);
    CHECK(of(line) == "clear");
  }
}

TEST_CASE("a cookie behind quotes that are open is ambiguous") {
  const auto of = [](const char* line) {
    return ambiguity(from_cookie("sid"), {.fields = {{"Cookie", line}}});
  };
  for (const char* line :
       {"x=\"; sid=random; \" sid=mine", "x=\"; sid=random; y=\"", "x= \"a; b=c; sid=random",
        "x=\"a\\\"; sid=random; \"", "x=\"a\" y=\"; sid=random; \"", "sid=\"mine", "sid=\"mine\"x",
        "sid=a\"b", "sid=\"a\"b\"", "sid=\"", "x=\"a\\; sid=random"}) {
    INFO(line);
    CHECK(of(line) ==
          "the cookie \"sid\", which identifies the client, has a \" before or in it that does not "
          "end in the same cookie; write %22");
  }
  for (const char* line :
       {"a=\"1\"; sid=7", "a=\"[\\\"x\\\"\\054]\"; sid=7", "a={\"b\":1,\"c\":\"=\"}; sid=7",
        "a=5\"; sid=7", "sid=7; a=\"b", "a=\"b; c=\"", "a=\"\"; sid=7"}) {
    INFO(line);
    CHECK(of(line) == "clear");
  }
  CHECK(ambiguity(from_cookie("sid"),
                  {.fields = {{"Cookie", "x=\"a"}, {"Cookie", "sid=random"}}}) != "clear");
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

}  // namespace weir::identity::test
