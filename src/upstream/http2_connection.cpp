#include "upstream/http2_connection.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "upstream/http2_stream.hpp"

namespace weir::upstream {
namespace {

/// Bytes that are passed to the socket at once.
constexpr std::size_t http2_output_size = 64 * 1024;

}  // namespace

void Http2Connection::start() {
  loop::spawn(io_, read_all(shared_from_this()));
  schedule_output();
}

void Http2Connection::add(Http2Stream& stream) {
  streams_.push_back(&stream);
}

void Http2Connection::remove(Http2Stream& stream) {
  std::erase(streams_, &stream);
  if (is_idle() && (closes_when_idle_ || session_.is_ending())) lose();
}

void Http2Connection::close_when_idle() {
  closes_when_idle_ = true;
  session_.begin_drain();
  if (is_idle()) lose();
}

/// `self` keeps the connection alive until the reader has ended.
loop::Task<> Http2Connection::read_all([[maybe_unused]] std::shared_ptr<Http2Connection> self) {
  try {
    loop::InputBuffer& input = connection_->input;
    while (!is_lost_) {
      error_code ec;
      const auto room = asio::buffer(input.free_begin(), input.free_size());
      const std::size_t size = co_await connection_->stream.read(room, ec);
      if (ec) break;
      received_ += size;
      if (!session_.receive({input.free_begin(), size})) {
        is_invalid_ = true;
        write();  // the reason, in a GOAWAY
        break;
      }
      if (session_.has_settings()) settle();
      if (is_idle() && session_.is_ending()) break;
      schedule_output();
    }
  } catch (const std::exception&) {  // no memory
  }
  lose();
}

void Http2Connection::schedule_output() {
  if (is_output_due_ || is_lost_) return;
  try {
    asio::post(io_, [self = shared_from_this()] {
      self->is_output_due_ = false;
      self->write();
    });
    is_output_due_ = true;
  } catch (const std::exception&) {  // no memory
    lose();
  }
}

/// Sends until the session has nothing to send, or the socket takes no more. After a GOAWAY because
/// of an error of the server nothing is received any more.
void Http2Connection::write() {
  try {
    write_output();
  } catch (const std::exception&) {  // no memory
    lose();
  }
}

void Http2Connection::write_output() {
  loop::Stream& stream = connection_->stream;
  error_code ec;
  while (!is_flushing_ && !is_lost_ && !ec && session_.has_output()) {
    output_.clear();
    if (!session_.append_output(output_, http2_output_size)) return lose();
    if (output_.empty()) break;
    stream.try_write(output_, ec);
    if (!ec && stream.has_unsent()) {
      is_flushing_ = true;
      loop::spawn(io_, flush(shared_from_this()));
    }
  }
  const bool ends = !is_flushing_ && !session_.wants_input();
  is_invalid_ |= ends && !session_.is_ending();
  if (ec || ends) lose();
}

loop::Task<> Http2Connection::flush([[maybe_unused]] std::shared_ptr<Http2Connection> self) {
  const error_code ec = co_await connection_->stream.flush();
  is_flushing_ = false;
  ec ? lose() : write();
}

void Http2Connection::settle() {
  if (const auto settled = std::exchange(when_settled, nullptr)) settled();
}

void Http2Connection::lose() {
  if (is_lost_) return;
  is_lost_ = true;
  connection_->stream.close();
  connection_->descriptor = {};
  settle();
  for (Http2Stream* const stream : streams_)
    stream->on_closed();
}

}  // namespace weir::upstream
