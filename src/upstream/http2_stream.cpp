#include "upstream/http2_stream.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {
namespace {

const error_code server_gone = asio::error::connection_reset;

constexpr std::size_t most_kept_interims = 32;
/// Looks at a connection, one a second, in which a request may be without an answer.
constexpr std::uint64_t patient_looks = 2;

/// nghttp2 has checked that it has three digits.
int status_of(const http::HeaderList& head) {
  int status = 0;
  for (const char digit : head.status())
    status = 10 * status + (digit - '0');
  return status;
}

}  // namespace

Http2Stream::Http2Stream(asio::io_context& io, std::shared_ptr<Http2Connection> connection,
                         Http2StreamMemory& memory)
    : connection_(std::move(connection)), memory_(memory), arrival_(io), departure_(io) {
  std::swap(head(), memory_.head);
  connection_->add(*this);
}

Http2Stream::~Http2Stream() {
  if (is_open_ && !is_closed()) {
    connection_->session().forget(*this, http2::ErrorCode::cancel);
    connection_->schedule_output();
    if (connection_->looks - looks_before_ >= patient_looks) timed_out();
  }
  connection_->remove(*this);
  std::swap(head(), memory_.head);
  memory_.head_fields.clear();
  memory_.body.clear();
  memory_.request_fields.clear();
  memory_.output.clear();
}

void Http2Stream::begin(const http::RequestPseudoFields& pseudo, std::string_view scheme,
                        bool ends_by_data) {
  pseudo_ = pseudo;
  scheme_ = scheme;
  ends_by_data_ = ends_by_data;
}

/// Bytes that were sent are dropped here, also if there are always some left.
void Http2Stream::append(std::string_view piece) {
  memory_.output.erase(0, std::exchange(output_at_, 0));
  memory_.output.append(piece);
}

void Http2Stream::end(const http::FieldSection& trailers) {
  is_output_ended_ = true;
  output_trailers_.add(trailers);
}

bool Http2Stream::send(error_code& ec) {
  http2::ClientSession& session = connection_->session();
  if (!is_open_) {
    const bool has_body =
        ends_by_data_ || !is_output_ended_ || left() > 0 || !output_trailers_.empty();
    received_before_ = connection_->received();
    looks_before_ = connection_->looks;
    is_open_ = !connection_->is_lost() &&
               session.open(*this, pseudo_, scheme_, memory_.request_fields, has_body);
    if (!is_open_) ec = server_gone;
    connection_->schedule_output();
    return false;
  }
  session.resume(*this);
  if (is_gone()) ec = server_gone;
  connection_->schedule_output();
  return !ec && left() > most_waiting;
}

loop::Task<error_code> Http2Stream::flush() {
  while (left() > resumed_at) {
    if (is_gone()) co_return server_gone;
    if (const error_code ec = co_await departure_.wait()) co_return ec;
  }
  co_return error_code{};
}

std::size_t Http2Stream::read_output(char* to, std::size_t most) {
  const std::size_t size = std::min(most, left());
  memory_.output.copy(to, size, output_at_);
  output_at_ += size;
  if (left() == 0) {
    memory_.output.clear();
    output_at_ = 0;
  }
  if (left() <= resumed_at) departure_.notify();
  return size;
}

/// Called for each head; the next one would overwrite an interim head.
void Http2Stream::on_head() {
  const bool is_final = !head().status().starts_with('1');
  if (is_final) {
    has_final_ = true;
  } else if (interims_.size() < most_kept_interims) {
    interims_.push_back(std::move(head()));
  }
  arrival_.notify();
}

void Http2Stream::on_data(std::string_view bytes) {
  memory_.body.append(bytes);
  arrival_.notify();
}

bool Http2Stream::take_head(ReceivedHead& received) {
  http::HeaderList* list = nullptr;
  if (!interims_.empty()) {
    taken_ = std::move(interims_.front());
    interims_.erase(interims_.begin());
    list = &taken_;
  } else if (has_final_) {
    has_final_ = false;
    has_taken_final_ = true;
    list = &head();
  }
  if (list == nullptr) return false;
  received.status = status_of(*list);
  const bool is_status = received.status >= 100 && received.status < 600;
  received.is_invalid = list->is_too_large() || !is_status;
  list->finish(memory_.head_fields);
  received.fields = memory_.head_fields;
  received.has_body = !has_ended() || !memory_.body.empty() || !trailers().empty();
  return true;
}

std::string_view Http2Stream::take_body() {
  const auto piece = std::string_view(memory_.body).substr(body_at_, most_of_piece);
  body_at_ += piece.size();
  if (!piece.empty() && !is_closed()) {
    connection_->session().consume(*this, piece.size());
    connection_->schedule_output();  // an update of the windows
  }
  return piece;
}

loop::Task<error_code> Http2Stream::fill() {
  memory_.body.erase(0, std::exchange(body_at_, 0));
  while (!has_unread() && !(has_ended() && has_taken_final_)) {
    if (is_malformed()) break;
    if (is_gone() || has_ended()) co_return server_gone;
    if (const error_code ec = co_await arrival_.wait()) co_return ec;
  }
  co_return error_code{};
}

bool Http2Stream::has_unread() const {
  return !interims_.empty() || has_final_ || body_at_ < memory_.body.size();
}

bool Http2Stream::is_malformed() const {
  if (connection_->is_invalid() && !has_ended()) return true;
  // A GOAWAY closes streams also if the server has begun to answer them.
  return is_closed() && !has_ended() && !was_reset() && !http2::was_refused(*this);
}

bool Http2Stream::was_refused() const {
  if (has_unread() || has_taken_final_) return false;
  return http2::was_refused(*this) || !is_open_ || (connection_->is_lost() && !was_sent());
}

bool Http2Stream::met_the_end() const {
  return connection_->is_lost() && !was_reset() && connection_->received() == received_before_;
}

void Http2Stream::timed_out() {
  if (connection_->received() == received_before_) connection_->close_when_idle();
}

void Http2Stream::on_closed() {
  arrival_.notify();
  departure_.notify();
}

void Http2Stream::cancel() {
  arrival_.cancel();
  departure_.cancel();
}

void Http2Stream::close() {
  if (is_open_ && !is_closed()) {
    connection_->session().reset(*this, http2::ErrorCode::cancel);
    connection_->schedule_output();
  }
  cancel();
}

}  // namespace weir::upstream
