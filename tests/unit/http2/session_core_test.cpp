// What both sides of a connection share: windows, bounds on heads, the bodies that are sent.
#include "http2/session_core.hpp"

#include "catch.hpp"
#include "unit/http2/scripted_server.hpp"

namespace weir::http2::test {

TEST_CASE("A body and its trailers are sent as the windows of the server allow") {
  ClientSession client({});
  Received server;
  TestStream stream;
  stream.output = std::string(100'000, 'x');
  stream.sent_trailers = {{"x-sum", "1"}};
  REQUIRE(client.open(stream, {.method = "PUT", .authority = "a", .path = "/"}, "http", {}, true));
  for (int round = 0; round < 20 && !server.stream.has_ended(); ++round) {
    std::string out;
    REQUIRE(client.append_output(out, 1'000'000));
    REQUIRE(server.session.receive(out));
    server.session.consume(server.stream, server.stream.data.size() - (round == 0 ? 0 : 65'535));
    out.clear();
    REQUIRE(server.session.append_output(out, 1'000'000));
    REQUIRE(client.receive(out));
  }
  CHECK(server.stream.data == std::string(100'000, 'x'));
  CHECK(server.stream.trailers() == http::FieldSection{{"x-sum", "1"}});
}

TEST_CASE("The window of a stream grows when its bytes are consumed") {
  ClientSessionOptions options;
  options.stream_window = 65'535;
  Client client(options);
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  client.receive(response(1, "200", {}, 0));
  for (int i = 0; i < 3; ++i)
    CHECK(client.receive(frame(NGHTTP2_DATA, 0, 1, std::string(16'384, 'x'))));
  CHECK(client.sent().empty());
  client.session.consume(stream, stream.data.size());
  CHECK(client.sent() == frame(NGHTTP2_WINDOW_UPDATE, 0, 1, number(3 * 16'384)));
}

TEST_CASE("A head beyond the bound is marked, one far beyond ends the connection") {
  ClientSessionOptions options;
  options.max_head = 1'000;
  Client client(options);
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  const std::string field = literal("x", std::string(100, 'v'));
  std::string block;
  const int count = GENERATE(3, 9, 60);
  for (int i = 0; i < count; ++i)
    block += field;
  client.receive(response(1, "200", block));
  CHECK(stream.head().is_too_large() == (count > 3));
  CHECK((client.sent().find(frame(NGHTTP2_GOAWAY, 0, 0).substr(3, 2)) != std::string::npos ||
         count < 60));
}

}  // namespace weir::http2::test
