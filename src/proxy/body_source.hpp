// An HTTP/1 message body as it arrives: decoded payload, piece by piece, from the flat buffer of a
// stream.
//
// Bounded by the buffer: nothing is read before the last piece has been used, so a slow receiver
// slows the sender down. Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/chunked.hpp"
#include "http/framing.hpp"
#include "http/trailers.hpp"
#include "loop/input_buffer.hpp"
#include "loop/stream.hpp"
#include "proxy/kept_body.hpp"
#include "proxy/request_body.hpp"

namespace weir::proxy {

class BodySource {
 public:
  BodySource(loop::Stream& stream, loop::InputBuffer& input, http::Framing framing)
      : stream_(stream), input_(&input), framing_(framing) {}

  /// Stores trailer fields in `trailers`; without this call they are dropped.
  void keep_trailers(http::Trailers& trailers) { trailers_ = &trailers; }
  /// The stored trailer fields, once the body has ended.
  const http::FieldSection& trailers() const {
    return trailers_ == nullptr ? http::no_fields : trailers_->fields();
  }
  /// Returns the next piece of the bytes that have already arrived. No I/O.
  BodyState pull(std::string_view& payload);
  /// From now on keeps the bytes that are read for another try, while `kept` has room.
  void keep(KeptBody& kept) { kept_ = &kept; }
  /// Reads from another buffer from now on. Moves the rest of an incomplete piece, such as a
  /// trailer line, there; returns its size.
  std::size_t continue_in(loop::InputBuffer& input) {
    const std::size_t moved = input_->data().size();
    input.append(input_->data());
    input_->consume(moved);
    input_ = &input;
    return moved;
  }
  /// Reads what the stream has. An end of stream ends a body that is delimited by it; otherwise it
  /// is an error.
  loop::Task<error_code> fill();
  /// True if the bytes before the last fill() were many small chunks: those that it has read may
  /// take long, too.
  bool has_small_chunks() const { return has_small_chunks_; }

 private:
  BodyState pull_counted(std::string_view& payload);
  BodyState pull_chunked(std::string_view& payload);
  void make_room();

  loop::Stream& stream_;
  loop::InputBuffer* input_;
  http::Framing framing_;
  http::ChunkedDecoder decoder_;
  http::Trailers* trailers_ = nullptr;
  KeptBody* kept_ = nullptr;
  bool ended_ = false;
  bool last_was_full_ = false;
  bool has_small_chunks_ = false;
  std::size_t pieces_ = 0;  ///< since the last fill()
};

}  // namespace weir::proxy
