// A request body on an HTTP/1 connection.
//
// Bytes that arrived with the head are read from the head's buffer. The rest is read into a
// separate buffer, because the views of the request point into the head. Used from its worker's
// loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "http/received_request.hpp"
#include "proxy/body_source.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/kept_body.hpp"
#include "proxy/request_body.hpp"

namespace weir::proxy {

class Http1RequestBody final : public RequestBody {
 public:
  explicit Http1RequestBody(ClientConnection& connection) : connection_(connection) {}
  ~Http1RequestBody() override;
  Http1RequestBody(const Http1RequestBody&) = delete;
  Http1RequestBody& operator=(const Http1RequestBody&) = delete;

  /// Begins the body of the request whose head has just been consumed from the connection's input.
  void begin(const http::ReceivedRequest& request);

  BodyState pull(std::string_view& piece) override;
  loop::Task<error_code> fill() override;
  bool is_costly() const override { return source_ && source_->has_small_chunks(); }
  void cancel() override { connection_.stream.cancel(); }
  void keep_trailers(http::Trailers& trailers) override;
  void keep(std::size_t most) override { keep_most_ = most; }
  bool is_kept() const override { return kept_.is_whole(); }
  bool can_keep_more() const override;
  void rewind() override;
  bool client_has_left() override;

  /// True if a part of it has been used, so it cannot be discarded any more.
  bool is_touched() const { return received_ > 0 || buffer_ != nullptr; }
  /// True if the rest must be handled before the next head can be read.
  bool has_rest() const { return buffer_ != nullptr || !has_ended_; }
  /// Reads and drops the rest of an untouched body, at most `most` bytes; the connection's input
  /// then starts after the body. False if the rest is larger or does not arrive.
  loop::Task<bool> discard(std::size_t most, Duration step_timeout);
  /// Counts the bytes of a tunnel as received.
  std::uint64_t& received_counter() { return received_; }

 private:
  void restart();

  ClientConnection& connection_;
  std::optional<BodySource> source_;           ///< none: there is no body
  std::unique_ptr<loop::InputBuffer> buffer_;  ///< for what arrives after the head
  bool reads_buffer_ = false;                  ///< else the head's
  http::Framing framing_;
  KeptBody kept_{{0, 0}};
  std::size_t keep_most_ = 0;
};

}  // namespace weir::proxy
