#include "base/ip_address.hpp"

#include <arpa/inet.h>
#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"

namespace weir {
namespace {

std::string shown(std::string_view text) {
  return IpAddress::parse(text).value().to_string();
}

TEST_CASE("addresses are formatted according to RFC 5952") {
  struct Row {
    const char* text;
    const char* canonical;
  };
  const Row rows[] = {
      {"192.0.2.1", "192.0.2.1"},
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      // section 4: no leading zeros, lower case, the longest run of two or more, the first of
      // equals
      {"2001:0db8::0001", "2001:db8::1"},
      {"2001:db8:aaaa:bbbb:cccc:DDDD:eeee:AAaa", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa"},
      {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"0:0:1:0:0:0:0:0", "0:0:1::"},
      {"1:0:0:0:0:0:0:1", "1::1"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(shown(row.text) == row.canonical);
  }
}

TEST_CASE("mapped and NAT64 addresses are IPv4, by bits and not by notation") {
  for (const char* text : {"192.0.2.1", "::ffff:192.0.2.1", "::FFFF:c000:0201",
                           "0:0:0:0:0:ffff:c000:201", "64:ff9b::192.0.2.1", "64:ff9b::c000:201"}) {
    INFO(text);
    const auto address = IpAddress::parse(text);
    REQUIRE(address);
    CHECK(address->is_v4());
    CHECK(*address == IpAddress::v4({192, 0, 2, 1}));
    CHECK(address->to_string() == "192.0.2.1");
    CHECK(address->masked(24, 0).to_string() == "192.0.2.0");
  }
  for (const char* text : {"::192.0.2.1", "::fffe:192.0.2.1", "64:ff9b:1::192.0.2.1",
                           "64:ff9b:0:0:0:1:c000:201", "1::ffff:1.2.3.4"}) {
    INFO(text);
    CHECK_FALSE(IpAddress::parse(text).value().is_v4());
  }
}

TEST_CASE("texts that are not addresses are refused") {
  for (const char* text : {"",
                           " ",
                           "1",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.256",
                           "1.2.3.-4",
                           "01.2.3.4",
                           "1.2.3.04",
                           "1.2.3.4 ",
                           " 1.2.3.4",
                           "1.2.3.4:80",
                           "1..2.3",
                           ".1.2.3",
                           "1.2.3.",
                           "0x1.2.3.4",
                           "1.2.3.4/8",
                           "1234567890",
                           "1.2.3.a",
                           ":",
                           ":::",
                           "::1::",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::",
                           "12345::",
                           "g::",
                           "[::1]",
                           "::1%eth0",
                           "::1%1",
                           "::01.2.3.4",
                           "::1.2.3",
                           "::1.2.3.256",
                           "::1.2.3.4:5",
                           "fe80::1/64",
                           "::1 ",
                           "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa"}) {
    INFO(text);
    CHECK_FALSE(IpAddress::parse(text));
  }
  CHECK_FALSE(IpAddress::parse(std::string_view{"::1\0", 4}));
  CHECK_FALSE(IpAddress::parse(std::string_view{"1.2.3.4\0", 8}));
}

TEST_CASE("masks keep the first bits") {
  const auto masked = [](const char* text, int v4, int v6) {
    return IpAddress::parse(text)->masked(v4, v6).to_string();
  };
  CHECK(masked("203.0.113.77", 32, 64) == "203.0.113.77");
  CHECK(masked("203.0.113.255", 25, 64) == "203.0.113.128");
  CHECK(masked("203.0.113.255", 0, 64) == "0.0.0.0");
  CHECK(masked("2001:db8:1:2:3:4:5:6", 32, 64) == "2001:db8:1:2::");
  CHECK(masked("2001:db8:1:ffff::", 32, 56) == "2001:db8:1:ff00::");
  CHECK(masked("2001:db8:1:2:3:4:5:6", 32, 128) == "2001:db8:1:2:3:4:5:6");
  CHECK(masked("ffff::1", 32, 0) == "::");
}

TEST_CASE("text and bits agree, both ways, with the C library") {
  const TestSeed seed;
  std::mt19937 random{seed};
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint8_t, 16> bytes{};
    for (auto& byte : bytes)
      byte = random() % 3 == 0 ? static_cast<std::uint8_t>(random()) : std::uint8_t{0};
    bytes[0] |= 0x20;  // neither mapped nor NAT64, nor what inet_ntop writes with a quad
    const IpAddress address = IpAddress::v6(bytes);
    char expected[INET6_ADDRSTRLEN];
    REQUIRE(inet_ntop(AF_INET6, bytes.data(), expected, sizeof expected) != nullptr);
    REQUIRE(address.to_string() == expected);
    REQUIRE(IpAddress::parse(expected) == address);
    const IpAddress quad = IpAddress::v4({bytes[1], bytes[2], bytes[3], bytes[4]});
    REQUIRE(IpAddress::parse(quad.to_string()) == quad);
  }
}

bool contains(const char* prefix, const char* address) {
  return IpPrefix::parse(prefix).value().contains(IpAddress::parse(address).value());
}

TEST_CASE("prefixes contain the addresses with their bits") {
  CHECK(contains("10.0.0.0/8", "10.255.255.255"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  CHECK(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
  CHECK(contains("::ffff:10.0.0.0/104", "10.1.2.3"));
  CHECK(contains("64:ff9b::/96", "203.0.113.1"));  // all of IPv4: docs/configuration.md
  CHECK_FALSE(contains("::ffff:10.0.0.0/104", "11.1.2.3"));
  CHECK(contains("192.0.2.1", "192.0.2.1"));
  CHECK_FALSE(contains("192.0.2.1", "192.0.2.0"));
  CHECK(contains("192.0.2.128/25", "192.0.2.255"));
  CHECK_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  CHECK(contains("2001:db8::/32", "2001:db8:ffff::1"));
  CHECK_FALSE(contains("2001:db8::/32", "2001:db9::"));
  CHECK(contains("::1", "::1"));
  CHECK_FALSE(contains("::1", "::2"));
}

TEST_CASE("a prefix of one family contains none of the other") {
  CHECK(contains("0.0.0.0/0", "255.1.2.3"));
  CHECK(contains("::/0", "ffff::"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  CHECK_FALSE(contains("::/0", "192.0.2.1"));
  CHECK_FALSE(contains("::/0", "::ffff:192.0.2.1"));
}

TEST_CASE("a prefix has a network and a number of fixed bits, of 128") {
  struct Row {
    const char* text;
    const char* shown;
    int bits;
  };
  const auto row = GENERATE(values<Row>({
      {"10.0.0.0/8", "10.0.0.0/8", 104},
      {"0.0.0.0/0", "0.0.0.0/0", 96},
      {"192.0.2.7", "192.0.2.7", 128},
      {"192.0.2.7/32", "192.0.2.7", 128},
      {"::ffff:192.0.2.0/120", "192.0.2.0/24", 120},
      {"2001:DB8:0::/32", "2001:db8::/32", 32},
      {"::/0", "::/0", 0},
      {"2001:db8::1", "2001:db8::1", 128},
  }));
  CAPTURE(row.text);
  const IpPrefix prefix = IpPrefix::parse(row.text).value();
  CHECK(prefix.to_string() == row.shown);
  CHECK(prefix.bits() == row.bits);
  CHECK(IpPrefix::around(prefix.network(), row.bits) == prefix);
}

TEST_CASE("a prefix around an address has its first bits") {
  const auto around = [](const char* address, int bits) {
    return IpPrefix::around(IpAddress::parse(address).value(), bits).to_string();
  };
  CHECK(around("192.0.2.7", 120) == "192.0.2.0/24");
  CHECK(around("192.0.2.7", 96) == "0.0.0.0/0");
  CHECK(around("2001:db8::7", 32) == "2001:db8::/32");
  CHECK(around("2001:db8::7", 0) == "::/0");
}

TEST_CASE("texts that are not prefixes are refused") {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08",
        "10.0.0.0/8/8", "10.0.0.0/8 ", "10.0.0.1/8", "10/8", "2001:db8::/129", "2001:db8::1/32",
        "2001:db8::/3x", "::ffff:0:0/90", "x", "10.0.0.0/0", "10.0.0.0/999999999999"}) {
    INFO(text);
    CHECK_FALSE(IpPrefix::parse(text));
  }
}

}  // namespace
}  // namespace weir
