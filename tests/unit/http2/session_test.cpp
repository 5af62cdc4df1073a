// The requests that a session reads from the frames of a client, and the frames that it sends.
#include "http2/session.hpp"

#include "unit/http2/scripted_client.hpp"

namespace weir::http2 {
namespace {

using namespace test;

TEST_CASE("a request is received, whole or byte by byte") {
  const std::string bytes = preface + request(1, literal("x-key", "1"));
  for (const std::size_t step : {bytes.size(), std::size_t{1}, std::size_t{7}}) {
    CAPTURE(step);
    Server server;
    for (std::size_t at = 0; at < bytes.size(); at += step)
      CHECK(server.session.receive(std::string_view(bytes).substr(at, step)));
    REQUIRE(server.streams.size() == 1);
    TestStream& stream = server.stream(0);
    CHECK(stream.log == "head;");
    CHECK(stream.has_ended());
    std::vector<http::FieldView> fields;
    stream.head().finish(fields);
    CHECK(stream.head().method() == "GET");
    CHECK(stream.head().path() == "/");
    CHECK(stream.head().authority() == "a.example");
    REQUIRE(fields.size() == 1);
    CHECK(fields[0].name == "x-key");
    CHECK(fields[0].value == "1");
  }
}

TEST_CASE("a body and its trailers are received") {
  Server server;
  CHECK(server.session.receive(preface + request(1, {}, 0)));
  TestStream& stream = server.stream(0);
  CHECK_FALSE(stream.has_ended());
  CHECK(server.session.receive(frame(NGHTTP2_DATA, 0, 1, "abc") + frame(NGHTTP2_DATA, 0, 1, "de")));
  CHECK(stream.data == "abcde");
  CHECK(server.session.receive(
      frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, literal("x-sum", "7"))));
  CHECK(stream.log == "head;end;");
  CHECK(stream.has_ended());
  CHECK(stream.trailers() == http::FieldSection{{"x-sum", "7"}});
}

TEST_CASE("a response is sent with its body and its trailers") {
  Server server;
  CHECK(server.session.receive(preface + request(1)));
  TestStream& stream = server.stream(0);
  stream.output = "hello";
  stream.sent_trailers = {{"Grpc-Status", "0"}};
  server.session.inform(stream, 103, {{"link", "</a>"}});
  server.session.respond(stream, 200, {{"Content-Type", "text/plain"}}, true);
  const auto frames = frames_of(server.output());
  std::vector<int> types;
  for (const Frame& one : frames) {
    if (one.stream == 1) types.push_back(one.type);
  }
  CHECK(types == std::vector<int>{NGHTTP2_HEADERS, NGHTTP2_HEADERS, NGHTTP2_DATA, NGHTTP2_HEADERS});
  CHECK(frames.back().flags == (end_headers | end_stream));
  CHECK(stream.log == "head;closed;");
  CHECK(stream.is_closed());
  CHECK(server.session.open_streams() == 0);
}

TEST_CASE("a response without a body ends with its head") {
  Server server;
  CHECK(server.session.receive(preface + request(1)));
  server.session.respond(server.stream(0), 204, {}, false);
  const auto frames = frames_of(server.output());
  CHECK(frames.back().type == NGHTTP2_HEADERS);
  CHECK(frames.back().flags == (end_headers | end_stream));
}

TEST_CASE("a response that is complete before the request ends the stream without an error") {
  Server server;
  CHECK(server.session.receive(preface + request(1, {}, 0)));
  server.session.respond(server.stream(0), 413, {}, false);
  CHECK(reset_in(server.output()) == NGHTTP2_NO_ERROR);
  CHECK(server.stream(0).is_closed());
  CHECK(server.session.glitches().count() == 0);
}

TEST_CASE("a malformed trailer section does not count for the next one") {
  Server server({.max_head = 300});
  const std::string field = literal("x", std::string(100, 'a'));
  const auto trailers = [&](std::uint32_t id, const std::string& more) {
    return frame(NGHTTP2_HEADERS, end_headers | end_stream, id, field + more);
  };
  CHECK(
      server.session.receive(preface + request(1, {}, 0) + trailers(1, field + literal("A", ""))));
  CHECK(server.session.receive(request(3, {}, 0) + trailers(3, {})));
  CHECK(server.stream(1).trailers().size() == 1);
}

TEST_CASE("output waits until there is some") {
  Server server;
  CHECK(server.session.receive(preface + request(1)));
  TestStream& stream = server.stream(0);
  stream.is_ended = false;
  server.session.respond(stream, 200, {}, true);
  CHECK(count(server.output(), NGHTTP2_DATA) == 0);
  CHECK_FALSE(server.session.has_output());
  stream.output = "now";
  stream.is_ended = true;
  server.session.resume(stream);
  CHECK(count(server.output(), NGHTTP2_DATA) == 1);
  CHECK(stream.is_closed());
}

TEST_CASE("a slow reader stalls its own stream only") {
  Server server;
  // The window of each stream is 10 bytes.
  const std::string small = std::string("\0\x04\0\0\0\x0a", 6);
  CHECK(server.session.receive(std::string(client_preface) + frame(NGHTTP2_SETTINGS, 0, 0, small) +
                               request(1) + request(3)));
  server.stream(0).output = std::string(100, 'a');
  server.session.respond(server.stream(0), 200, {}, true);
  server.output();
  CHECK(server.stream(0).output.size() == 90);
  server.stream(1).output = "short";
  server.session.respond(server.stream(1), 200, {}, true);
  server.output();
  CHECK(server.stream(1).is_closed());
  CHECK_FALSE(server.stream(0).is_closed());
  CHECK(server.session.receive(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, std::string("\0\0\0\x5a", 4))));
  server.output();
  CHECK(server.stream(0).is_closed());
}

TEST_CASE("the windows are opened as bytes are consumed, and when a stream ends") {
  SessionOptions options;
  options.stream_window = 1000;
  options.connection_window = 65'535;
  Server server(options);
  CHECK(server.session.receive(preface + request(1, {}, 0)));
  server.output();
  CHECK(server.session.receive(frame(NGHTTP2_SETTINGS, 1, 0) +
                               frame(NGHTTP2_DATA, 0, 1, std::string(1000, 'a'))));
  CHECK(count(server.output(), NGHTTP2_WINDOW_UPDATE) == 0);
  server.session.consume(server.stream(0), 1000);
  const auto frames = frames_of(server.output());
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].type == NGHTTP2_WINDOW_UPDATE);
  CHECK(frames[0].stream == 1);
  // Bytes that nobody consumes count against the connection until their stream ends.
  for (std::uint32_t id = 3; id < 3 + 2 * 60; id += 2) {
    CHECK(server.session.receive(request(id, {}, 0) +
                                 frame(NGHTTP2_DATA, 0, id, std::string(1000, 'a')) + reset(id)));
  }
  CHECK(count(server.output(), NGHTTP2_WINDOW_UPDATE) >= 1);
  CHECK(goaway_in(server.output()) == -1);
}

TEST_CASE("faults of a message reset its stream, and count") {
  const std::string rows[] = {literal("Upper", "1"),
                              literal("connection", "close"),
                              literal("te", "gzip"),
                              literal("bad name", "1"),
                              literal("x", std::string("a\0b", 3)),
                              literal(":unknown", "1"),
                              literal(":path", "/again"),
                              literal("x", "a\r\nb: c"),
                              literal("content-length", "5")};
  for (const std::string& row : rows) {
    CAPTURE(row);
    Server server;
    CHECK(server.session.receive(preface + request(1, row)));
    CHECK(reset_in(server.output()) == NGHTTP2_PROTOCOL_ERROR);
    CHECK(server.session.glitches().count() == 1);
    CHECK_FALSE(server.session.awaits_head());
    CHECK(server.session.open_streams() == 0);
    // The connection goes on.
    CHECK(server.session.receive(request(3)));
    CHECK(server.streams.back()->log == "head;");
  }
}

TEST_CASE("the SETTINGS of the preface are awaited") {
  Server server;
  CHECK(server.session.receive(client_preface));
  CHECK(server.session.awaits_head());
  CHECK(server.session.receive(frame(NGHTTP2_SETTINGS, 0, 0)));
  CHECK_FALSE(server.session.awaits_head());
}

TEST_CASE("what does not begin with the preface ends the connection") {
  Server server;
  CHECK_FALSE(server.session.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK(goaway_in(server.output()) == NGHTTP2_PROTOCOL_ERROR);
}

TEST_CASE("a stream that the owner refuses may be tried again") {
  Server server;
  server.refuses = true;
  CHECK(server.session.receive(preface + request(1)));
  CHECK(reset_in(server.output()) == NGHTTP2_REFUSED_STREAM);
  CHECK(server.session.open_streams() == 0);
  CHECK_FALSE(server.session.awaits_head());
}

TEST_CASE("a drain announces the end, and lets streams finish") {
  Server server;
  CHECK(server.session.receive(preface + request(1)));
  server.output();
  server.session.begin_drain();
  CHECK(goaway_in(server.output()) == NGHTTP2_NO_ERROR);
  CHECK(server.session.receive(request(3)));  // it was on its way
  CHECK(server.streams.size() == 2);
  server.session.end_drain();
  // A stream that comes before the GOAWAY is sent would be closed by it after its work is done.
  CHECK(server.session.receive(request(5)));
  CHECK(server.streams.size() == 2);
  server.output();
  CHECK(server.session.receive(request(7)));
  CHECK(server.streams.size() == 2);
  CHECK_FALSE(server.session.is_over());
  server.session.respond(server.stream(0), 200, {}, false);
  server.session.respond(server.stream(1), 200, {}, false);
  server.output();
  CHECK(server.session.is_over());
}

TEST_CASE("an exception of a receiver ends the session") {
  struct Thrower final : StreamSource {
    Stream* open_stream() override { throw std::bad_alloc(); }
  } thrower;
  Session session(thrower, {});
  CHECK_FALSE(session.receive(preface + request(1)));
}

}  // namespace
}  // namespace weir::http2
