#include "http/proxy_protocol.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::http {
namespace {

using HeaderState = ProxyHeader::State;
using namespace std::string_literals;

const std::string signature = "\r\n\r\n\0\r\nQUIT\n"s;

std::string v2(std::uint8_t command, std::uint8_t family, const std::string& rest) {
  return signature + static_cast<char>(command) + static_cast<char>(family) +
         static_cast<char>(rest.size() >> 8) + static_cast<char>(rest.size() & 0xff) + rest;
}

const std::string v4_addresses = "\xc0\x00\x02\x01\xc6\x33\x64\x02\x1f\x90\x00\x50"s;
const std::string v6_addresses =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"s
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x08\x1f\x90\x00\x50"s;

std::string source_of(const std::string& data) {
  const ProxyHeader header = parse_proxy_header(data);
  if (header.state == HeaderState::incomplete) return "incomplete";
  if (header.state == HeaderState::malformed) return "malformed";
  if (header.size != data.size()) return "size " + std::to_string(header.size);
  return header.source ? header.source->to_string() : "the peer";
}

}  // namespace

TEST_CASE("PROXY headers of version 1") {
  struct Row {
    std::string line;
    std::string source;
  };
  const Row rows[] = {
      // The examples of the specification, sections 2.1 and 2.3.
      {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"},
      {"PROXY TCP6 ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", "malformed"},
      {"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {"PROXY UNKNOWN\r\n", "the peer"},
      {"PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
       "the peer"},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n", "192.168.0.1"},
      {"PROXY TCP6 2001:db8::7 2001:db8::8 0 0\r\n", "2001:db8::7"},
      {"PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1"},
      // Anything else is malformed.
      {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\rx", "malformed"},
      {"PROXY  TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "malformed"},
      {"PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n", "malformed"},
      {"PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n", "malformed"},
      {"PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n", "malformed"},
      {"PROXY TCP4 2001:db8::7 2001:db8::8 1 2\r\n", "malformed"},
      {"PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n", "malformed"},
      {"PROXY TCP5 192.0.2.1 192.0.2.2 1 2\r\n", "malformed"},
      {"PROXY UNKNOWNS\r\n", "malformed"},
      {"PROXY \r\n", "malformed"},
      {"proxy UNKNOWN\r\n", "malformed"},
      {"PROXY UNKNOWN" + std::string(93, 'x'), "incomplete"},
      {"PROXY UNKNOWN" + std::string(94, 'x'), "malformed"},
      {"PROXY UNKNOWN " + std::string(92, 'x') + "\r\n", "malformed"},
      {"PROXY UNKNOWN " + std::string(91, 'x') + "\r\n", "the peer"},
      {"GET / HTTP/1.1\r\n\r\n", "malformed"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CHECK(source_of(row.line) == row.source);
  }
}

TEST_CASE("PROXY headers of version 2") {
  struct Row {
    std::string what;
    std::string header;
    std::string source;
  };
  const Row rows[] = {
      {"TCP over IPv4", v2(0x21, 0x11, v4_addresses), "192.0.2.1"},
      {"TCP over IPv6", v2(0x21, 0x21, v6_addresses), "2001:db8::7"},
      {"LOCAL", v2(0x20, 0x00, ""), "the peer"},
      {"LOCAL with addresses", v2(0x20, 0x11, v4_addresses), "the peer"},
      {"LOCAL with too few bytes for them", v2(0x20, 0x11, "x"), "the peer"},
      {"unspecified", v2(0x21, 0x00, "whatever"), "the peer"},
      {"datagrams", v2(0x21, 0x12, v4_addresses), "the peer"},
      {"a unix socket", v2(0x21, 0x31, std::string(216, '\0')), "the peer"},
      {"an extension", v2(0x21, 0x11, v4_addresses + "\x04\0\3abc"s), "192.0.2.1"},
      {"two extensions", v2(0x21, 0x11, v4_addresses + "\x04\0\0\x01\0\2h1"s), "192.0.2.1"},
      {"a checksum", v2(0x21, 0x11, v4_addresses + "\x03\0\4\x92\xe6\xdb\x8f"s), "192.0.2.1"},
      {"as large as we read", v2(0x21, 0x00, std::string(4080, 'x')), "the peer"},
      // Anything else is malformed.
      {"version 1 in binary", v2(0x11, 0x11, v4_addresses), "malformed"},
      {"an unknown command", v2(0x22, 0x11, v4_addresses), "malformed"},
      {"an unknown family", v2(0x21, 0x41, v4_addresses), "malformed"},
      {"an unknown transport", v2(0x21, 0x13, v4_addresses), "malformed"},
      {"too short for its addresses", v2(0x21, 0x21, v4_addresses), "malformed"},
      {"half an extension", v2(0x21, 0x11, v4_addresses + "\x04\0"s), "malformed"},
      {"an extension beyond the end", v2(0x21, 0x11, v4_addresses + "\x04\0\2x"s), "malformed"},
      {"a wrong checksum", v2(0x21, 0x11, v4_addresses + "\x03\0\4\0\0\0\0"s), "malformed"},
      {"a checksum of two bytes", v2(0x21, 0x11, v4_addresses + "\x03\0\2\0\0"s), "malformed"},
      {"too large", v2(0x21, 0x00, std::string(4081, 'x')), "malformed"},
      {"a broken signature", "\r\n\r\n\0\r\nQUIX"s, "malformed"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(source_of(row.header) == row.source);
  }
}

TEST_CASE("a PROXY header is the same in any pieces, and ends at its own length") {
  const std::string headers[] = {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
                                 v2(0x21, 0x11, v4_addresses + "\x04\0\3abc"s), v2(0x20, 0x00, "")};
  for (const std::string& header : headers) {
    const std::string stream = header + "PROXY UNKNOWN\r\n";
    for (std::size_t arrived = 0; arrived <= stream.size(); ++arrived) {
      CAPTURE(header, arrived);
      const ProxyHeader found = parse_proxy_header(std::string_view(stream).substr(0, arrived));
      REQUIRE(found.state ==
              (arrived < header.size() ? HeaderState::incomplete : HeaderState::complete));
      if (found.state == HeaderState::complete) CHECK(found.size == header.size());
    }
  }
}

}  // namespace weir::http
