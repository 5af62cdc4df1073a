// A request on a shared connection of HTTP/2, and its response.
//
// The request waits here until the windows of the server take it; the windows that this side gives
// bound what waits of the response. Destroying the stream resets what is in progress. Used from its
// worker's loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/forwarded_head.hpp"
#include "http2/stream.hpp"
#include "loop/cancellable.hpp"
#include "loop/event.hpp"
#include "upstream/http2_connection.hpp"

namespace weir::upstream {

/// The memory of a stream. It is empty between two streams, and keeps its room.
struct Http2StreamMemory {
  http::HeaderList head;
  std::vector<http::FieldView> head_fields;
  std::string body;
  http::FieldSection request_fields;
  std::string output;

  /// Bytes that it has room for.
  std::size_t size() const {
    return head.buffer_size() + head_fields.capacity() * sizeof(http::FieldView) + body.capacity() +
           request_fields.buffer_size() + output.capacity();
  }
};

class Http2Stream final : public http2::Stream, public loop::Cancellable {
 public:
  /// A head of a response. The fields are valid until the next head is taken.
  struct ReceivedHead {
    int status = 0;
    std::span<const http::FieldView> fields;
    bool has_body = false;    ///< bytes or trailers follow
    bool is_invalid = false;  ///< too large, or without a status of RFC 9110 section 15
  };

  /// `memory` outlives the stream.
  Http2Stream(asio::io_context& io, std::shared_ptr<Http2Connection> connection,
              Http2StreamMemory& memory);
  ~Http2Stream();
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  /// The fields of the request, which the caller adds before send().
  http::FieldSection& fields() { return memory_.request_fields; }
  /// Begins the request; what `pseudo` and `scheme` view must be valid until send().
  /// `ends_by_data`: a request without a body ends by an empty DATA frame.
  void begin(const http::RequestPseudoFields& pseudo, std::string_view scheme,
             bool ends_by_data = false);
  void append(std::string_view piece);
  void end(const http::FieldSection& trailers);
  /// Sends what was built. True: much of it waits, and flush() waits for the windows. The first
  /// call returns false: the server may answer before it has taken what has arrived.
  bool send(error_code& ec);
  loop::Task<error_code> flush();

  /// Takes the next head that has arrived. False: there is none.
  bool take_head(ReceivedHead& head);
  static constexpr std::size_t most_of_piece = 16 * 1024;
  /// Takes a piece of the body that has arrived; empty: there is none. Valid until fill().
  std::string_view take_body();
  /// Waits until something has arrived that was not taken, or the response has ended or is
  /// malformed.
  loop::Task<error_code> fill();
  bool has_unread() const;
  /// True if the server broke the protocol, on this stream or on the connection.
  bool is_malformed() const;
  /// True if the server has not processed the request.
  bool was_refused() const;
  /// True if the connection has ended and nothing has arrived on it since the request was sent: the
  /// server may have closed it before.
  bool met_the_end() const;
  /// The response has not arrived in time. A connection on which nothing at all has arrived since
  /// the request was sent takes no more of them.
  void timed_out();

  void on_head() override;
  void on_data(std::string_view bytes) override;
  void on_end() override { arrival_.notify(); }
  /// Also called when the connection has ended.
  void on_closed() override;
  std::size_t read_output(char* to, std::size_t most) override;
  bool output_has_ended() const override { return is_output_ended_ && left() == 0; }
  const http::FieldSection& output_trailers() const override { return output_trailers_; }

  void cancel() override;
  void close() override;

 private:
  /// Bytes that may wait before the request has to, and those that are left when it continues.
  static constexpr std::size_t most_waiting = 64 * 1024;
  static constexpr std::size_t resumed_at = 16 * 1024;

  std::size_t left() const { return memory_.output.size() - output_at_; }
  bool is_gone() const { return is_closed() || connection_->is_lost(); }

  const std::shared_ptr<Http2Connection> connection_;
  Http2StreamMemory& memory_;
  loop::Event arrival_;
  loop::Event departure_;
  http::RequestPseudoFields pseudo_;
  std::string_view scheme_;
  std::size_t output_at_ = 0;
  http::FieldSection output_trailers_;
  bool ends_by_data_ = false;
  bool is_open_ = false;
  bool is_output_ended_ = false;
  bool has_taken_final_ = false;
  std::vector<http::HeaderList> interims_;  ///< heads that were not taken
  bool has_final_ = false;                  ///< a final head was not taken
  http::HeaderList taken_;                  ///< the views of the last interim head
  std::size_t body_at_ = 0;
  std::uint64_t received_before_ = 0;  ///< on the connection, when the request was sent
  std::uint64_t looks_before_ = 0;     ///< Http2Connection::looks, likewise
};

}  // namespace weir::upstream
