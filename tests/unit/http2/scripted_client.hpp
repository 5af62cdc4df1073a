// A session with a scripted client, whose frames are written by hand.
#pragma once

#include <memory>
#include <nghttp2/nghttp2.h>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "http2/session.hpp"

namespace weir::http2::test {

/// A number in network order.
inline std::string number(std::uint32_t value, int size = 4) {
  std::string bytes;
  for (int i = size - 1; i >= 0; --i)
    bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return bytes;
}

/// A frame as it is on the wire (RFC 9113 section 4.1).
inline std::string frame(int type, int flags, std::uint32_t stream, std::string_view payload = {}) {
  return number(static_cast<std::uint32_t>(payload.size()), 3)
      .append(number(static_cast<std::uint32_t>(type), 1))
      .append(number(static_cast<std::uint32_t>(flags), 1))
      .append(number(stream))
      .append(payload);
}

constexpr int end_stream = 1;
constexpr int ack = 1;
constexpr int end_headers = 4;
constexpr int padded = 8;
constexpr int with_priority = 0x20;

/// A literal field without indexing, with a new name (RFC 7541 section 6.2.2). Both parts have
/// fewer than 127 bytes.
inline std::string literal(std::string_view name, std::string_view value) {
  std::string bytes(1, '\0');
  bytes.push_back(static_cast<char>(name.size()));
  bytes.append(name).push_back(static_cast<char>(value.size()));
  return bytes.append(value);
}

inline std::string request_block(std::string_view more = {}) {
  return literal(":method", "GET") + literal(":scheme", "http") + literal(":path", "/") +
         literal(":authority", "a.example") + std::string(more);
}

inline std::string request(std::uint32_t stream, std::string_view more = {},
                           int flags = end_stream) {
  return frame(NGHTTP2_HEADERS, end_headers | flags, stream, request_block(more));
}

inline std::string reset(std::uint32_t stream) {
  return frame(NGHTTP2_RST_STREAM, 0, stream, std::string("\0\0\0\x08", 4));
}

inline const std::string preface = std::string(client_preface) + frame(NGHTTP2_SETTINGS, 0, 0);

/// Records what the session reports, and gives the bytes of a response.
struct TestStream final : Stream {
  void on_head() override { log += "head;"; }
  void on_data(std::string_view bytes) override { data += bytes; }
  void on_end() override { log += "end;"; }
  void on_closed() override { log += "closed;"; }
  std::size_t read_output(char* to, std::size_t most) override {
    const std::size_t size = std::min(most, output.size());
    output.copy(to, size);
    output.erase(0, size);
    return size;
  }
  bool output_has_ended() const override { return is_ended && output.empty(); }
  const http::FieldSection& output_trailers() const override { return sent_trailers; }

  std::string log;
  std::string data;
  std::string output;
  http::FieldSection sent_trailers;
  bool is_ended = true;
};

struct Server final : StreamSource {
  explicit Server(const SessionOptions& options = {}) : session(*this, options) {}
  Stream* open_stream() override {
    if (refuses) return nullptr;
    return streams.emplace_back(std::make_unique<TestStream>()).get();
  }
  TestStream& stream(std::size_t index) { return *streams.at(index); }
  /// The bytes that are sent to the client.
  std::string output() {
    std::string out;
    CHECK(session.append_output(out, 1 << 20));
    return out;
  }

  bool refuses = false;
  std::vector<std::unique_ptr<TestStream>> streams;
  Session session;
};

struct Frame {
  int type;
  int flags;
  std::uint32_t stream;
  std::string payload;
  /// The number of an error in RST_STREAM, or in GOAWAY behind the last stream.
  std::uint32_t error() const {
    const std::size_t at = type == NGHTTP2_GOAWAY ? 4 : 0;
    std::uint32_t code = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      code = code << 8 | static_cast<unsigned char>(payload.at(i));
    return code;
  }
};

inline std::vector<Frame> frames_of(std::string_view bytes) {
  std::vector<Frame> frames;
  while (bytes.size() >= 9) {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
    };
    const std::size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    frames.push_back({.type = static_cast<int>(byte(3)),
                      .flags = static_cast<int>(byte(4)),
                      .stream = byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8),
                      .payload = std::string(bytes.substr(9, size))});
    bytes.remove_prefix(9 + size);
  }
  return frames;
}

/// The error of the first GOAWAY in `bytes`; -1: there is none.
inline int goaway_in(std::string_view bytes) {
  for (const Frame& one : frames_of(bytes)) {
    if (one.type == NGHTTP2_GOAWAY) return static_cast<int>(one.error());
  }
  return -1;
}

inline int reset_in(std::string_view bytes) {
  for (const Frame& one : frames_of(bytes)) {
    if (one.type == NGHTTP2_RST_STREAM) return static_cast<int>(one.error());
  }
  return -1;
}

inline std::size_t count(std::string_view bytes, int type) {
  std::size_t found = 0;
  for (const Frame& one : frames_of(bytes))
    found += one.type == type ? 1 : 0;
  return found;
}

}  // namespace weir::http2::test
