// Raw frames in every state of a stream (RFC 9113 sections 5.1 and 6), and the reaction of the
// session. An endpoint may treat an error of a stream as one of the connection (section 5.4.1);
// rows in which nghttp2 does so, or sends another error than the section requires, have a comment.
#include "http2/session.hpp"
#include "unit/http2/reaction.hpp"

namespace weir::http2 {
namespace {

using namespace test;

struct ReactionRow {
  const char* what;
  std::string bytes;
  const char* expected;
};

template <std::size_t size>
void check_rows(const ReactionRow (&rows)[size], const std::string& before, bool responds = false) {
  for (const ReactionRow& row : rows) {
    CAPTURE(row.what);
    check_reaction(row.expected, before, row.bytes, responds);
  }
}

const std::string eight(8, '\0');
const std::string priority_of_none = number(0) + std::string(1, '\x10');
const std::string trailers =
    frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, literal("x-sum", "7"));
constexpr int unknown_type = 0xfa;

TEST_CASE("frames for a stream that is idle") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"), "connection PROTOCOL_ERROR"},
      {"empty DATA", frame(NGHTTP2_DATA, end_stream, 1), "connection PROTOCOL_ERROR"},
      {"HEADERS", request(1), "none"},
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "connection PROTOCOL_ERROR"},
      {"WINDOW_UPDATE", update(1, 1), "connection PROTOCOL_ERROR"},
      {"CONTINUATION", frame(NGHTTP2_CONTINUATION, end_headers, 1), "connection PROTOCOL_ERROR"},
      {"PUSH_PROMISE", frame(NGHTTP2_PUSH_PROMISE, end_headers, 1, number(2)),
       "connection PROTOCOL_ERROR"},
      {"unknown", frame(unknown_type, 0xff, 1, "x"), "none"},
  };
  check_rows(rows, {});
}

TEST_CASE("frames for a stream that is open") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"), "none"},
      {"DATA with END_STREAM", frame(NGHTTP2_DATA, end_stream, 1, "x"), "none"},
      {"trailers", trailers, "none"},
      {"trailers without END_STREAM", frame(NGHTTP2_HEADERS, end_headers, 1, literal("x", "1")),
       "stream PROTOCOL_ERROR"},
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "none"},
      {"RST_STREAM, unknown error", frame(NGHTTP2_RST_STREAM, 0, 1, number(0xffff)), "none"},
      {"WINDOW_UPDATE", update(1, 1), "none"},
      {"PUSH_PROMISE", frame(NGHTTP2_PUSH_PROMISE, end_headers, 1, number(2)),
       "connection PROTOCOL_ERROR"},
      {"unknown", frame(unknown_type, 0xff, 1, "x"), "none"},
  };
  check_rows(rows, request(1, {}, 0));
}

TEST_CASE("frames for a stream whose request has ended") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"),
       "connection STREAM_CLOSED"},  // of the stream in section 5.1
      {"empty DATA", frame(NGHTTP2_DATA, 0, 1), "connection STREAM_CLOSED"},  // the same
      {"HEADERS", trailers, "connection STREAM_CLOSED"},                      // the same
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "none"},
      {"WINDOW_UPDATE", update(1, 1), "none"},
      {"CONTINUATION", frame(NGHTTP2_CONTINUATION, end_headers, 1), "connection PROTOCOL_ERROR"},
      {"unknown", frame(unknown_type, 0xff, 1, "x"), "none"},
  };
  check_rows(rows, request(1));
}

TEST_CASE("frames for a stream that has ended in order") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"), "connection STREAM_CLOSED"},
      {"HEADERS", trailers, "connection STREAM_CLOSED"},
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "none"},
      {"WINDOW_UPDATE", update(1, 1), "none"},
      {"unknown", frame(unknown_type, 0xff, 1, "x"), "none"},
  };
  check_rows(rows, request(1), true);
}

/// They may have been sent before the client read the RST_STREAM.
TEST_CASE("frames for a stream that Weir has reset") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"), "none"},
      {"DATA with END_STREAM", frame(NGHTTP2_DATA, end_stream, 1, "x"), "none"},
      {"trailers", trailers, "none"},
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "none"},
      {"WINDOW_UPDATE", update(1, 1), "none"},
      {"WINDOW_UPDATE that overflows", update(1, 0x7fffffff), "none"},
  };
  check_rows(rows, request(1, literal("A", "1"), 0));
  check_rows(rows, request(1, {}, 0), true);  // it was answered before the end of its request
}

TEST_CASE("frames for a stream that its client has reset") {
  const ReactionRow rows[] = {
      {"DATA", frame(NGHTTP2_DATA, 0, 1, "x"), "connection STREAM_CLOSED"},
      {"HEADERS", trailers, "connection STREAM_CLOSED"},
      {"PRIORITY", frame(NGHTTP2_PRIORITY, 0, 1, priority_of_none), "none"},
      {"RST_STREAM", reset(1), "none"},
      {"WINDOW_UPDATE", update(1, 1), "none"},
  };
  check_rows(rows, request(1) + reset(1));
}

TEST_CASE("frames for the wrong stream") {
  const ReactionRow rows[] = {
      {"DATA for 0", frame(NGHTTP2_DATA, 0, 0, "x"), "connection PROTOCOL_ERROR"},
      {"HEADERS for 0", request(0), "connection PROTOCOL_ERROR"},
      {"PRIORITY for 0", frame(NGHTTP2_PRIORITY, 0, 0, priority_of_none),
       "connection PROTOCOL_ERROR"},
      {"RST_STREAM for 0", reset(0), "connection PROTOCOL_ERROR"},
      {"CONTINUATION for 0", frame(NGHTTP2_CONTINUATION, end_headers, 0),
       "connection PROTOCOL_ERROR"},
      {"SETTINGS for 1", frame(NGHTTP2_SETTINGS, 0, 1), "connection PROTOCOL_ERROR"},
      {"PING for 1", frame(NGHTTP2_PING, 0, 1, eight), "connection PROTOCOL_ERROR"},
      {"GOAWAY for 1", frame(NGHTTP2_GOAWAY, 0, 1, eight), "connection PROTOCOL_ERROR"},
      {"HEADERS for an even stream", request(2), "connection PROTOCOL_ERROR"},
      {"DATA for an even stream", frame(NGHTTP2_DATA, 0, 2, "x"), "connection PROTOCOL_ERROR"},
      {"WINDOW_UPDATE for an even stream", update(2, 1), "connection PROTOCOL_ERROR"},
      {"HEADERS for a stream that was skipped", request(5) + request(3),
       "connection PROTOCOL_ERROR"},
      // The reserved bit is ignored (section 4.1).
      {"HEADERS with the reserved bit", request(0x80000003), "none"},
      {"PING with the reserved bit", frame(NGHTTP2_PING, 0, 0x80000000, eight), "none"},
  };
  check_rows(rows, request(1));
}

TEST_CASE("frames that are too short or too long") {
  const std::string large(16'385, 'x');
  const ReactionRow rows[] = {
      {"PRIORITY of 4", frame(NGHTTP2_PRIORITY, 0, 1, "1234"), "connection FRAME_SIZE_ERROR"},
      {"PRIORITY of 6", frame(NGHTTP2_PRIORITY, 0, 1, "123456"), "connection FRAME_SIZE_ERROR"},
      {"RST_STREAM of 3", frame(NGHTTP2_RST_STREAM, 0, 1, "123"), "connection FRAME_SIZE_ERROR"},
      {"RST_STREAM of 5", frame(NGHTTP2_RST_STREAM, 0, 1, "12345"), "connection FRAME_SIZE_ERROR"},
      {"SETTINGS of 5", frame(NGHTTP2_SETTINGS, 0, 0, "12345"), "connection FRAME_SIZE_ERROR"},
      {"SETTINGS of 7", frame(NGHTTP2_SETTINGS, 0, 0, "1234567"), "connection FRAME_SIZE_ERROR"},
      {"ACK with a setting", frame(NGHTTP2_SETTINGS, ack, 0, number(4, 2) + number(1)),
       "connection FRAME_SIZE_ERROR"},
      {"PING of 7", frame(NGHTTP2_PING, 0, 0, "1234567"), "connection FRAME_SIZE_ERROR"},
      {"PING of 9", frame(NGHTTP2_PING, 0, 0, "123456789"), "connection FRAME_SIZE_ERROR"},
      {"PING of 0", frame(NGHTTP2_PING, 0, 0), "connection FRAME_SIZE_ERROR"},
      {"GOAWAY of 7", frame(NGHTTP2_GOAWAY, 0, 0, "1234567"), "connection FRAME_SIZE_ERROR"},
      {"WINDOW_UPDATE of 3", frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "123"),
       "connection FRAME_SIZE_ERROR"},
      {"WINDOW_UPDATE of 5", frame(NGHTTP2_WINDOW_UPDATE, 0, 1, "12345"),
       "connection FRAME_SIZE_ERROR"},
      {"HEADERS without its priority",
       frame(NGHTTP2_HEADERS, end_headers | with_priority, 3, "123"),
       "connection FRAME_SIZE_ERROR"},
      {"DATA of 16385", frame(NGHTTP2_DATA, 0, 1, large), "connection FRAME_SIZE_ERROR"},
      {"HEADERS of 16385", frame(NGHTTP2_HEADERS, end_headers, 3, large),
       "connection FRAME_SIZE_ERROR"},
      {"SETTINGS of 16386", frame(NGHTTP2_SETTINGS, 0, 0, large + "x"),
       "connection FRAME_SIZE_ERROR"},
      {"GOAWAY of 16385", frame(NGHTTP2_GOAWAY, 0, 0, large), "connection FRAME_SIZE_ERROR"},
      {"unknown of 16385", frame(unknown_type, 0, 0, large), "connection FRAME_SIZE_ERROR"},
      {"the size alone", sized(frame(unknown_type, 0, 0), 0xffffff), "connection FRAME_SIZE_ERROR"},
      {"unknown of 16384", frame(unknown_type, 0, 0, large.substr(1)), "none"},
      {"DATA of 16384", frame(NGHTTP2_DATA, 0, 1, large.substr(1)), "none"},
  };
  check_rows(rows, request(1, {}, 0));
}

TEST_CASE("padding") {
  const auto head = [](const std::string& block, int pad) {
    return frame(NGHTTP2_HEADERS, end_headers | end_stream | padded, 3, number(pad, 1) + block);
  };
  const ReactionRow rows[] = {
      {"DATA, all of it", frame(NGHTTP2_DATA, padded, 1, std::string("\2\0\0", 3)), "none"},
      {"DATA, one beyond it", frame(NGHTTP2_DATA, padded, 1, std::string("\3\0\0", 3)),
       "connection PROTOCOL_ERROR"},
      {"DATA, far beyond it", frame(NGHTTP2_DATA, padded, 1, "\xff"), "connection PROTOCOL_ERROR"},
      // FRAME_SIZE_ERROR in section 4.2.
      {"DATA without the length", frame(NGHTTP2_DATA, padded, 1), "connection PROTOCOL_ERROR"},
      {"HEADERS", head(request_block() + std::string(5, '\0'), 5), "none"},
      {"HEADERS, beyond it", head("", 1), "connection PROTOCOL_ERROR"},
      {"HEADERS, into its block", head(request_block(), 5), "connection COMPRESSION_ERROR"},
      {"HEADERS without the length", frame(NGHTTP2_HEADERS, end_headers | padded, 3),
       "connection PROTOCOL_ERROR"},
  };
  check_rows(rows, request(1, {}, 0));
}

TEST_CASE("the settings of a client") {
  const ReactionRow rows[] = {
      {"HEADER_TABLE_SIZE 0", setting(1, 0), "none"},
      {"HEADER_TABLE_SIZE 4 GiB", setting(1, 0xffffffff), "none"},
      {"ENABLE_PUSH 0", setting(2, 0), "none"},
      {"ENABLE_PUSH 1", setting(2, 1), "none"},
      {"ENABLE_PUSH 2", setting(2, 2), "connection PROTOCOL_ERROR"},
      {"MAX_CONCURRENT_STREAMS 0", setting(3, 0), "none"},
      {"INITIAL_WINDOW_SIZE, the largest", setting(4, 0x7fffffff), "none"},
      {"INITIAL_WINDOW_SIZE, too large", setting(4, 0x80000000), "connection FLOW_CONTROL_ERROR"},
      // An error of the connection in section 6.9.2.
      {"INITIAL_WINDOW_SIZE, beyond an open window", update(1, 1) + setting(4, 0x7fffffff),
       "stream FLOW_CONTROL_ERROR"},
      {"MAX_FRAME_SIZE, the smallest", setting(5, 16'384), "none"},
      {"MAX_FRAME_SIZE, the largest", setting(5, 0xffffff), "none"},
      {"MAX_FRAME_SIZE, too small", setting(5, 16'383), "connection PROTOCOL_ERROR"},
      {"MAX_FRAME_SIZE, too large", setting(5, 0x1000000), "connection PROTOCOL_ERROR"},
      {"MAX_HEADER_LIST_SIZE 0", setting(6, 0), "none"},
      {"ENABLE_CONNECT_PROTOCOL 1", setting(8, 1), "none"},
      {"ENABLE_CONNECT_PROTOCOL 2", setting(8, 2), "connection PROTOCOL_ERROR"},
      {"unknown", setting(0xfafa, 0xffffffff), "none"},
      {"the same twice", setting(4, 10) + setting(4, 20), "none"},
      {"ACK of nothing", frame(NGHTTP2_SETTINGS, ack, 0), "connection PROTOCOL_ERROR"},
  };
  check_rows(rows, request(1));
}

TEST_CASE("updates of windows") {
  const ReactionRow rows[] = {
      {"by 0", update(1, 0), "connection PROTOCOL_ERROR"},  // of the stream in section 6.9
      {"of the connection by 0", update(0, 0), "connection PROTOCOL_ERROR"},
      {"by 0, with the reserved bit", update(1, 0x80000000), "connection PROTOCOL_ERROR"},
      {"with the reserved bit", update(1, 0x80000001), "none"},
      {"to the largest", update(1, 0x7fffffff - 65'535), "none"},
      {"beyond it", update(1, 0x7fffffff - 65'534), "stream FLOW_CONTROL_ERROR"},
      {"of the connection to the largest", update(0, 0x7fffffff - 65'535), "none"},
      {"of the connection beyond it", update(0, 0x7fffffff - 65'534),
       "connection FLOW_CONTROL_ERROR"},
  };
  check_rows(rows, request(1));
}

TEST_CASE("heads in several frames") {
  const std::string block = request_block();
  const std::string begun = frame(NGHTTP2_HEADERS, end_stream, 3, block.substr(0, 7));
  const std::string rest = frame(NGHTTP2_CONTINUATION, end_headers, 3, block.substr(7));
  const ReactionRow rows[] = {
      {"two frames", begun + rest, "none"},
      {"an empty HEADERS",
       frame(NGHTTP2_HEADERS, end_stream, 3) + frame(NGHTTP2_CONTINUATION, end_headers, 3, block),
       "none"},
      {"unknown flags", begun + frame(NGHTTP2_CONTINUATION, end_headers | 0xf0, 3, block.substr(7)),
       "none"},
      {"of another stream", begun + frame(NGHTTP2_CONTINUATION, end_headers, 1, block.substr(7)),
       "connection PROTOCOL_ERROR"},
      {"after the end", begun + rest + rest, "connection PROTOCOL_ERROR"},
      {"DATA between", begun + frame(NGHTTP2_DATA, 0, 1, "x") + rest, "connection PROTOCOL_ERROR"},
      {"HEADERS between", begun + request(5) + rest, "connection PROTOCOL_ERROR"},
      {"PING between", begun + frame(NGHTTP2_PING, 0, 0, eight) + rest,
       "connection PROTOCOL_ERROR"},
      {"SETTINGS between", begun + frame(NGHTTP2_SETTINGS, 0, 0) + rest,
       "connection PROTOCOL_ERROR"},
      {"RST_STREAM between", begun + reset(3) + rest, "connection PROTOCOL_ERROR"},
      {"unknown between", begun + frame(unknown_type, 0, 0) + rest, "connection PROTOCOL_ERROR"},
      {"a block that ends within a field",
       frame(NGHTTP2_HEADERS, end_headers, 3, block.substr(0, 7)), "connection COMPRESSION_ERROR"},
      {"an index beyond the table", frame(NGHTTP2_HEADERS, end_headers, 3, "\xfe"),
       "connection COMPRESSION_ERROR"},
      {"a table beyond its limit", frame(NGHTTP2_HEADERS, end_headers, 3, "\x3f\xe2\x1f"),
       "connection COMPRESSION_ERROR"},
  };
  check_rows(rows, request(1, {}, 0));
}

TEST_CASE("another first frame than SETTINGS") {
  const ReactionRow rows[] = {
      {"PING", frame(NGHTTP2_PING, 0, 0, eight), "connection PROTOCOL_ERROR"},
      {"HEADERS", request(1), "connection PROTOCOL_ERROR"},
      {"an ACK", frame(NGHTTP2_SETTINGS, ack, 0), "connection PROTOCOL_ERROR"},
      {"unknown", frame(unknown_type, 0, 0), "connection PROTOCOL_ERROR"},
  };
  for (const ReactionRow& row : rows) {
    CAPTURE(row.what);
    Server server;
    server.session.receive(std::string(client_preface) + row.bytes);
    CHECK(reaction_in(server.output()) == row.expected);
  }
}

}  // namespace
}  // namespace weir::http2
