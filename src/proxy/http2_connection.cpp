#include "proxy/http2_connection.hpp"

#include <exception>
#include <utility>

#include "proxy/context.hpp"

namespace weir::proxy {
namespace {

/// The time in which requests that are on their way to a draining connection are still taken.
constexpr Duration http2_drain_grace = std::chrono::seconds(1);
/// Bytes that are passed to the socket at once.
constexpr std::size_t output_size = 64 * 1024;

/// Bytes of a read. A connection that sends without end gives way to others after each of them.
constexpr std::size_t input_size = 16 * 1024;
/// The requests that begin in a turn, and the bytes of their fields. A connection that has sent
/// more continues in its next turn: see Context::bursts.
constexpr std::size_t heads_at_once = 8;
constexpr std::size_t heads_at_first = 2;  ///< of a new connection
constexpr std::size_t fields_at_once = 32 * 1024;
/// Bytes of a turn of a client that makes faults.
constexpr std::size_t session_piece_size = 2 * 1024;

/// Awaitable: stores the task for someone who resumes it.
struct Parked {
  loop::Suspended& place;
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) noexcept {
    place = loop::Suspended(task);
  }
  void await_resume() const noexcept {}
};

http2::SessionOptions session_options(const options::Downstream& downstream) {
  return {.max_streams = downstream.http2.max_streams,
          .glitches = downstream.http2.glitches,
          .max_head = downstream.max_head,
          .heads_at_once = heads_at_once,
          .fields_at_once = fields_at_once,
          .heads_at_first = heads_at_first,
          .piece_size = session_piece_size};
}

}  // namespace

Http2Connection::Http2Connection(ClientConnection& client)
    : Http2Link(session_),
      client_(client),
      session_(*this, session_options(client.context.generation->options.downstream)),
      most_streams_(client.context.generation->options.downstream.http2.max_streams),
      ended_(client.context.io.get_executor(), loop::Timer::time_point::max()) {
  context().counters.http2.connections.add(1);
}

Http2Connection::~Http2Connection() {
  Http2Counters& counters = context().counters.http2;
  counters.connections.add(-1);
  if (session_.was_given_up()) counters.given_up.add();
}

loop::Task<> Http2Connection::run() {
  is_writing_ = true;
  loop::spawn(context().io, write_all());
  if (client_.is_draining()) drain();
  schedule_output();
  std::exception_ptr thrown;
  try {
    co_await read_all();
  } catch (...) {  // the streams refer to this object: they must end first
    thrown = std::current_exception();
    client_.stream.reset();
  }
  begin_end();
  error_code ignored;
  while (served_ != 0 || is_writing_)
    co_await ended_.async_wait(loop::into(ignored));
  if (thrown) std::rethrow_exception(thrown);
}

/// Returns when the connection ends, or all that was left to do is done.
loop::Task<> Http2Connection::read_all() {
  Watchdog& watchdog = client_.watchdog;
  loop::InputBuffer& input = client_.input;
  watchdog.arm(Phase::idle, context().generation->options.downstream.idle_timeout);
  bool goes_on = input.empty() || take(input.data());
  bool is_full = false;  // the last read: the client sends faster than its bytes are taken
  input.consume(input.data().size());
  context().give_back_head_buffer(input.release());
  while (goes_on && !session_.is_over()) {
    if (is_full || session_.has_paused()) {
      co_await context().bursts.next();
      if (watchdog.aborted() || !client_.stream.is_open()) break;
      is_full = false;
      if (session_.has_paused()) {
        goes_on = take_rest();
        continue;
      }
    }
    watch();
    if (watchdog.aborted() || (watchdog.timed_out() && !take_deadline())) break;
    const auto scratch = context().tunnel_scratch().first(input_size);
    error_code ec;
    const std::size_t size = co_await client_.stream.read(
        asio::buffer(scratch.data(), scratch.size()), ec, loop::ReadTime::last);
    if (ec == asio::error::operation_aborted && watchdog.timed_out()) continue;
    if (ec) break;
    is_full = size == scratch.size();
    goes_on = take({scratch.data(), size});
  }
}

/// False: the connection is to end. Keeps the bytes that the session leaves.
bool Http2Connection::take(std::string_view bytes) {
  const bool goes_on = receive(bytes);
  if (session_.has_paused()) {
    rest_ = context().take_body_buffer();
    rest_->append(bytes.substr(session_.taken()));
  }
  return goes_on;
}

/// The same for the bytes that were kept.
bool Http2Connection::take_rest() {
  const bool goes_on = receive(rest_->data());
  rest_->consume(session_.taken());
  if (!session_.has_paused()) context().give_back(std::move(rest_));
  return goes_on;
}

bool Http2Connection::receive(std::string_view bytes) {
  const bool goes_on = session_.receive(bytes);
  count_glitches();
  serve_begun();
  schedule_output();
  return goes_on;
}

/// A connection without streams is idle, and a head must arrive in time. A stream has a deadline of
/// its own.
void Http2Connection::watch() {
  Watchdog& watchdog = client_.watchdog;
  const options::Downstream& limits = context().generation->options.downstream;
  const bool is_idle = streams_.empty() || draining_ == Draining::announced;
  const Phase phase = session_.awaits_head() ? Phase::head : is_idle ? Phase::idle : Phase::relay;
  if (watchdog.phase() == phase) return;
  if (phase == Phase::relay) {
    watchdog.forget_timeout();
    return watchdog.disarm(phase);
  }
  const Duration idle = draining_ == Draining::no ? limits.idle_timeout : http2_drain_grace;
  watchdog.arm(phase, phase == Phase::head ? limits.head_timeout : idle);
}

/// False: the connection is to end.
bool Http2Connection::take_deadline() {
  if (draining_ == Draining::announced && !session_.awaits_head()) {
    draining_ = Draining::for_good;
    session_.end_drain();
    schedule_output();
    client_.watchdog.forget_timeout();
    client_.watchdog.disarm(Phase::relay);
    return !streams_.empty();
  }
  session_.terminate(session_.awaits_head() ? http2::ErrorCode::enhance_your_calm
                                            : http2::ErrorCode::none);
  return false;
}

http2::Stream* Http2Connection::open_stream() {
  if (streams_.size() >= most_streams_) return nullptr;
  streams_.push_back(context().take_http2_stream());
  Http2Stream& stream = *streams_.back();
  stream.index = streams_.size() - 1;
  stream.take(*this);
  return &stream;
}

void Http2Connection::stream_closed(Http2Stream& stream) {
  if (stream.is_served()) return;
  std::erase(begun_, &stream);
  release(stream);
}

void Http2Connection::release(Http2Stream& stream) {
  const std::size_t index = stream.index;
  std::swap(streams_[index], streams_.back());
  streams_[index]->index = index;
  context().give_back(std::move(streams_.back()));
  streams_.pop_back();
  if (streams_.empty() && !is_ending_) watch();  // the reader may wait without a deadline
}

/// A stream with a fault ends when its reset is written. That is done before requests begin, so
/// that none of a stream that is to be reset is served. False: the writer has to send first.
bool Http2Connection::end_faulty() {
  if (client_.stream.has_unsent()) return false;
  error_code ec;
  if (session_.has_output()) send_output(ec);
  if (ec) client_.stream.close();  // ends the reader
  return !ec;
}

void Http2Connection::serve_begun() {
  if (begun_.empty()) return;
  if (session_.has_resets() && !end_faulty()) return;
  for (Http2Stream* const stream : begun_)
    loop::spawn(context().io, serve(*stream));
  begun_.clear();
}

/// An exception, caused by lack of memory or by a defect, ends this stream only.
loop::Task<> Http2Connection::serve(Http2Stream& stream) {
  ++served_;
  try {
    co_await stream.serve(client_);
  } catch (const std::exception& thrown) {
    context().warn_of(thrown, "a stream was given up");
    stream.give_up();
  }
  --served_;
  has_own_upstreams_ |= stream.has_own_upstreams();
  if (stream.is_over()) release(stream);
  if (is_ending_ && served_ == 0) ended_.cancel();
}

void Http2Connection::count_glitches() {
  const std::size_t total = session_.glitches().total();
  context().counters.http2.glitches.add(total - std::exchange(counted_glitches_, total));
}

void Http2Connection::schedule_output() {
  is_output_due_ = true;
  if (writer_.is_waiting()) std::exchange(writer_, {}).resume();
}

loop::Task<> Http2Connection::write_all() {
  error_code ec;
  try {
    while (!ec && (is_output_due_ || !is_ending_)) {
      if (!is_output_due_) co_await Parked{writer_};
      co_await context().turns.next();
      is_output_due_ = false;
      ec = co_await write_output();
      if (!ec && !is_ending_) serve_begun();
      if (!is_ending_ && session_.is_over()) client_.stream.cancel();  // the reader
    }
  } catch (const std::exception& thrown) {
    context().warn_of(thrown, "a connection was given up");
    ec = asio::error::no_memory;
  }
  if (ec) client_.stream.close();  // ends the reader, too
  is_writing_ = false;
  if (is_ending_) ended_.cancel();
}

/// Passes what is due to the socket, up to `output_size` bytes. False: there was nothing.
bool Http2Connection::send_output(error_code& ec) {
  std::string& out = context().output;
  out.clear();
  if (!session_.append_output(out, output_size)) {
    ec = asio::error::no_memory;
    return false;
  }
  count_glitches();
  if (!out.empty()) client_.stream.try_write(out, ec);
  return !out.empty();
}

/// Sends until the session has nothing to send.
loop::Task<error_code> Http2Connection::write_output() {
  error_code ec;
  loop::Stream& stream = client_.stream;
  while (!ec && (stream.has_unsent() || session_.has_output())) {
    if (!stream.has_unsent() && !send_output(ec)) break;
    while (!ec && stream.has_unsent()) {
      writing_.arm(Phase::body, context().generation->options.downstream.body_timeout);
      ec = co_await stream.flush();
      writing_.disarm(Phase::body);
      // A deadline of the reader does not end the writer, until the end is due.
      const bool is_late = is_ending_ && client_.watchdog.timed_out();
      if (ec == asio::error::operation_aborted && stream.is_open() && !is_late) ec = {};
    }
  }
  co_return ec;
}

/// Ends what uses this object; the writer sends what is left.
void Http2Connection::begin_end() {
  for (const auto& stream : streams_)
    stream->lose();
  is_ending_ = true;
  client_.watchdog.arm(Phase::linger, http2_drain_grace);
  schedule_output();
}

void Http2Connection::drain() {
  if (draining_ != Draining::no) return;
  draining_ = Draining::announced;
  session_.begin_drain();
  schedule_output();
  if (client_.watchdog.phase() != Phase::head) client_.watchdog.arm(Phase::idle, http2_drain_grace);
}

void Http2Connection::abort() {
  for (const auto& stream : streams_)
    stream->watchdog().abort();
  client_.watchdog.abort();
}

}  // namespace weir::proxy
