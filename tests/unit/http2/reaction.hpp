// The reaction of a session to the frames of a client, as text for tables.
#pragma once

#include <nghttp2/nghttp2.h>
#include <string>
#include <string_view>

#include "unit/http2/scripted_client.hpp"

namespace weir::http2::test {

inline std::string setting(std::uint32_t id, std::uint32_t value) {
  return frame(NGHTTP2_SETTINGS, 0, 0, number(id, 2) + number(value));
}

inline std::string update(std::uint32_t stream, std::uint32_t size) {
  return frame(NGHTTP2_WINDOW_UPDATE, 0, stream, number(size));
}

/// A frame whose declared size is not that of its payload.
inline std::string sized(std::string bytes, std::uint32_t size) {
  return bytes.replace(0, 3, number(size, 3));
}

/// "connection ERROR", "stream ERROR", or "none" if nothing is reset and the connection goes on.
inline std::string reaction_in(std::string_view output) {
  const auto name = [](int code) {
    return std::string(nghttp2_http2_strerror(static_cast<std::uint32_t>(code)));
  };
  if (const int code = goaway_in(output); code >= 0) return "connection " + name(code);
  if (const int code = reset_in(output); code >= 0) return "stream " + name(code);
  return "none";
}

/// Checks the reaction to `bytes` of a client that has sent `before`, which is answered, and that
/// the connection goes on unless it has ended.
inline void check_reaction(std::string_view expected, const std::string& before,
                           const std::string& bytes, bool responds = false) {
  Server server;
  CHECK(server.session.receive(preface + frame(NGHTTP2_SETTINGS, ack, 0) + before));
  if (responds) server.session.respond(server.stream(0), 200, {}, false);
  server.output();
  server.session.receive(bytes);
  CHECK(reaction_in(server.output()) == expected);
  if (expected.starts_with("connection")) {
    CHECK(server.session.is_over());
    return;
  }
  if (expected.starts_with("stream")) CHECK(server.session.glitches().count() >= 1);
  const std::size_t streams = server.streams.size();
  CHECK(server.session.receive(request(101)));
  REQUIRE(server.streams.size() == streams + 1);
  CHECK(server.streams.back()->log == "head;");
}

}  // namespace weir::http2::test
