#include <string>

#include "admin/endpoints.hpp"
#include "catch.hpp"

using namespace weir;
using admin::why_foreign;

namespace {

options::Admin admin_at(std::string host) {
  return {.address = {.host = std::move(host), .port = 9090, .unix_path = {}},
          .token = {},
          .hosts = {"weir", "metrics.internal"}};
}

}  // namespace

TEST_CASE("a Host is an address, localhost or a name of the configuration") {
  const options::Admin admin = admin_at("admin.example");
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9090", "10.1.2.3:1", "[::1]:9090", "[2001:db8::1]", "localhost",
        "LocalHost:80", "localhost.", "weir", "WEIR:9090", "metrics.internal",
        "metrics.internal.:9090", "admin.example", "Admin.Example:9090"}) {
    CAPTURE(host);
    CHECK(why_foreign({.host = host}, admin).empty());
  }
  for (const char* host :
       {"", "evil.test", "evil.test:9090", "localhost.evil.test", "127.0.0.1.evil.test",
        "a.localhost", "weir.evil.test", "internal", "metrics", "127.1", "0x7f.0.0.1", "2130706433",
        "127.0.0.1, evil.test", "user@127.0.0.1", "127.0.0.1:x", "[::1", "::1", "."}) {
    CAPTURE(host);
    CHECK(why_foreign({.host = host}, admin) ==
          "the Host field is neither an IP address nor a name of this server; add the name to "
          "admin.hosts, or set admin.token");
  }
}

TEST_CASE("HTTP/1.0 may come without a Host, and over a unix socket any comes") {
  CHECK(why_foreign({}, admin_at("127.0.0.1")).empty());
  CHECK_FALSE(
      why_foreign({.host = {}, .origin = "http://127.0.0.1"}, admin_at("127.0.0.1")).empty());
  options::Admin socket;
  socket.address = {.host = {}, .port = 0, .unix_path = "/run/weir.sock"};
  CHECK(why_foreign({.host = "anything"}, socket).empty());
  CHECK_FALSE(why_foreign({.host = "anything", .origin = "http://evil.test"}, socket).empty());
}

TEST_CASE("an Origin is the one of the Host, with its port") {
  const options::Admin admin = admin_at("127.0.0.1");
  struct Row {
    const char* host;
    const char* origin;
    bool accepted;
  };
  for (const Row& row : {
           Row{"127.0.0.1:9090", "http://127.0.0.1:9090", true},
           Row{"localhost", "http://LOCALHOST", true},
           Row{"weir", "https://weir", true},
           Row{"[::1]:9090", "http://[::1]:9090", true},
           // another host, port or kind
           Row{"127.0.0.1:9090", "http://evil.test", false},
           Row{"127.0.0.1:9090", "http://127.0.0.1", false},
           Row{"127.0.0.1:9090", "http://127.0.0.1:3000", false},
           Row{"127.0.0.1:9090", "http://localhost:9090", false},
           Row{"localhost", "null", false},
           Row{"localhost", "", false},
           Row{"localhost", "localhost", false},
           Row{"localhost", "http://localhost/x", false},
       }) {
    CAPTURE(row.host, row.origin);
    CHECK(why_foreign({.host = row.host, .origin = row.origin}, admin).empty() == row.accepted);
  }
}
