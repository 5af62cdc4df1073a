#include "base/prefix_list.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir {
namespace {

/// The prefixes, then the problems as LINE: MESSAGE up to its first comma.
std::vector<std::string> parsed(const std::string& text) {
  const PrefixList list = parse_prefix_list(text);
  std::vector<std::string> all;
  for (const IpPrefix& prefix : list.prefixes)
    all.push_back(prefix.to_string());
  for (const auto& problem : list.problems)
    all.push_back(std::to_string(problem.line) + ": " +
                  problem.message.substr(0, problem.message.find(',')));
  return all;
}

using Texts = std::vector<std::string>;

const std::string expected = "expected an address or a prefix whose host bits are zero";

TEST_CASE("a list has one address or prefix a line") {
  struct Row {
    std::string text;
    Texts parsed;
  };
  const auto row = GENERATE(values<Row>({
      {"", {}},
      {"\n\n", {}},
      {"192.0.2.0/24", {"192.0.2.0/24"}},
      {"192.0.2.0/24\n2001:db8::/32\n192.0.2.7\n", {"192.0.2.0/24", "2001:db8::/32", "192.0.2.7"}},
      // Comments, blanks, line ends of Windows, a byte order mark.
      {"# none\n  # none\n#\n", {}},
      {"192.0.2.7# office\n\t2001:db8::7 \t# office # again\n", {"192.0.2.7", "2001:db8::7"}},
      {"\xef\xbb\xbf"
       "192.0.2.7\r\n\r\n192.0.2.8\r\n",
       {"192.0.2.7", "192.0.2.8"}},
      // Other notations of IPv4 addresses.
      {"::ffff:192.0.2.0/120\n64:ff9b::192.0.2.7\n", {"192.0.2.0/24", "192.0.2.7"}},
      // Problems: every one, and the rest is parsed.
      {"192.0.2.1/24", {"1: " + expected}},
      {"2001:db8::1/32", {"1: " + expected}},
      {"192.0.2.0/33\n192.0.2.7\n\n10.0.0.0/08\n",
       {"192.0.2.7", "1: " + expected, "4: " + expected}},
      {"192.0.2.7 192.0.2.8", {"1: " + expected}},
      {"192.0.2.7, 192.0.2.8", {"1: " + expected}},
      {"192.0.2.7-192.0.2.9", {"1: " + expected}},
      {"example.com", {"1: " + expected}},
      {"fe80::1%eth0", {"1: " + expected}},
      {std::string("192.0.2.7\0", 10), {"1: " + expected}},
      {"192.0.2.7\r192.0.2.8", {"1: " + expected}},
  }));
  CAPTURE(row.text);
  CHECK(parsed(row.text) == row.parsed);
}

TEST_CASE("the problems of a list are bounded and show no text of the file") {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "s3cr3t\n";
  const PrefixList list = parse_prefix_list(text);
  CHECK(list.problems.size() == 10);
  CHECK(list.omitted == 990);
  for (const auto& problem : list.problems)
    CHECK(problem.message.find("s3cr3t") == std::string::npos);
}

TEST_CASE("a list has at most a million prefixes") {
  std::string text;
  for (std::size_t i = 0; i < most_listed_prefixes; ++i)
    text += "::\n";
  CHECK(parse_prefix_list(text).problems.empty());
  const PrefixList list = parse_prefix_list(text + "# one more:\n::1\n::2\n");
  REQUIRE(list.problems.size() == 1);
  CHECK(list.problems[0].line == most_listed_prefixes + 2);
  CHECK(list.problems[0].message == "more than 1000000 addresses; combine them into prefixes");
  CHECK(list.omitted == 0);
}

}  // namespace
}  // namespace weir
