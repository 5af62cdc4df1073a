// One downstream connection of HTTP/2: passes bytes between its socket and the session, and serves
// each stream by an exchange of its own.
//
// Two tasks: one reads, one writes at the end of a pass what the streams have to send, so that the
// responses of a pass leave in one call. Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "http2/session.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/http2_stream.hpp"

namespace weir::proxy {

class Http2Connection final : private http2::StreamSource, private Http2Link {
 public:
  /// The input of `client` has the bytes that have arrived. `client` outlives the connection.
  explicit Http2Connection(ClientConnection& client);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Serves the connection until it ends.
  loop::Task<> run();
  /// Called when the worker or the listener stops: no new streams, those in progress are finished.
  void drain();
  /// Ends all streams at once.
  void abort();
  /// True if faults of the client have ended the connection.
  bool has_failed() const { return session_.has_failed(); }
  /// True if an upstream connection was given back that only this client may reuse.
  bool has_own_upstreams() const { return has_own_upstreams_; }

 private:
  /// Closes the socket when a write takes too long.
  struct SocketEnd final : loop::Cancellable {
    explicit SocketEnd(loop::Stream& its_stream) : stream(its_stream) {}
    void cancel() override { stream.close(); }
    void close() override { stream.close(); }
    loop::Stream& stream;
  };

  enum class Draining : std::uint8_t {
    no,
    announced,  ///< requests that are on their way are still taken
    for_good
  };

  http2::Stream* open_stream() override;
  void request_arrived(Http2Stream& stream) override { begun_.push_back(&stream); }
  void stream_closed(Http2Stream& stream) override;
  void schedule_output() override;

  loop::Task<> read_all();
  bool take(std::string_view bytes);
  bool receive(std::string_view bytes);
  bool take_rest();
  void watch();
  bool take_deadline();
  bool end_faulty();
  void serve_begun();
  loop::Task<> serve(Http2Stream& stream);
  void release(Http2Stream& stream);
  void count_glitches();
  loop::Task<> write_all();
  bool send_output(error_code& ec);
  loop::Task<error_code> write_output();
  void begin_end();
  Context& context() { return client_.context; }

  ClientConnection& client_;
  http2::Session session_;
  std::vector<std::unique_ptr<Http2Stream>> streams_;
  std::vector<Http2Stream*> begun_;          ///< whose heads have arrived in this turn
  std::unique_ptr<loop::InputBuffer> rest_;  ///< while the session has paused: what it left
  std::size_t served_ = 0;                   ///< streams whose exchanges have not ended
  const std::size_t most_streams_;
  std::size_t counted_glitches_ = 0;
  loop::Suspended writer_;      ///< while there is nothing to write
  bool is_output_due_ = false;  ///< the writer is to look
  bool is_writing_ = false;     ///< the writer's task has not ended
  bool is_ending_ = false;
  Draining draining_ = Draining::no;
  bool has_own_upstreams_ = false;
  SocketEnd socket_end_{client_.stream};
  Watchdog writing_{client_.context.wheel, socket_end_};  ///< while the writer waits for the socket
  loop::Timer ended_;  ///< fires when the last exchange or the writer has ended
};

}  // namespace weir::proxy
