#include <set>
#include <string>

#include "catch.hpp"
#include "unit/identity/resolving.hpp"

namespace weir::identity::test {

TEST_CASE("identities are described by where they come from") {
  CHECK(describe(client_source) == "client_address");
  CHECK(describe(header("x-api-key")) == "header x-api-key");
  CHECK(describe(query("k")) == "query k");
  CHECK(describe(from_cookie("sid")) == "cookie sid");
  CHECK(describe(claim("realm.tenant")) == "claim realm.tenant of idp");
  CHECK(describe(path()) == "path");
  CHECK(describe(path("id")) == "path id");
  CHECK(describe(any_of({header("a"), all_of({query("b"), client_source})})) ==
        "any of (header a, all of (query b, client_address))");
}

TEST_CASE("an ambiguity is described with the kind and the name of its source") {
  using Kind = Ambiguity::Kind;
  const auto of = [](Kind kind, const Source& source) {
    return describe(Ambiguity{.kind = kind, .source = &source});
  };
  CHECK(of(Kind::repeated, header("x-key")) ==
        "the header \"x-key\", which identifies the client, appears more than once");
  CHECK(of(Kind::repeated, query("k")) ==
        "the query parameter \"k\", which identifies the client, appears more than once");
  CHECK(of(Kind::repeated, from_cookie("sid")) ==
        "the cookie \"sid\", which identifies the client, appears more than once");
  CHECK(of(Kind::words, claim("sub")).starts_with("the header \"authorization\", which"));
  CHECK(of(Kind::look_alike, header("x-key")) ==
        "a header may be read as \"x-key\", which identifies the client; remove it, or write that "
        "name");
  CHECK(of(Kind::separator, query("k")).ends_with("write %3B"));
  CHECK(of(Kind::separator, from_cookie("k")).ends_with("write %2C"));
  CHECK(of(Kind::escape, from_cookie("k")).ends_with("write %5C"));
  CHECK(of(Kind::crowd, query("k")).find("more than 1000 parameters") != std::string::npos);
  CHECK(of(Kind::blank, from_cookie("k")).ends_with("write %20"));
  CHECK(of(Kind::quotes, from_cookie("k")).ends_with("write %22"));
  CHECK(of(Kind::encoding, header("Authorization")) ==
        "the header \"Authorization\", which identifies the client, has credentials that are not "
        "canonical Base64 (RFC 4648 section 4)");
}

TEST_CASE("no two kinds of ambiguity have the same description") {
  std::set<std::string> seen;
  const Source source = from_cookie("k");
  for (int kind = 0; kind <= static_cast<int>(Ambiguity::Kind::encoding); ++kind)
    seen.insert(describe(Ambiguity{static_cast<Ambiguity::Kind>(kind), &source}));
  CHECK(seen.size() == 8);
}

}  // namespace weir::identity::test
