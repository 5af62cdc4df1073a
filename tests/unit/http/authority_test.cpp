#include "http/authority.hpp"

#include <string>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

TEST_CASE("an authority is a host and perhaps a port") {
  struct Row {
    const char* text;
    const char* host;
    const char* port;
  };
  for (const Row& row :
       {Row{"example.com", "example.com", ""}, Row{"EXAMPLE.com:8080", "EXAMPLE.com", "8080"},
        Row{"192.0.2.1:80", "192.0.2.1", "80"}, Row{"[2001:db8::1]", "[2001:db8::1]", ""},
        Row{"[::ffff:192.0.2.1]:65535", "[::ffff:192.0.2.1]", "65535"}, Row{"a_b", "a_b", ""},
        Row{"example.com:", "example.com", ""}, Row{"example.com.:1", "example.com.", "1"}}) {
    INFO(row.text);
    const auto authority = parse_authority(row.text);
    REQUIRE(authority);
    CHECK(authority->host == row.host);
    CHECK(authority->port == row.port);
  }
  for (const char* text : {"",
                           ":80",
                           "user@host",
                           "host/path",
                           "host name",
                           "a, b",
                           "a,b",
                           "a,",
                           ",a",
                           "a,b:80",
                           "a;b",
                           "a!b",
                           "a$b",
                           "a&b",
                           "a'b",
                           "(a)",
                           "*.a",
                           "a+b",
                           "a=b",
                           "a~b",
                           "host:65536",
                           "host:8a",
                           "host:-1",
                           "host:80:80",
                           "::1",
                           "2001:db8::1",
                           "[::1",
                           "::1]",
                           "[::1]80",
                           "[]",
                           "[v1.x]",
                           "[fe80::1%25e]",
                           "[127.0.0.1]",
                           "host?",
                           "host#",
                           "a%2eb",
                           "h\xc3\xb6st",
                           "host\t",
                           "host\\",
                           "host:+80",
                           ".",
                           "..",
                           ".example.com",
                           "..x",
                           "a..b",
                           "a..b:80",
                           "x..",
                           "x,a",
                           "a;",
                           "example.com..",
                           ".:80",
                           "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]"}) {
    INFO(text);
    CHECK_FALSE(parse_authority(text));
  }
  CHECK_FALSE(parse_authority(std::string_view{"[::1\0]", 6}));
}

int host_status(std::initializer_list<NameValue> fields) {
  const auto host = host_field(fields_of(fields));
  return host ? 0 : host.error().status;
}

/// The host and the port in the Host field.
std::string host_and_port(std::initializer_list<NameValue> fields) {
  const Authority authority = host_field(fields_of(fields)).value();
  return std::string{authority.host} + " " + std::string{authority.port};
}

TEST_CASE("R1: at most one valid Host") {
  CHECK(host_status({{"Host", "a"}}) == 0);
  CHECK(host_status({}) == 0);
  CHECK(host_field({})->host.empty());
  CHECK(host_status({{"Host", ""}}) == 400);
  CHECK(host_status({{"Host", "a"}, {"host", "a"}}) == 400);
  CHECK(host_status({{"Host", "a"}, {"Host", "b"}}) == 400);
  CHECK(host_status({{"Host", "user@a"}}) == 400);
  CHECK(host_status({{"Host", "a b"}}) == 400);
}

TEST_CASE("the Host field is read at every position, and its refusal describes the fault") {
  CHECK(host_and_port({{"A", "b"}, {"hOST", "example.com:80"}, {"C", "d"}}) == "example.com 80");
  CHECK(host_and_port({{"Host", "[::1]"}}) == "[::1] ");
  const auto detail_of = [](std::initializer_list<NameValue> fields) {
    return host_field(fields_of(fields)).error().detail;
  };
  CHECK(detail_of({{"Host", ""}}) == "the Host field is empty");
  CHECK(detail_of({{"Host", "a"}, {"Host", "a"}}) == "more than one Host field");
  CHECK(detail_of({{"Host", "a b"}}) == "the Host field is not a host with an optional port");
}

}  // namespace
}  // namespace weir::http
