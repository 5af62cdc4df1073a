// The request body on its way to the upstream. The part that has arrived is sent with the head; the
// rest is sent concurrently with the response (docs/adr/0009-upload-beside-the-answer.md).
//
// Used from its worker's loop only. Once started, it must have ended before it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>

#include "http/trailers.hpp"
#include "loop/io.hpp"
#include "proxy/forward_phase.hpp"
#include "proxy/interruption.hpp"
#include "proxy/upstream_stream.hpp"

namespace weir::proxy {

class Upload {
 public:
  explicit Upload(const ForwardPhase& phase);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  /// The value of the Trailer field to send; empty: none.
  std::string_view announced_trailers() const { return trailers_.announced(); }
  /// Appends the part of the body that has arrived, and ends the request if that is all of it.
  void append_arrived(UpstreamStream& upstream);
  /// Starts sending the rest; a failure cancels the wait on `upstream`.
  void start(UpstreamStream& upstream);
  /// True if the server has waited for the client's body for at least a second.
  bool is_held_back() const;
  /// Ends the upload, because the response is complete or there will be none, and waits for that.
  loop::Task<> end();
  /// Keeps the exception being handled until the upload has ended.
  void keep_exception() { thrown_ = std::current_exception(); }
  bool has_thrown() const { return thrown_ != nullptr; }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

  /// True if the whole request has been sent on the upstream connection.
  bool is_sent() const { return is_sent_; }
  const UploadState& state() const { return state_; }

 private:
  BodyState append_body(UpstreamStream& upstream, std::size_t most);
  loop::Task<> run(UpstreamStream& upstream);
  loop::Task<> send_rest(UpstreamStream& upstream);

  const ForwardPhase& phase_;
  RequestBody& body_;
  Watchdog& watchdog_;
  http::Trailers trailers_;
  UploadState state_;
  bool is_sent_ = false;
  bool is_unwanted_ = false;    ///< stop: the rest is not wanted any more
  std::uint64_t began_at_ = 0;  ///< tick of the first wait for the client
  std::exception_ptr thrown_;
  UpstreamStream* upstream_ = nullptr;
  std::optional<loop::Timer> ended_;
};

}  // namespace weir::proxy
