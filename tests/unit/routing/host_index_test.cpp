#include "routing/host_index.hpp"

#include <set>
#include <string>

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

TEST_CASE("letter case does not change a hash, every other character does, in any position") {
  for (std::size_t size = 1; size < 26; ++size) {
    const std::string text(size, 'q');
    const std::uint64_t hash = folded_hash(text);
    for (std::size_t at = 0; at < size; ++at) {
      CAPTURE(size, at);
      std::string changed = text;
      changed[at] = 'Q';
      CHECK(folded_hash(changed) == hash);
      changed[at] = 'r';
      CHECK(folded_hash(changed) != hash);
    }
  }
  // characters that differ from one another by the bit of the case, and are no letters
  CHECK(folded_hash("[") != folded_hash("{"));
  CHECK(folded_hash("abcdefg@") != folded_hash("abcdefg`"));
}

TEST_CASE("texts of different lengths have different hashes") {
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 40; ++size)
    seen.insert(folded_hash(std::string(size, '\0')));
  CHECK(seen.size() == 40);
}

TEST_CASE("the characters before a hashed text make no difference") {
  const std::string longer = "xxxxxxxxabcdefghijk";
  for (std::size_t size = 0; size <= 11; ++size) {
    CAPTURE(size);
    CHECK(folded_hash(std::string_view(longer).substr(8, size)) ==
          folded_hash(std::string("abcdefghijk").substr(0, size)));
  }
}

}  // namespace
}  // namespace weir::routing
