#include "identity/client_address.hpp"

#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"
#include "unit/http/request_of.hpp"

namespace weir::identity {
namespace {

using Header = ClientAddressOptions::Header;
using Lines = std::vector<std::string_view>;

ClientAddressOptions options_for(Header header, std::string name = "x-forwarded-for") {
  return {.trusted_proxies = {IpPrefix::parse("10.0.0.0/8").value(),
                              IpPrefix::parse("2001:db8:1::/48").value()},
          .header = header,
          .header_name = std::move(name)};
}

std::string client(const ClientAddressOptions& options, const char* peer, std::string_view name,
                   const Lines& lines) {
  std::vector<http::FieldView> fields;
  for (const auto line : lines)
    fields.push_back(http::fields_of({{name, line}})[0]);
  http::RequestView request;
  request.fields = fields;
  return client_address(options, IpAddress::parse(peer).value(), request).to_string();
}

std::string by_x_forwarded_for(const Lines& lines, const char* peer = "10.0.0.1") {
  return client(options_for(Header::x_forwarded_for), peer, "X-Forwarded-For", lines);
}

std::string by_forwarded(const Lines& lines, const char* peer = "10.0.0.1") {
  return client(options_for(Header::forwarded), peer, "Forwarded", lines);
}

TEST_CASE("without trusted proxies the peer is the client") {
  CHECK(client({}, "10.0.0.1", "X-Forwarded-For", {"1.1.1.1"}) == "10.0.0.1");
  CHECK(by_x_forwarded_for({"1.1.1.1"}, "192.0.2.9") == "192.0.2.9");
  CHECK(by_x_forwarded_for({"1.1.1.1"}, "2001:db8:2::1") == "2001:db8:2::1");
}

TEST_CASE("X-Forwarded-For is walked from the right, over trusted proxies only") {
  struct Row {
    Lines lines;
    const char* client;
  };
  const Row rows[] = {
      {{}, "10.0.0.1"},
      {{"1.1.1.1"}, "1.1.1.1"},
      // what the client wrote itself is on the left
      {{"6.6.6.6, 1.1.1.1"}, "1.1.1.1"},
      {{"6.6.6.6, 1.1.1.1, 10.0.0.2"}, "1.1.1.1"},
      {{"6.6.6.6,10.0.0.3,1.1.1.1,10.0.0.2"}, "1.1.1.1"},
      {{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
      // several lines are one list
      {{"6.6.6.6, 1.1.1.1", "10.0.0.2"}, "1.1.1.1"},
      {{"6.6.6.6", "1.1.1.1"}, "1.1.1.1"},
      {{"1.1.1.1", "10.0.0.3", "10.0.0.2"}, "1.1.1.1"},
      // never past an entry that is not an address
      {{"6.6.6.6, garbage"}, "10.0.0.1"},
      {{"6.6.6.6, unknown, 10.0.0.2"}, "10.0.0.2"},
      {{"6.6.6.6", "garbage", "10.0.0.2"}, "10.0.0.2"},
      {{"6.6.6.6, 1.1.1.1;10.0.0.2"}, "10.0.0.1"},
      {{"6.6.6.6 10.0.0.2"}, "10.0.0.1"},
      // empty elements count as none
      {{"1.1.1.1,, ,10.0.0.2,"}, "1.1.1.1"},
      {{"1.1.1.1", "", ","}, "1.1.1.1"},
      {{""}, "10.0.0.1"},
      // with ports and brackets
      {{"1.1.1.1:1234"}, "1.1.1.1"},
      {{"[2001:db8:2::7]:1234"}, "2001:db8:2::7"},
      {{"[2001:db8:2::7]"}, "2001:db8:2::7"},
      {{"2001:db8:2::7, 2001:db8:1::1"}, "2001:db8:2::7"},
      {{"1.1.1.1, ::ffff:10.0.0.2"}, "1.1.1.1"},
      {{"::ffff:1.1.1.1"}, "1.1.1.1"},
  };
  for (const Row& row : rows) {
    INFO((row.lines.empty() ? "no line" : row.lines[0]));
    CHECK(by_x_forwarded_for(row.lines) == row.client);
  }
  CHECK(by_x_forwarded_for({"1.1.1.1"}, "::ffff:10.0.0.1") == "1.1.1.1");
}

TEST_CASE("Forwarded is walked like a list, only its `for` counts (RFC 7239)") {
  struct Row {
    Lines lines;
    const char* client;
  };
  const Row rows[] = {
      // the examples of sections 4, 6.3 and 7.1
      {{"for=\"_gazonk\""}, "10.0.0.1"},
      {{"For=\"[2001:db8:cafe::17]:4711\""}, "2001:db8:cafe::17"},
      {{"for=192.0.2.60;proto=http;by=203.0.113.43"}, "192.0.2.60"},
      {{"for=192.0.2.43, for=198.51.100.17"}, "198.51.100.17"},
      {{"for=_hidden, for=_SEVKISEK"}, "10.0.0.1"},
      {{"for=192.0.2.43,for=\"[2001:db8:cafe::17]\",for=unknown"}, "10.0.0.1"},
      {{"for=192.0.2.43", "for=10.0.0.7, for=unknown"}, "10.0.0.1"},
      // only `for` counts, and it may stand anywhere
      {{"by=1.1.1.1;for=2.2.2.2;host=\"a,b;for=6.6.6.6\""}, "2.2.2.2"},
      {{"proto=https;FOR=\"2.2.2.2:80\""}, "2.2.2.2"},
      {{"for=2.2.2.2, proto=https"}, "10.0.0.1"},
      {{"for=2.2.2.2, for=10.0.0.2;by=_x"}, "2.2.2.2"},
      {{"for=2.2.2.2", "for=10.0.0.2"}, "2.2.2.2"},
      {{"for=\"\\2.2.2.2\""}, "2.2.2.2"},
      {{"for=\"2.2.2.2:_port\""}, "2.2.2.2"},
      {{"for=2.2.2.2 ; proto=http;"}, "2.2.2.2"},
      // malformed elements end the walk
      {{"for=6.6.6.6;for=2.2.2.2"}, "10.0.0.1"},
      {{"for=6.6.6.6, for"}, "10.0.0.1"},
      {{"for=6.6.6.6, for="}, "10.0.0.1"},
      {{"for=6.6.6.6, =2.2.2.2"}, "10.0.0.1"},
      {{"for=6.6.6.6, for=\"2.2.2.2\"x"}, "10.0.0.1"},
      {{"for=6.6.6.6, for =2.2.2.2"}, "10.0.0.1"},
      {{"6.6.6.6, 2.2.2.2"}, "10.0.0.1"},
      // a quote the client left open does not hide what the proxy appended
      {{"for=6.6.6.6;x=\", for=2.2.2.2"}, "2.2.2.2"},
      {{"for=\", for=2.2.2.2;by=\"[2001:db8::1]\""}, "2.2.2.2"},
      {{"for=6.6.6.6;x=\"\\, for=\"2.2.2.2:80\""}, "2.2.2.2"},
      {{"for=6.6.6.6;x=\", for=10.0.0.2"}, "10.0.0.2"},
  };
  for (const Row& row : rows) {
    INFO(row.lines[0]);
    CHECK(by_forwarded(row.lines) == row.client);
  }
}

TEST_CASE("a single-address field is used from trusted peers, if it appears once") {
  const auto options = options_for(Header::single, "X-Real-IP");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {"1.1.1.1"}) == "1.1.1.1");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {"1.1.1.1:99"}) == "1.1.1.1");
  CHECK(client(options, "192.0.2.9", "x-real-ip", {"1.1.1.1"}) == "192.0.2.9");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {}) == "10.0.0.1");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {"1.1.1.1, 2.2.2.2"}) == "10.0.0.1");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {"1.1.1.1", "1.1.1.1"}) == "10.0.0.1");
  CHECK(client(options, "10.0.0.1", "x-real-ip", {"unknown"}) == "10.0.0.1");
  CHECK(client(options, "10.0.0.1", "x-forwarded-for", {"1.1.1.1"}) == "10.0.0.1");
}

TEST_CASE("a field other than the configured one is not read") {
  CHECK(client(options_for(Header::x_forwarded_for), "10.0.0.1", "Forwarded", {"for=1.1.1.1"}) ==
        "10.0.0.1");
  CHECK(client(options_for(Header::forwarded), "10.0.0.1", "X-Forwarded-For", {"1.1.1.1"}) ==
        "10.0.0.1");
}

TEST_CASE("the entry of the proxy is found after any text of the client") {
  const TestSeed seed;
  std::mt19937 random{seed};
  constexpr std::string_view alphabet = "for=\"\"\\\\,,;; 6.[]:\txX_-";
  for (int i = 0; i < 20'000; ++i) {
    std::string forged(random() % 24, ' ');
    for (char& c : forged)
      c = alphabet[random() % alphabet.size()];
    CAPTURE(forged);
    REQUIRE(by_x_forwarded_for({forged + ", 1.1.1.1"}) == "1.1.1.1");
    REQUIRE(by_forwarded({forged + ", for=1.1.1.1;proto=http"}) == "1.1.1.1");
    REQUIRE(by_forwarded({forged + ", for=\"[2001:db8:2::7]:80\""}) == "2001:db8:2::7");
    REQUIRE(by_forwarded({forged, "for=1.1.1.1"}) == "1.1.1.1");
  }
}

}  // namespace
}  // namespace weir::identity
