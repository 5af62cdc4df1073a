#include "routing/host_index.hpp"

#include "catch.hpp"

namespace weir::routing {
namespace {

using Number = HostIndex::Number;

TEST_CASE("a pattern has one number, in any letter case") {
  HostIndex index;
  const Number exact = index.add("a.example.com");
  const Number wildcard = index.add("*.example.com");
  CHECK(exact != HostIndex::any);
  CHECK(wildcard != HostIndex::any);
  CHECK(exact != wildcard);
  CHECK(index.add("A.Example.COM") == exact);
  CHECK(index.add("*.EXAMPLE.com") == wildcard);
  CHECK(index.add("example.com") != wildcard);
}

TEST_CASE("a host finds the most specific pattern, and the broader ones from there") {
  HostIndex index;
  const Number wide = index.add("*.com");
  const Number narrow = index.add("*.a.example.com");
  const Number middle = index.add("*.example.com");
  const Number exact = index.add("x.a.example.com");
  index.link();
  struct Row {
    const char* host;
    Number number;
  };
  for (const Row& row : {Row{"x.a.example.com", exact},
                         {"X.A.Example.Com.", exact},
                         {"y.a.example.com", narrow},
                         {"z.x.a.example.com", narrow},
                         {"a.example.com", middle},
                         {"b.example.com", middle},
                         {"1.2.3.b.example.com", middle},
                         {"example.com", wide},
                         {"com", HostIndex::any},
                         {".com", HostIndex::any},
                         {"b.example.org", HostIndex::any},
                         {"xcom", HostIndex::any}}) {
    CAPTURE(row.host);
    CHECK(index.find(row.host) == row.number);
  }
  CHECK(index.broader(exact) == narrow);
  CHECK(index.broader(narrow) == middle);
  CHECK(index.broader(middle) == wide);
  CHECK(index.broader(wide) == HostIndex::any);
  CHECK(index.broader(HostIndex::any) == HostIndex::any);
}

TEST_CASE("an index without patterns, or without wildcards, finds what it has") {
  HostIndex index;
  index.link();
  CHECK(index.find("a") == HostIndex::any);
  const Number exact = index.add("a");
  index.link();
  CHECK(index.find("a") == exact);
  CHECK(index.find("a.") == exact);
  CHECK(index.find("b.a") == HostIndex::any);
  CHECK(index.broader(exact) == HostIndex::any);
}

}  // namespace
}  // namespace weir::routing
