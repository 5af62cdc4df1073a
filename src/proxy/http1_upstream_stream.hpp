// A request on an HTTP/1.1 connection to a server, which it has for itself (RFC 9112).
//
// Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proxy/body_source.hpp"
#include "proxy/forward_phase.hpp"
#include "proxy/upstream_stream.hpp"
#include "upstream/pooled_server.hpp"

namespace weir::proxy {

class Http1UpstreamStream final : public UpstreamStream {
 public:
  /// `phase` outlives the stream. The connection may still have to be opened.
  Http1UpstreamStream(const ForwardPhase& phase, std::unique_ptr<upstream::Connection> connection)
      : phase_(phase), connection_(std::move(connection)) {}

  upstream::Connection& connection() { return *connection_; }
  std::unique_ptr<upstream::Connection> take_connection() { return std::move(connection_); }

  void begin(const http::ReceivedRequest& request, const http::ForwardedHop& hop) override;
  void append(std::string_view piece) override;
  void end(const http::FieldSection& trailers) override;
  bool send(error_code& ec) override;
  loop::Task<error_code> flush() override { return connection_->stream.flush(); }

  HeadState take_head(Head& head) override;
  void keep_trailers(http::Trailers& trailers) override { body_->keep_trailers(trailers); }
  BodyState pull(std::string_view& piece) override { return body_->pull(piece); }
  loop::Task<error_code> fill() override { return body_ ? body_->fill() : fill_head(); }
  bool has_unread() const override { return !connection_->input.empty(); }

  upstream::Connection* upgraded() override { return connection_.get(); }
  bool was_used() const override { return connection_ && connection_->reused; }
  bool was_refused() const override { return false; }
  Cut cut() const override { return {}; }
  std::string_view tls_error() const override;
  void timed_out() override {}
  void finish(bool is_sent) override;

  void cancel() override { connection_->stream.cancel(); }
  void close() override { connection_->stream.close(); }
  void reset() override { connection_->stream.reset(); }

 private:
  std::string& output();
  loop::Task<error_code> fill_head();

  const ForwardPhase& phase_;
  std::unique_ptr<upstream::Connection> connection_;
  std::optional<BodySource> body_;  ///< once the final head was taken
  std::size_t scanned_ = 0;         ///< bytes that do not end a head
  bool is_building_ = false;        ///< since the last send()
  bool is_reusable_ = false;  ///< its response is delimited, and the server keeps the connection
};

}  // namespace weir::proxy
