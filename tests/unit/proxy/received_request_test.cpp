#include "proxy/received_request.hpp"

#include "catch.hpp"
#include "proxy/head_inspection.hpp"

namespace weir::proxy {
namespace {

const std::string head =
    "GET http://b:81/path?query HTTP/1.0\r\nHost: b:81\r\nConnection: Keep-Alive, X-A\r\n"
    "Content-Length: 4\r\n\r\n";

TEST_CASE("clear() leaves nothing of the last request") {
  const Settings config;
  const RequestRules rules(config);
  ReceivedRequest request;
  request.scheme = "https";
  REQUIRE_FALSE(inspect_head(rules, config, head, request));
  REQUIRE(request.keep_alive);
  REQUIRE(request.connection.name_count == 1);
  request.upgrade = "websocket";
  request.clear();
  const ReceivedRequest fresh;
  CHECK(request.view.method.empty());
  CHECK(request.view.target.empty());
  CHECK(request.view.path.empty());
  CHECK(request.view.query.empty());
  CHECK(request.view.host.empty());
  CHECK(request.view.authority.empty());
  CHECK(request.view.version_minor == fresh.view.version_minor);
  CHECK(request.view.fields.empty());
  CHECK(request.fields.empty());
  CHECK(request.connection.name_count == 0);
  CHECK_FALSE(request.connection.keep_alive);
  CHECK(request.framing == fresh.framing);
  CHECK_FALSE(request.is_framed);
  CHECK(request.upgrade.empty());
  CHECK(request.scheme == "http");
  CHECK_FALSE(request.keep_alive);
}

TEST_CASE("a request has a body if its framing gives it one, or is not known") {
  using Kind = http::Framing::Kind;
  ReceivedRequest request;
  CHECK(request.has_body());
  request.is_framed = true;
  CHECK_FALSE(request.has_body());
  request.framing = {Kind::length, 0};
  CHECK_FALSE(request.has_body());
  request.framing = {Kind::length, 1};
  CHECK(request.has_body());
  request.framing = {Kind::chunked, 0};
  CHECK(request.has_body());
}

}  // namespace
}  // namespace weir::proxy
