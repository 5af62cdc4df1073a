// Values that are written as texts, also those of combinations, have the key of requests with them.
#include "identity/written_key.hpp"

#include <array>

#include "catch.hpp"
#include "unit/identity/resolving.hpp"

namespace weir::identity::test {
namespace {

using Values = std::vector<std::string_view>;

const ClientAddressOptions whole_addresses{};

std::vector<WrittenKey> written(const Source& source, const Values& values) {
  return written_keys(source, values, {.client = whole_addresses}, key);
}

std::vector<std::string> sources(const Source& source, const Values& values) {
  std::vector<std::string> found;
  for (const WrittenKey& one : written(source, values))
    found.push_back(one.source);
  return found;
}

Hash128 claimed(jwt::ClaimKind kind, std::string text) {
  return *key_of_claim("idp", "sub", {.kind = kind, .text = std::move(text)}, key);
}

}  // namespace

TEST_CASE("the parts of a combination are written in their order") {
  const Source both = all_of({header("x-tenant"), path("id")});
  const auto expected =
      resolved(both, {.fields = {{"X-Tenant", "blue"}}, .parameters = {{"id", "7"}}});
  CHECK(written(both, {"blue", "7"}) ==
        std::vector{WrittenKey{.key = *expected, .source = "header x-tenant + path id"}});
  CHECK(written(both, {"7", "blue"})[0].key != *expected);
  CHECK(written(both, {"blue"}).empty());
  CHECK(written(both, {"blue", "7", "8"}).empty());
  CHECK(written(both, {}).empty());
  CHECK(written(both, {"blue", ""}).empty());
}

TEST_CASE("each alternative within a combination is a way of its own") {
  const Source nested = all_of({any_of({header("a"), query("b")}), any_of({query("c"), path()})});
  CHECK(sources(nested, {"1", "/2"}) ==
        std::vector<std::string>{"header a + query c", "header a + path", "query b + query c",
                                 "query b + path"});
  CHECK(written(nested, {"1", "/2"})[3].key ==
        resolved(nested, {.query = "b=1", .path = "/2"}).value());
  const Source lists = any_of({header("a"), all_of({header("b"), header("c")})});
  CHECK(sources(lists, {"1"}) == std::vector<std::string>{"header a"});
  CHECK(sources(lists, {"1", "2"}) == std::vector<std::string>{"header b + header c"});
  CHECK(sources(any_of({client_source, header("a")}), {"alice"}) ==
        std::vector<std::string>{"header a"});
}

TEST_CASE("a claim that reads as a number or a boolean may be one") {
  using Kind = jwt::ClaimKind;
  CHECK(written(claim("sub"), {"alice"}) ==
        std::vector{WrittenKey{.key = claimed(Kind::text, "alice"), .source = "claim sub of idp"}});
  const std::vector<WrittenKey> number{
      {.key = claimed(Kind::text, "5.0"), .source = "claim sub of idp"},
      {.key = claimed(Kind::number, "5"), .source = "claim sub of idp (a number)"}};
  CHECK(written(claim("sub"), {"5.0"}) == number);
  CHECK(written(claim("sub"), {"true"})[1] == WrittenKey{.key = claimed(Kind::boolean, "true"),
                                                         .source = "claim sub of idp (a boolean)"});
  for (const char* const only_text : {"null", "[1]", "\"a\"", "01", " 5 "})
    CHECK(written(claim("sub"), {only_text}).front().key == claimed(Kind::text, only_text));
  CHECK(written(claim("sub"), {"01"}).size() == 1);
  CHECK(written(claim("sub"), {""}).empty());
}

TEST_CASE("the ways are bounded") {
  const Source four = any_of({header("a"), header("b"), header("c"), header("d")});
  const Source many = all_of({four, four, four, four, four, four, four, four});
  CHECK(written(many, {"1", "2", "3", "4", "5", "6", "7", "8"}).size() == 256);
}

}  // namespace weir::identity::test
