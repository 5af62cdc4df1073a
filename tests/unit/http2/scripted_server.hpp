// A client's session, beside a server whose frames are written by hand or whose session is real.
#pragma once

#include "http2/client_session.hpp"
#include "unit/http2/scripted_client.hpp"

namespace weir::http2::test {

struct Client {
  explicit Client(const ClientSessionOptions& options = {}) : session(options) {
    sent();
    receive(frame(NGHTTP2_SETTINGS, 0, 0) + frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0));
    sent();
  }
  bool receive(std::string_view bytes) { return session.receive(bytes); }
  std::string sent() {
    std::string out;
    REQUIRE(session.append_output(out, 1'000'000));
    return out;
  }
  bool open(Stream& stream, bool has_body = false, const http::FieldSection& fields = {}) {
    return session.open(stream, {.method = "GET", .authority = "a.example", .path = "/x"}, "http",
                        fields, has_body);
  }

  ClientSession session;
};

inline std::string response(std::uint32_t stream, std::string_view status,
                            std::string_view more = {}, int flags = end_stream) {
  return frame(NGHTTP2_HEADERS, end_headers | flags, stream,
               literal(":status", status) + std::string(more));
}

inline std::string reset_with(std::uint32_t stream, std::uint32_t code) {
  return frame(NGHTTP2_RST_STREAM, 0, stream, number(code));
}

inline std::string goaway(std::uint32_t last_stream, std::uint32_t code = NGHTTP2_NO_ERROR) {
  return frame(NGHTTP2_GOAWAY, 0, 0, number(last_stream) + number(code));
}

/// What a server receives from a client.
struct Received final : StreamSource {
  Received() : session(*this, {}) {}
  Stream* open_stream() override { return &stream; }

  TestStream stream;
  Session session;
};

}  // namespace weir::http2::test
