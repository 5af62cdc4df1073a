// A message body of HTTP/1 as it arrives: decoded payload, piece by piece, from a stream's flat
// buffer.
//
// Bounded by the buffer: nothing is read before the last piece has been used, so a slow receiver
// holds the sender back. Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/chunked.hpp"
#include "http/framing.hpp"
#include "proxy/body_state.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/kept_body.hpp"
#include "proxy/stream.hpp"
#include "proxy/trailers.hpp"

namespace weir::proxy {

class BodySource {
 public:
  BodySource(Stream& stream, InputBuffer& input, http::Framing framing)
      : stream_(stream), input_(&input), framing_(framing) {}

  /// Trailer fields go there; without it they are dropped.
  void keep_trailers(Trailers& trailers) { trailers_ = &trailers; }
  /// The lines of the trailer fields kept, once the body has ended.
  std::string_view trailer_lines() const {
    return trailers_ == nullptr ? std::string_view{} : trailers_->lines();
  }
  /// The next piece of what has already arrived. No I/O.
  BodyState pull(std::string_view& payload);
  /// Keeps the bytes read from now on for another try, while `kept` has room.
  void keep(KeptBody& kept) { kept_ = &kept; }
  /// Reads from another buffer from now on. The rest of a piece that is not complete yet, a trailer
  /// line, is moved there; returns its size.
  std::size_t continue_in(InputBuffer& input) {
    const std::size_t moved = input_->data().size();
    input.append(input_->data());
    input_->consume(moved);
    input_ = &input;
    return moved;
  }
  /// Reads what the stream has. An end of stream is the end of a body delimited by it, and an error
  /// otherwise.
  Task<error_code> fill();

 private:
  BodyState pull_counted(std::string_view& payload);
  BodyState pull_chunked(std::string_view& payload);
  void make_room();

  Stream& stream_;
  InputBuffer* input_;
  http::Framing framing_;
  http::ChunkedDecoder decoder_;
  Trailers* trailers_ = nullptr;
  KeptBody* kept_ = nullptr;
  bool ended_ = false;
  bool last_was_full_ = false;
};

}  // namespace weir::proxy
