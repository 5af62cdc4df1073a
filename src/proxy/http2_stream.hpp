// A request on an HTTP/2 connection: the source of its body, the destination of its response, and
// its exchange.
//
// A stream lives from the first byte of its head until its exchange and the stream of the session
// have ended. Its buffers are used again. Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http2/session.hpp"
#include "http2/stream.hpp"
#include "loop/cancellable.hpp"
#include "loop/event.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/exchange.hpp"
#include "proxy/request_body.hpp"
#include "proxy/responder.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

class Http2Stream;

/// The part of a connection that its streams use.
class Http2Link {
 public:
  explicit Http2Link(http2::Session& session) : session_(session) {}

  http2::Session& session() { return session_; }
  /// The head of a request is complete; called while the session receives.
  virtual void request_arrived(Http2Stream& stream) = 0;
  /// The session has closed a stream; called while it receives or sends.
  virtual void stream_closed(Http2Stream& stream) = 0;
  /// Sends what the session has to send, at the end of this pass of the loop.
  virtual void schedule_output() = 0;

 protected:
  ~Http2Link() = default;

 private:
  http2::Session& session_;
};

/// The body of a request. Its bytes arrive whether or not they are awaited; the window of the
/// stream bounds them.
class Http2RequestBody final : public RequestBody {
 public:
  Http2RequestBody(Http2Stream& stream, asio::io_context& io) : stream_(stream), arrival_(io) {}

  /// Prepares for a request, whose head has not arrived.
  void clear();
  /// The head has arrived, and perhaps a part of the body. `is_tunnel`: what arrives is no body.
  void begin(bool is_tunnel);
  void add(std::string_view bytes);
  void notify() { arrival_.notify(); }
  std::size_t capacity() const { return bytes_.capacity(); }

  BodyState pull(std::string_view& piece) override;
  loop::Task<error_code> fill() override;
  void cancel() override { arrival_.cancel(); }
  void keep_trailers(http::Trailers& trailers) override { trailers_ = &trailers; }
  void keep(std::size_t most) override { keep_most_ = most; }
  bool is_kept() const override { return is_kept_; }
  bool can_keep_more() const override { return is_kept_ && bytes_.size() < keep_most_; }
  void rewind() override;
  bool client_has_left() override;

 private:
  Http2Stream& stream_;
  loop::Event arrival_;
  std::string bytes_;           ///< that have arrived, without those that were dropped
  std::size_t at_ = 0;          ///< the next one to pull
  std::size_t unconsumed_ = 0;  ///< at their end: not yet given back to the windows
  std::size_t keep_most_ = 0;
  bool is_kept_ = true;
  http::Trailers* trailers_ = nullptr;
};

/// The response. Its bytes wait here until the windows of the client take them.
class Http2Responder final : public Responder {
 public:
  Http2Responder(Http2Stream& stream, asio::io_context& io) : stream_(stream), departure_(io) {}

  void begin_request(const http::ReceivedRequest& request, const options::Proxy& options);
  std::size_t read(char* to, std::size_t most);
  bool has_ended() const { return is_ended_ && left() == 0; }
  const http::FieldSection& trailers() const { return trailers_; }
  void notify() { departure_.notify(); }
  void cancel() { departure_.cancel(); }
  std::size_t capacity() const { return bytes_.capacity(); }

  loop::Task<> answer(OwnAnswer answer) override;
  loop::Task<error_code> interim(const http::ResponseHead& head) override;
  void begin(const ForwardedAnswer& answer) override;
  bool append(std::string_view piece) override;
  void end(const http::FieldSection& trailers) override;
  bool send(error_code& ec) override;
  loop::Task<error_code> flush() override;
  /// As flush(), without a deadline of its own.
  loop::Task<error_code> drain() { return drain_to(resumed_at); }
  loop::Task<error_code> send_from_place(std::string_view piece) override;
  loop::Task<error_code> switch_protocols(const ForwardedAnswer& answer) override;
  loop::Task<bool> tunnel(TunnelEnd upstream) override;
  void reset() override;

 private:
  /// Bytes that may wait before the exchange has to, and those that are left when it continues.
  static constexpr std::size_t most_waiting = 4 * gather_limit;
  static constexpr std::size_t resumed_at = gather_limit;

  http::ClientHop hop(const http::FieldSection* limit_fields) const;
  std::size_t left() const { return bytes_.size() - at_ + placed_.size(); }
  loop::Task<error_code> drain_to(std::size_t most);

  Http2Stream& stream_;
  loop::Event departure_;
  const http::ReceivedRequest* request_ = nullptr;
  const options::Downstream* limits_ = nullptr;
  http::FieldSection fields_;  ///< of the head
  http::FieldSection trailers_;
  std::string bytes_;
  std::size_t at_ = 0;
  std::string_view placed_;    ///< after them: a piece that its owner keeps in place
  std::size_t uncounted_ = 0;  ///< bytes that send() adds to bytes_sent_
  std::size_t interims_ = 0;   ///< interim responses so far
  bool head_is_due_ = false;
  bool head_has_left_ = false;
  bool is_grpc_ = false;   ///< the response is that to a gRPC call
  bool is_ended_ = false;  ///< nothing is added any more
  bool is_cut_ = false;    ///< the stream is reset after the bytes that are left
};

class Http2Stream final : public http2::Stream, public loop::Cancellable {
 public:
  explicit Http2Stream(Context& context);
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  /// Prepares for a request on this connection.
  void take(Http2Link& link);
  /// Serves the request whose head is complete.
  loop::Task<> serve(ClientConnection& client);
  /// The exchange has ended with an exception.
  void give_up();
  /// The connection has ended.
  void lose();
  /// True if nothing can be received or sent.
  bool is_gone() const { return is_closed() || is_lost_; }
  /// True if neither the exchange nor the session uses the stream.
  bool is_over() const { return !is_served_ && is_closed(); }
  bool is_served() const { return is_served_; }
  /// The bytes that its buffers have become large enough for.
  std::size_t buffer_size() const {
    return head().buffer_size() + body_.capacity() + responder_.capacity();
  }
  bool has_own_upstreams() const { return exchange_.has_own_upstreams(); }

  Http2Link& link() { return *link_; }
  Context& context() { return context_; }
  Watchdog& watchdog() { return watchdog_; }
  Http2RequestBody& body() { return body_; }
  Http2Responder& responder() { return responder_; }

  void on_head() override { link_->request_arrived(*this); }
  void on_data(std::string_view bytes) override { body_.add(bytes); }
  void on_end() override { body_.notify(); }
  void on_closed() override;
  std::size_t read_output(char* to, std::size_t most) override { return responder_.read(to, most); }
  bool output_has_ended() const override { return responder_.has_ended(); }
  const http::FieldSection& output_trailers() const override { return responder_.trailers(); }

  void cancel() override;
  void close() override;
  /// Ends the waits of the exchange.
  void cancel_waits();

  std::size_t index = 0;  ///< in the list of the connection

 private:
  void leave();

  Context& context_;
  Http2Link* link_ = nullptr;
  Http2RequestBody body_;
  Http2Responder responder_;
  Watchdog watchdog_;
  Exchange exchange_;
  bool is_served_ = false;  ///< its exchange has not ended
  bool is_lost_ = false;    ///< it was given up, or its connection has ended
};

}  // namespace weir::proxy
