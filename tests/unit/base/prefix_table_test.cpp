#include "base/prefix_table.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace weir {
namespace {

PrefixTable table_of_prefixes(std::initializer_list<const char*> texts) {
  std::vector<IpPrefix> prefixes;
  for (const char* const text : texts)
    prefixes.push_back(IpPrefix::parse(text).value());
  return PrefixTable(std::move(prefixes));
}

/// The longest prefix as text; empty: none.
std::string found(const PrefixTable& table, std::string_view address) {
  const IpAddress wanted = IpAddress::parse(address).value();
  const auto prefix = table.find(wanted);
  CHECK(table.contains(wanted) == prefix.has_value());
  return prefix ? prefix->to_string() : "";
}

TEST_CASE("an empty table contains nothing") {
  for (const PrefixTable& table : {PrefixTable(), table_of_prefixes({})}) {
    CHECK(found(table, "192.0.2.1").empty());
    CHECK(found(table, "::").empty());
    CHECK(found(table, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").empty());
    CHECK(table.size() == 0);
  }
}

TEST_CASE("the longest prefix counts") {
  const PrefixTable table = table_of_prefixes(
      {"10.1.2.3", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "2001:db8::/32", "2001:db8:1::/48"});
  struct Row {
    const char* address;
    const char* prefix;
  };
  const auto row = GENERATE(values<Row>({
      // Nested, and back outside.
      {"10.1.2.3", "10.1.2.3"},
      {"10.1.2.2", "10.1.2.0/24"},
      {"10.1.2.4", "10.1.2.0/24"},
      {"10.1.3.0", "10.1.0.0/16"},
      {"10.2.0.0", "10.0.0.0/8"},
      // The edges.
      {"9.255.255.255", ""},
      {"10.0.0.0", "10.0.0.0/8"},
      {"10.255.255.255", "10.0.0.0/8"},
      {"11.0.0.0", ""},
      {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"2001:db8::", "2001:db8::/32"},
      {"2001:db8:1:ffff:ffff:ffff:ffff:ffff", "2001:db8:1::/48"},
      {"2001:db8:2::", "2001:db8::/32"},
      {"2001:db9::", ""},
      // The same address in another notation (RFC 4291 section 2.5.5.2, RFC 6052).
      {"::ffff:10.1.2.3", "10.1.2.3"},
      {"64:ff9b::10.1.2.9", "10.1.2.0/24"},
  }));
  CAPTURE(row.address);
  CHECK(found(table, row.address) == row.prefix);
}

TEST_CASE("a prefix contains addresses of one family") {
  const PrefixTable v6 = table_of_prefixes({"::/0"});
  CHECK(found(v6, "192.0.2.1").empty());
  CHECK(found(v6, "::fffe:ffff:ffff") == "::/0");
  CHECK(found(v6, "::1:0:0:0") == "::/0");
  CHECK(found(v6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") == "::/0");

  const PrefixTable v4 = table_of_prefixes({"0.0.0.0/0"});
  CHECK(found(v4, "0.0.0.0") == "0.0.0.0/0");
  CHECK(found(v4, "255.255.255.255") == "0.0.0.0/0");
  CHECK(found(v4, "::").empty());
  CHECK(found(v4, "::1:0:0:0").empty());

  const PrefixTable both = table_of_prefixes({"::/0", "0.0.0.0/0", "255.255.255.255"});
  CHECK(found(both, "192.0.2.1") == "0.0.0.0/0");
  CHECK(found(both, "255.255.255.255") == "255.255.255.255");
  CHECK(found(both, "2001:db8::1") == "::/0");
}

TEST_CASE("a prefix that is listed twice counts once") {
  const PrefixTable table =
      table_of_prefixes({"192.0.2.0/24", "192.0.2.0/24", "::ffff:192.0.2.0/120"});
  CHECK(table.size() == 1);
  CHECK(table == table_of_prefixes({"192.0.2.0/24"}));
  CHECK_FALSE(table == table_of_prefixes({"192.0.2.0/25"}));
}

/// An address near others: few different bytes, so that random prefixes are nested and adjacent.
IpAddress random_address(std::mt19937& random) {
  static constexpr std::array<std::uint8_t, 5> values{0, 1, 0x7f, 0x80, 0xff};
  std::array<std::uint8_t, 16> bytes{};
  for (auto& byte : bytes)
    byte = values[random() % values.size()];
  if (random() % 2 == 0) return IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
  if (random() % 4 == 0) std::fill_n(bytes.begin(), 10, std::uint8_t{0});
  return IpAddress::v6(bytes);
}

TEST_CASE("a table finds what a search through all prefixes finds") {
  const unsigned seed = GENERATE(take(200, random(0U, 1U << 31U)));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<IpPrefix> prefixes;
  for (std::size_t left = random() % 40; left > 0; --left) {
    const IpAddress address = random_address(random);
    const int shortest = address.is_v4() ? 96 : 0;
    const int bits = shortest + static_cast<int>(random() % static_cast<unsigned>(129 - shortest));
    prefixes.push_back(IpPrefix::around(address, bits));
  }
  const PrefixTable table(prefixes);
  for (int i = 0; i < 200; ++i) {
    const IpAddress address = random_address(random);
    std::optional<IpPrefix> longest;
    for (const IpPrefix& prefix : prefixes) {
      if (prefix.contains(address) && (!longest || longest->bits() < prefix.bits()))
        longest = prefix;
    }
    CAPTURE(address.to_string());
    REQUIRE(table.find(address) == longest);
    REQUIRE(table.contains(address) == longest.has_value());
  }
}

}  // namespace
}  // namespace weir
