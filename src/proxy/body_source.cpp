#include "proxy/body_source.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {
namespace {

constexpr std::size_t large_buffer = 64 * 1024;
/// Chunks in the bytes of one fill(), beyond which they are small.
constexpr std::size_t few_chunks = 256;

}  // namespace

BodyState BodySource::pull(std::string_view& payload) {
  payload = {};
  if (ended_) return BodyState::ended;
  return framing_.kind == http::Framing::Kind::chunked ? pull_chunked(payload)
                                                       : pull_counted(payload);
}

BodyState BodySource::pull_counted(std::string_view& payload) {
  payload = input_->data();
  if (framing_.kind != http::Framing::Kind::until_close) {
    payload = payload.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(framing_.length, payload.size())));
    framing_.length -= payload.size();
    ended_ = framing_.length == 0;
  }
  input_->consume(payload.size());
  if (!payload.empty()) return BodyState::payload;
  return ended_ ? BodyState::ended : BodyState::exhausted;
}

BodyState BodySource::pull_chunked(std::string_view& payload) {
  for (;;) {
    const auto step = decoder_.next(input_->data());
    input_->consume(step.consumed);
    switch (step.event) {
      case http::ChunkedDecoder::Event::payload:
        ++pieces_;
        payload = step.payload;
        return BodyState::payload;
      case http::ChunkedDecoder::Event::trailer:
        if (trailers_ != nullptr) trailers_->add(step.trailer);
        break;
      case http::ChunkedDecoder::Event::need_more:
        return BodyState::exhausted;
      case http::ChunkedDecoder::Event::malformed:
        return BodyState::malformed;
      case http::ChunkedDecoder::Event::done:
        ended_ = true;
        return BodyState::ended;
    }
  }
}

void BodySource::make_room() {
  if (kept_ != nullptr && kept_->make_room(*input_)) return;
  // A source that fills the buffer in one read has more to send: use fewer, larger reads.
  const bool is_large = last_was_full_ && !has_small_chunks_;
  input_->make_room(
      is_large ? large_buffer
               : std::max(input_->capacity(), 2 * http::ChunkedDecoder::trailer_line_limit));
  if (is_large) input_->grow(large_buffer);
}

loop::Task<error_code> BodySource::fill() {
  error_code ec;
  has_small_chunks_ = std::exchange(pieces_, 0) > few_chunks;
  make_room();
  const std::size_t room = input_->free_size();
  const std::size_t n = co_await stream_.read(asio::buffer(input_->free_begin(), room), ec);
  input_->commit(n);
  if (kept_ != nullptr) kept_->add(n);
  last_was_full_ = n == room;
  if (ec == asio::error::eof && framing_.kind == http::Framing::Kind::until_close) {
    ended_ = true;
    ec = {};
  }
  co_return ec;
}

}  // namespace weir::proxy
