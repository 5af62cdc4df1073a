// The client's side of a connection, beside a server whose frames are written by hand.
#include "http2/client_session.hpp"

#include "catch.hpp"
#include "unit/http2/scripted_server.hpp"

namespace weir::http2::test {

TEST_CASE("A request has its pseudo-header fields first, and no Host") {
  ClientSession client({});
  Received server;
  TestStream stream;
  const http::FieldSection fields{{"Host", "other.example"}, {"X-One", "1"}, {"te", "trailers"}};
  REQUIRE(client.open(stream, {.method = "PUT", .authority = "a.example", .path = "/x?y"}, "https",
                      fields, false));
  std::string out;
  REQUIRE(client.append_output(out, 1'000'000));
  CHECK(server.session.receive(out));
  http::HeaderList& head = server.stream.head();
  std::vector<http::FieldView> views;
  head.finish(views);
  CHECK(head.method() == "PUT");
  CHECK(head.scheme() == "https");
  CHECK(head.authority() == "a.example");
  CHECK(head.path() == "/x?y");
  REQUIRE(views.size() == 2);
  CHECK(views[0].name == "x-one");
  CHECK(views[1].name == "te");
  CHECK(server.stream.log == "head;");
  CHECK(server.stream.has_ended());
}

TEST_CASE("A response has a head, a body and trailers") {
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  CHECK(client.receive(response(1, "200", literal("x", "1"), 0)));
  CHECK(stream.head().status() == "200");
  CHECK(client.receive(frame(NGHTTP2_DATA, 0, 1, "hello")));
  CHECK_FALSE(stream.has_ended());
  CHECK(client.receive(
      frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, literal("grpc-status", "0"))));
  CHECK(stream.data == "hello");
  CHECK(stream.log == "head;end;closed;");
  CHECK(stream.trailers() == http::FieldSection{{"grpc-status", "0"}});
  CHECK(stream.closed_with() == 0);
  CHECK(client.session.open_streams() == 0);
}

TEST_CASE("Interim responses come before the final one") {
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  CHECK(client.receive(response(1, "103", literal("link", "a"), 0)));
  CHECK(stream.head().status() == "103");
  CHECK(client.receive(response(1, "200")));
  CHECK(stream.head().status() == "200");
  CHECK(stream.log == "head;head;closed;");
}

TEST_CASE("A malformed response ends its stream only") {
  Client client;
  TestStream bad;
  TestStream good;
  REQUIRE(client.open(bad));
  REQUIRE(client.open(good));
  client.sent();
  const auto block = GENERATE(as<std::string>{}, literal("x", "no status"),
                              literal(":status", "200") + literal("Upper", "1"),
                              literal(":status", "200") + literal("connection", "close"),
                              literal(":status", "200") + literal("x", std::string("a\0b", 3)));
  CHECK(client.receive(frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, block)));
  client.sent();
  CHECK(bad.is_closed());
  CHECK(bad.closed_with() != 0);
  CHECK_FALSE(was_refused(bad));
  CHECK(client.receive(response(3, "200")));
  CHECK(good.log == "head;closed;");
}

TEST_CASE("A body of another length than its head declares is malformed") {
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  client.receive(response(1, "200", literal("content-length", "3"), 0));
  client.receive(frame(NGHTTP2_DATA, end_stream, 1, "four"));
  client.sent();
  CHECK(stream.is_closed());
  CHECK_FALSE(stream.has_ended());
}

TEST_CASE("A reset is refused only with REFUSED_STREAM") {
  const auto [code, is_refused] =
      GENERATE(table<std::uint32_t, bool>({{NGHTTP2_REFUSED_STREAM, true},
                                           {NGHTTP2_CANCEL, false},
                                           {NGHTTP2_INTERNAL_ERROR, false},
                                           {NGHTTP2_NO_ERROR, false}}));
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  CHECK(client.receive(reset_with(1, code)));
  CHECK(stream.is_closed());
  CHECK(stream.closed_with() == code);
  CHECK(was_refused(stream) == is_refused);
  const StreamCut cut{.by = is_refused ? StreamCut::By::refusal : StreamCut::By::reset,
                      .code = code};
  CHECK(cut_of(client.session, stream) == cut);
}

TEST_CASE("After GOAWAY the streams beyond the last one are refused, the others go on") {
  Client client;
  std::array<TestStream, 3> streams;
  for (TestStream& stream : streams)
    REQUIRE(client.open(stream));
  client.sent();
  CHECK(client.session.can_open());
  CHECK(client.receive(goaway(3)));
  CHECK(was_refused(streams[2]));
  CHECK(cut_of(client.session, streams[2]) == StreamCut{.by = StreamCut::By::goaway});
  CHECK_FALSE(streams[0].is_closed());
  CHECK_FALSE(client.session.can_open());
  CHECK(client.session.is_ending());
  CHECK(client.receive(response(1, "200") + response(3, "200")));
  CHECK(streams[1].log == "head;closed;");
  client.sent();
  CHECK(client.session.is_over());
}

TEST_CASE("A stream that is cut has the code of the last GOAWAY, unless it was reset") {
  Client client;
  std::array<TestStream, 3> streams;
  for (TestStream& stream : streams)
    REQUIRE(client.open(stream));
  client.sent();
  const StreamCut none{};
  CHECK(cut_of(client.session, streams[0]) == none);
  CHECK(client.receive(goaway(3)));
  CHECK(client.receive(reset_with(3, NGHTTP2_CANCEL)));
  CHECK(cut_of(client.session, streams[1]) ==
        StreamCut{.by = StreamCut::By::reset, .code = NGHTTP2_CANCEL});
  CHECK(client.receive(goaway(3, NGHTTP2_ENHANCE_YOUR_CALM)));
  CHECK(cut_of(client.session, streams[0]) ==
        StreamCut{.by = StreamCut::By::goaway, .code = NGHTTP2_ENHANCE_YOUR_CALM});
}

TEST_CASE("A request that waits when GOAWAY arrives was never sent") {
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  CHECK(client.receive(goaway(0)));
  client.sent();
  CHECK(stream.is_closed());
  CHECK(was_refused(stream));
}

TEST_CASE("The server and the options bound the streams in progress") {
  ClientSessionOptions options;
  options.max_streams = GENERATE(std::size_t{2}, std::size_t{50});
  Client client(options);
  client.receive(frame(NGHTTP2_SETTINGS, 0, 0, std::string("\0\x03", 2) + number(3)));
  const std::size_t most = std::min<std::size_t>(options.max_streams, 3);
  std::array<TestStream, 3> streams;
  for (std::size_t i = 0; i < most; ++i) {
    CHECK(client.session.can_open());
    REQUIRE(client.open(streams[i]));
  }
  CHECK_FALSE(client.session.can_open());
  client.sent();
  client.receive(response(1, "200"));
  CHECK(client.session.can_open());
  client.session.begin_drain();
  CHECK_FALSE(client.session.can_open());
}

TEST_CASE("A stream that is forgotten is reset, and what arrives for it is dropped") {
  Client client;
  const bool is_sent = GENERATE(false, true);
  {
    TestStream stream;
    REQUIRE(client.open(stream));
    if (is_sent) client.sent();
    client.session.forget(stream, ErrorCode::cancel);
    CHECK(client.session.open_streams() == 0);
    CHECK(stream.log.empty());
  }
  const std::string out = client.sent();
  CHECK(out.find(is_sent ? reset_with(1, NGHTTP2_CANCEL) : "") != std::string::npos);
  if (!is_sent) {
    CHECK(out.empty());
    return;
  }
  CHECK(client.receive(response(1, "200", {}, 0)));
  CHECK(client.receive(frame(NGHTTP2_DATA, end_stream, 1, "late")));
  TestStream next;
  CHECK(client.open(next));
}

TEST_CASE("A push is an error of the server") {
  Client client;
  TestStream stream;
  REQUIRE(client.open(stream));
  client.sent();
  client.receive(frame(NGHTTP2_PUSH_PROMISE, end_headers, 1, number(2) + request_block()));
  client.sent();
  CHECK(client.session.is_over());
}

}  // namespace weir::http2::test
