// Clients that make a session work without a purpose, and the budget that ends them.
#include <algorithm>
#include <functional>

#include "http2/session.hpp"
#include "unit/http2/scripted_client.hpp"

namespace weir::http2 {
namespace {

using namespace test;

TEST_CASE("floods spend the budget of a connection") {
  const std::string block = request_block();
  const auto rapid_reset = [](std::uint32_t i) { return request(2 * i + 1) + reset(2 * i + 1); };
  const auto made_to_reset = [](std::uint32_t i) {  // CVE-2025-8671
    return request(2 * i + 1, {}, 0) +
           frame(NGHTTP2_WINDOW_UPDATE, 0, 2 * i + 1, "\x7f\xff\xff\xff");
  };
  const auto malformed = [](std::uint32_t i) { return request(2 * i + 1, literal("A", "1")); };
  const auto repeated = [](std::string bytes) {
    return [bytes = std::move(bytes)](std::uint32_t i) {
      return i == 0 ? request(1, {}, 0) + bytes : bytes;
    };
  };
  std::string pings;
  for (int i = 0; i < 8; ++i)
    pings += frame(NGHTTP2_PING, 0, 0, "12345678");
  // Frames for a stream that was reset for its malformed head, beside one that is open.
  const auto late = [](std::string bytes) {
    return [bytes = std::move(bytes)](std::uint32_t i) {
      return i == 0 ? request(1, {}, 0) + request(3, literal("A", "1"), 0) + bytes : bytes;
    };
  };
  // Ignored after three quarters of the budget, because the first stream stays open.
  const auto late_heads = [](std::uint32_t i) {
    return request(2 * i + 1, i == 0 ? std::string() : literal("A", "1"), i == 0 ? 0 : end_stream);
  };
  const std::function<std::string(std::uint32_t)> rows[] = {
      rapid_reset,
      made_to_reset,
      malformed,
      repeated(frame(NGHTTP2_SETTINGS, 0, 0)),
      repeated(pings),
      repeated(frame(NGHTTP2_PRIORITY, 0, 1, std::string("\0\0\0\0\1", 5))),
      repeated(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\0\0\0\1", 4))),
      repeated(frame(NGHTTP2_DATA, 0, 1)),
      repeated(frame(NGHTTP2_DATA, padded, 1, std::string("\2\0\0", 3))),
      repeated(frame(NGHTTP2_PING, ack, 0, "12345678")),
      repeated(frame(NGHTTP2_GOAWAY, 0, 0, std::string(8, '\0'))),
      repeated(frame(0xfa, 0, 0, "unknown")),
      repeated(frame(0x10, 0, 1, std::string("\0\0\0\1u=1", 7))),  // PRIORITY_UPDATE
      late(frame(NGHTTP2_WINDOW_UPDATE, 0, 3, std::string("\0\0\0\1", 4))),
      late(frame(NGHTTP2_HEADERS, end_headers | end_stream, 3, literal("x", "1"))),
      late_heads,
  };
  for (std::size_t row = 0; row < std::size(rows); ++row) {
    CAPTURE(row);
    Server server({.glitches = 100});
    server.session.receive(preface);
    std::string output;
    int sent = 0;
    // Windows may be updated 256 times.
    for (; sent < 500 && !server.session.is_over(); ++sent) {
      server.session.receive(rows[row](static_cast<std::uint32_t>(sent)));
      output += server.output();
    }
    CHECK(sent < 400);
    std::vector<int> errors;
    for (const Frame& one : frames_of(output)) {
      if (one.type == NGHTTP2_GOAWAY) errors.push_back(static_cast<int>(one.error()));
    }
    // First no new streams at three quarters; without a stream the connection is over then.
    REQUIRE_FALSE(errors.empty());
    CHECK(errors.front() == NGHTTP2_NO_ERROR);
    if (server.streams.back()->is_closed()) continue;
    CHECK(errors == std::vector<int>{NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM});
  }
}

TEST_CASE("without a budget no number of resets ends a connection") {
  Server server({.glitches = 0});
  server.session.receive(preface);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    REQUIRE(server.session.receive(request(2 * i + 1) + reset(2 * i + 1)));
    server.output();
    server.streams.clear();
  }
  CHECK_FALSE(server.session.is_over());
}

TEST_CASE("ordinary use spends nothing") {
  Server server({.glitches = 10});
  server.session.receive(preface);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(server.session.receive(frame(NGHTTP2_PING, 0, 0, "keepaliv")));
    REQUIRE(server.session.receive(request(2 * i + 1)));
    server.session.respond(*server.streams.back(), 200, {}, false);
    server.output();
  }
  CHECK(server.session.glitches().count() == 0);
}

TEST_CASE("frames of unknown types beside requests are free") {
  Server server({.glitches = 10});
  const std::string unknown =
      frame(0x0a, 0, 0) + frame(0x10, 0, 0, "0000u=2") + frame(0xfa, 0xff, 1);
  server.session.receive(preface);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(server.session.receive(unknown + request(2 * i + 1)));
    server.session.respond(*server.streams.back(), 200, {}, false);
    server.output();
  }
  CHECK(server.session.glitches().count() == 0);
}

TEST_CASE("two updates of windows after each response are free") {
  Server server({.glitches = 10});
  server.session.receive(preface);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t id = 2 * i + 1;
    REQUIRE(server.session.receive(request(id)));
    server.streams.back()->output = "short";
    server.session.respond(*server.streams.back(), 200, {}, true);
    server.output();
    REQUIRE(server.session.receive(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, number(5)) +
                                   frame(NGHTTP2_WINDOW_UPDATE, 0, id, number(5))));
  }
  CHECK(server.session.glitches().count() == 0);
}

/// CVE-2019-9511.
TEST_CASE("a client that takes a response byte by byte spends its budget") {
  Server server({.glitches = 100});
  const std::string small = number(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + number(1);
  server.session.receive(std::string(client_preface) + frame(NGHTTP2_SETTINGS, 0, 0, small) +
                         request(1));
  server.stream(0).output = std::string(10'000, 'a');
  server.session.respond(server.stream(0), 200, {}, true);
  int sent = 0;
  for (; sent < 500 && !server.session.is_over(); ++sent) {
    server.session.receive(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, number(1)));
    server.output();
  }
  CHECK(sent < 400);
}

TEST_CASE("as many requests as may be on their way are free after GOAWAY") {
  Server server({.max_streams = 10, .glitches = 10});
  server.session.receive(preface + request(1));
  server.session.end_drain();
  server.output();
  for (std::uint32_t i = 0; i < 10; ++i)
    REQUIRE(server.session.receive(request(2 * i + 3)));
  CHECK(server.session.glitches().count() == 0);
  for (std::uint32_t i = 0; i < 10; ++i)
    server.session.receive(request(2 * i + 23));
  CHECK(goaway_in(server.output()) == NGHTTP2_NO_ERROR);
  CHECK_FALSE(server.session.wants_input());
  CHECK(server.session.glitches().count() == 10);
}

TEST_CASE("a connection stays given up when its last streams forgive a glitch") {
  Server server({.glitches = 4});
  server.session.receive(preface);
  for (std::uint32_t i = 0; i < 6; ++i)
    server.session.receive(request(2 * i + 1));
  server.session.receive(reset(1) + reset(3));
  CHECK_FALSE(server.session.was_given_up());
  server.session.receive(frame(NGHTTP2_PRIORITY, 0, 5, std::string("\0\0\0\0\1", 5)));
  CHECK(server.session.was_given_up());
  // The streams in progress are finished.
  for (std::size_t index = 2; index < 6; ++index)
    server.session.respond(server.stream(index), 200, {}, false);
  CHECK(goaway_in(server.output()) == NGHTTP2_NO_ERROR);
  CHECK(server.session.is_over());
  CHECK(server.session.glitches().state() == Glitches::State::good);
  CHECK(server.session.was_given_up());
}

/// Passes bytes to a session with bounds, call by call. Returns the heads after each call.
std::vector<std::size_t> heads_by_call(Server& server, std::string_view bytes) {
  std::vector<std::size_t> heads;
  do {
    REQUIRE(server.session.receive(bytes));
    bytes.remove_prefix(server.session.taken());
    heads.push_back(static_cast<std::size_t>(std::ranges::count_if(
        server.streams, [](const auto& stream) { return !stream->log.empty(); })));
  } while (server.session.has_paused());
  CHECK(bytes.empty());
  return heads;
}

TEST_CASE("a burst of heads is taken in several calls") {
  Server server({.heads_at_once = 8});
  std::string burst = preface;
  for (std::uint32_t i = 0; i < 20; ++i)
    burst += request(2 * i + 1) + frame(NGHTTP2_PING, 0, 0, "12345678");
  CHECK(heads_by_call(server, burst) == std::vector<std::size_t>{8, 16, 20});
  CHECK(server.stream(8).head().path() == "/");
  CHECK(server.session.glitches().count() == 16);  // PINGs are counted for all calls together
}

TEST_CASE("few heads of a new connection are taken at first") {
  Server server({.heads_at_once = 8, .heads_at_first = 2});
  CHECK(heads_by_call(server, preface) == std::vector<std::size_t>{0});
  std::string burst;
  for (std::uint32_t i = 0; i < 20; ++i)
    burst += request(2 * i + 1);
  CHECK(heads_by_call(server, burst) == std::vector<std::size_t>{2, 10, 18, 20});
}

TEST_CASE("a head of many fields is taken in several calls, to its last field") {
  Server server({.fields_at_once = 300});
  std::string fields;
  for (int i = 0; i < 12; ++i)
    fields += literal("x", "12345678901234567");  // 50 bytes with the overhead; the rest has 188
  const std::string burst = preface + request(1, fields);
  CHECK(heads_by_call(server, burst) == std::vector<std::size_t>{0, 0, 1});
  server.session.respond(server.stream(0), 200, {}, false);
  std::vector<http::FieldView> received;
  server.stream(0).head().finish(received);
  CHECK(received.size() == 12);
  // The bound is met by the last field of a head, which is complete in the next call.
  CHECK(heads_by_call(server, request(3, literal("x", std::string(100, 'a')))) ==
        std::vector<std::size_t>{1, 2});
}

TEST_CASE("a client that has made faults is served in small steps") {
  Server server({.glitches = 160, .heads_at_once = 8, .piece_size = 256});
  server.session.receive(preface);
  const auto fault = [](std::uint32_t i) { return request(2 * i + 1) + reset(2 * i + 1); };
  for (std::uint32_t i = 0; i < 11; ++i) {
    server.session.receive(fault(i));
    CHECK_FALSE(server.session.has_paused());
  }
  CHECK(server.session.glitches().count() == 11);

  SECTION("head by head") {
    // A pause comes with the first field of the next head: all frames of a stream are taken before.
    const std::string burst = fault(11) + fault(12);
    CHECK(heads_by_call(server, burst) == std::vector<std::size_t>{12, 13});
  }
  SECTION("a few bytes at once") {
    const std::string data = frame(NGHTTP2_DATA, 0, 1, std::string(1000, 'x'));
    for (std::string_view rest = data; !rest.empty();) {
      CHECK(server.session.receive(rest));
      CHECK(server.session.taken() == std::min<std::size_t>(256, rest.size()));
      rest.remove_prefix(server.session.taken());
      CHECK(server.session.has_paused() == !rest.empty());
    }
  }
}

TEST_CASE("a client that makes faults is stopped within a read, from the first one on") {
  Server server({.piece_size = 1024});  // pieces of 256, 512 and 1024 bytes
  server.session.receive(preface);
  const auto bytes_taken_of = [&](std::string_view bytes) {
    REQUIRE(server.session.receive(bytes));
    CHECK(server.session.has_paused() == (server.session.taken() != bytes.size()));
    return server.session.taken();
  };
  SECTION("after the piece with the sixteenth fault") {
    std::string faults;
    for (int i = 0; i < 100; ++i)
      faults += frame(NGHTTP2_PRIORITY, 0, 1, std::string("\0\0\0\0\1", 5));  // 14 bytes
    CHECK(bytes_taken_of(faults) == 256);
    CHECK(server.session.glitches().count() == 18);
    CHECK(bytes_taken_of(faults.substr(256)) == 256);
  }
  SECTION("few faults, and a body without any, are taken at once") {
    server.session.receive(request(1, {}, 0));
    std::string bytes;
    for (int i = 0; i < 15; ++i)
      bytes += frame(NGHTTP2_PRIORITY, 0, 1, std::string("\0\0\0\0\1", 5)) +
               frame(NGHTTP2_DATA, 0, 1, std::string(200, 'x'));
    CHECK(bytes_taken_of(bytes) == bytes.size());
    CHECK(server.stream(0).data.size() == 3000);
  }
}

TEST_CASE("resets wait until there is output") {
  struct Row {
    const char* title;
    std::string bytes;
    bool expected;
  };
  const std::string ping = frame(NGHTTP2_PING, 0, 0, "12345678");
  const std::vector<Row> rows{
      {"requests, SETTINGS and PING", preface + ping + request(1) + ping + request(3), false},
      {"a body beyond its length",
       preface + request(1, literal("content-length", "1"), 0) + frame(NGHTTP2_DATA, 0, 1, "xx"),
       true},
      {"a window that overflows",
       preface + ping + request(1) + frame(NGHTTP2_WINDOW_UPDATE, 0, 1, "\x7f\xff\xff\xff"), true},
      {"a malformed head", preface + request(1) + request(3, literal("A", "1")), true}};
  for (const Row& row : rows) {
    INFO(row.title);
    Server server;
    server.output();
    REQUIRE(server.session.receive(row.bytes));
    CHECK(server.session.has_resets() == row.expected);
    CHECK((reset_in(server.output()) != -1) == row.expected);
    CHECK_FALSE(server.session.has_resets());
  }
}

TEST_CASE("a fault that ends the connection is distinguished from a drain") {
  Server server({.glitches = 4});
  server.session.receive(preface);
  SECTION("an error of the connection") {
    server.session.receive(frame(NGHTTP2_DATA, 0, 0, "x"));
    CHECK(goaway_in(server.output()) == NGHTTP2_PROTOCOL_ERROR);
    CHECK(server.session.has_failed());
  }
  SECTION("three quarters of the budget") {
    server.session.receive(request(1) + reset(1) + request(3) + reset(3) + request(5) + reset(5));
    CHECK(goaway_in(server.output()) == NGHTTP2_NO_ERROR);
    CHECK(server.session.has_failed());
  }
  SECTION("a drain") {
    server.session.end_drain();
    CHECK(goaway_in(server.output()) == NGHTTP2_NO_ERROR);
    CHECK(server.session.is_over());
    CHECK_FALSE(server.session.has_failed());
  }
}

TEST_CASE("DATA of closed streams is free up to a window for each body") {
  Server server({.stream_window = 64 * 1024});
  server.session.receive(preface + request(1, {}, 0));
  server.session.respond(server.stream(0), 200, {}, false);
  CHECK(reset_in(server.output()) == NGHTTP2_NO_ERROR);
  const auto send_kib = [&](int count) {
    for (int i = 0; i < count; ++i)
      REQUIRE(server.session.receive(frame(NGHTTP2_DATA, 0, 1, std::string(1015, 'x'))));
    CHECK(goaway_in(server.output()) == -1);
    return server.session.glitches().count();
  };
  CHECK(send_kib(127) == 0);
  const std::size_t before = send_kib(2);
  CHECK(before > 10);
  CHECK(send_kib(1) == before + 16);
  server.session.receive(request(3, {}, 0));  // another window
  CHECK(send_kib(60) == before + 16);
  CHECK(send_kib(10) > before + 16);
}

TEST_CASE("frames that are not DATA of closed streams are no ignored bytes") {
  Server server({.stream_window = 1000, .connection_window = 1 << 20});
  server.session.receive(preface);
  const std::string block = request_block();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t id = 2 * i + 1;
    REQUIRE(server.session.receive(frame(NGHTTP2_HEADERS, end_stream, id, block.substr(0, 10)) +
                                   frame(NGHTTP2_CONTINUATION, end_headers, id, block.substr(10)) +
                                   frame(0xfa, 0, 0, std::string(200, 'x')) +
                                   frame(NGHTTP2_PING, 0, 0, "12345678")));
    REQUIRE(server.streams.size() == i + 1);
    server.session.respond(server.stream(i), 200, {}, false);
    server.output();
  }
  CHECK(server.session.glitches().total() == 0);
}

TEST_CASE("a head that expands without end ends the connection") {
  Server server({.max_head = 1000});
  server.session.receive(preface);
  // One entry of the dynamic table of 4,000 bytes is referred to many times (an indexed field is
  // one byte).
  std::string entry("\x40\x01x\x7f\xa1\x1e", 6);
  entry.append(4000, 'a');
  server.session.receive(frame(NGHTTP2_HEADERS, end_headers | end_stream, 1,
                               request_block() + entry + std::string(200, '\xbe')));
  CHECK(goaway_in(server.output()) == NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_CASE("a head that is a little too large is reported as such") {
  Server server({.max_head = 300});
  const std::string field = literal("x", std::string(100, 'a'));
  CHECK(server.session.receive(preface + request(1, field + field)));
  CHECK(server.stream(0).log == "head;");
  CHECK(server.stream(0).head().is_too_large());
  CHECK(server.session.glitches().count() == 1);
}

TEST_CASE("a flood of CONTINUATION frames ends the connection") {
  Server server;
  server.session.receive(preface + frame(NGHTTP2_HEADERS, 0, 1, request_block()));
  CHECK(server.session.awaits_head());
  for (int i = 0; i < 100 && !server.session.is_over(); ++i) {
    server.session.receive(frame(NGHTTP2_CONTINUATION, 0, 1, literal("x", "1")));
    server.output();
  }
  CHECK(server.session.is_over());
}

}  // namespace
}  // namespace weir::http2
