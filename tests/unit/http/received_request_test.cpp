#include "http/received_request.hpp"

#include "catch.hpp"

namespace weir::http {
namespace {

TEST_CASE("Each 2xx to an extended CONNECT opens a tunnel") {
  ReceivedRequest request;
  request.view.version_major = 2;
  CHECK_FALSE(request.is_tunnel_opened_by(200));
  request.upgrade = "websocket";
  CHECK(request.demands_tunnel());
  for (const int status : {200, 204, 299})
    CHECK(request.is_tunnel_opened_by(status));
  for (const int status : {103, 199, 300, 403})
    CHECK_FALSE(request.is_tunnel_opened_by(status));
  request.view.version_major = 1;  // an offer
  CHECK_FALSE(request.demands_tunnel());
  CHECK_FALSE(request.is_tunnel_opened_by(200));
}

TEST_CASE("clear() leaves nothing of the last request") {
  ReceivedRequest request;
  request.view.method = "GET";
  request.view.target = "http://b:81/path?query";
  request.view.path = "/path";
  request.view.query = "query";
  request.view.host = "b";
  request.view.authority = "b:81";
  request.view.version_minor = 0;
  request.fields.push_back(
      {.id = FieldId::connection, .name = "Connection", .value = "Keep-Alive, X-A"});
  request.view.fields = request.fields;
  request.connection = connection_options(request.fields);
  REQUIRE(request.connection.name_count == 1);
  REQUIRE(request.connection.keep_alive);
  request.framing = {Framing::Kind::length, 4};
  request.is_framed = true;
  request.scheme = "https";
  request.keep_alive = true;
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
  using Kind = Framing::Kind;
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
}  // namespace weir::http
