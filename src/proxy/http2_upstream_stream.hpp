// A request on a connection of HTTP/2 to a server, which other requests share (RFC 9113).
//
// Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "loop/task.hpp"
#include "proxy/context.hpp"
#include "proxy/forward_phase.hpp"
#include "proxy/upstream_stream.hpp"
#include "upstream/http2_stream.hpp"

namespace weir::proxy {

class Http2UpstreamStream final : public UpstreamStream {
 public:
  /// `phase` outlives the stream. `was_used`: the connection was not opened for this request.
  Http2UpstreamStream(const ForwardPhase& phase,
                      std::shared_ptr<upstream::Http2Connection> connection, bool is_secure,
                      bool was_used)
      : phase_(phase),
        connection_(*connection),
        memory_(phase.context),
        stream_(phase.context.io, std::move(connection), *memory_.memory),
        is_secure_(is_secure),
        was_used_(was_used) {}

  /// Each request makes one, so its memory is reused like that of a task.
  static void* operator new(std::size_t size) { return loop::FrameRoom::take(size); }
  static void operator delete(void* room, std::size_t size) noexcept {
    loop::FrameRoom::give_back(room, size);
  }

  void begin(const http::ReceivedRequest& request, const http::ForwardedHop& hop) override;
  void append(std::string_view piece) override { stream_.append(piece); }
  void end(const http::FieldSection& trailers) override { stream_.end(trailers); }
  bool send(error_code& ec) override { return stream_.send(ec); }
  loop::Task<error_code> flush() override { return stream_.flush(); }

  HeadState take_head(Head& head) override;
  void keep_trailers(http::Trailers& trailers) override { trailers_ = &trailers; }
  BodyState pull(std::string_view& piece) override;
  loop::Task<error_code> fill() override { return stream_.fill(); }
  bool has_unread() const override { return stream_.has_unread(); }

  upstream::Connection* upgraded() override { return nullptr; }
  bool was_used() const override { return was_used_ && stream_.met_the_end(); }
  bool was_refused() const override { return stream_.was_refused(); }
  Cut cut() const override;
  std::string_view tls_error() const override { return {}; }
  void timed_out() override { stream_.timed_out(); }
  void finish(bool /*is_sent*/) override {}

  void cancel() override { stream_.cancel(); }
  void close() override { stream_.close(); }

 private:
  struct BorrowedMemory {
    explicit BorrowedMemory(Context& its_context)
        : context(its_context), memory(its_context.take_upstream_memory()) {}
    ~BorrowedMemory() { context.give_back(std::move(memory)); }
    BorrowedMemory(const BorrowedMemory&) = delete;
    BorrowedMemory& operator=(const BorrowedMemory&) = delete;

    Context& context;
    std::unique_ptr<upstream::Http2StreamMemory> memory;
  };

  const ForwardPhase& phase_;
  upstream::Http2Connection& connection_;  ///< the stream keeps it alive
  BorrowedMemory memory_;                  ///< declared before its user
  upstream::Http2Stream stream_;
  upstream::Http2Stream::ReceivedHead received_;
  http::Trailers* trailers_ = nullptr;
  const bool is_secure_;
  const bool was_used_;
};

}  // namespace weir::proxy
