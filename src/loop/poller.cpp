#include "loop/poller.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>

namespace weir::loop {
namespace {

constexpr std::uint32_t hang_up_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t usual_events = EPOLLIN | EPOLLRDHUP | EPOLLET;

constexpr std::size_t index(Priority priority) {
  return static_cast<std::size_t>(priority);
}

}  // namespace

void PolledSocket::start(int descriptor, Direction role, Direction awaited,
                         PendingOperation& operation, Suspended task) {
  assert(waiting_[index(role)] == nullptr);
  operation.task_ = std::move(task);
  operation.role_ = role;
  operation.awaits_ = awaited;
  descriptor_ = descriptor;
  if (const error_code ec = register_for(awaited)) return fail(operation, ec);
  operation.socket_ = this;
  waiting_[index(role)] = &operation;
  poller_.operations_.push_back(operation);
  poller_.arm();
}

/// Room to write is reported only once it is waited for: otherwise each new socket has an event.
error_code PolledSocket::register_for(Direction awaited) {
  const std::uint32_t room = awaited == Direction::write ? std::uint32_t{EPOLLOUT} : 0;
  const std::uint32_t wanted = events_ | usual_events | room;
  if (wanted == events_) return {};
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = this;
  const int change = events_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(poller_.epoll_.native_handle(), change, descriptor_, &event) != 0)
    return {errno, boost::system::system_category()};
  events_ = wanted;
  return {};
}

void PolledSocket::note(std::uint32_t events) {
  const bool has_hung_up = (events & hang_up_events) != 0;
  has_hung_up_ |= has_hung_up;
  if (has_hung_up || (events & EPOLLIN) != 0) is_ready_[index(Direction::read)] = true;
  if (has_hung_up || (events & EPOLLOUT) != 0) is_ready_[index(Direction::write)] = true;
  for (PendingOperation* const operation : waiting_) {
    if (operation != nullptr && is_ready(operation->awaits_)) poller_.queue(*operation);
  }
}

/// More events than one call returns may be due: then nothing is known about the others.
bool PolledSocket::is_quiet() const {
  return events_ != 0 && !is_ready(Direction::read) && poller_.is_reporting_ &&
         poller_.has_all_events_;
}

/// The operation does not wait any more.
void PolledSocket::detach(PendingOperation& operation) {
  waiting_[index(operation.role_)] = nullptr;
  operation.socket_ = nullptr;
  operation.is_queued_ = false;
  operation.unlink();
}

void PolledSocket::fail(PendingOperation& operation, const error_code& ec) {
  operation.ec_ = ec;
  poller_.resume_later(operation);
}

void PolledSocket::resume_later(PendingOperation& operation, Suspended task) {
  operation.task_ = std::move(task);
  poller_.resume_later(operation);
}

void PolledSocket::retry_reader() {
  PendingOperation* const reader = waiting_[index(Direction::read)];
  if (reader == nullptr || reader->is_queued_) return;
  reader->is_queued_ = true;
  reader->unlink();
  poller_.resume_later(*reader);
}

void PolledSocket::cancel() {
  for (PendingOperation* const operation : waiting_) {
    if (operation == nullptr) continue;
    detach(*operation);
    fail(*operation, asio::error::operation_aborted);
  }
  poller_.arm();
}

void PolledSocket::forget(bool is_shared) {
  cancel();
  if (events_ != 0 && is_shared && !poller_.is_shut_down_)
    ::epoll_ctl(poller_.epoll_.native_handle(), EPOLL_CTL_DEL, descriptor_, nullptr);
  events_ = 0;
  is_ready_ = {true, true};
  has_hung_up_ = false;
}

asio::execution_context::id Poller::id;

Poller::Poller(asio::execution_context& io)
    : service(io),
      io_(static_cast<asio::io_context&>(io)),
      epoll_(io_.get_executor(), ::epoll_create1(EPOLL_CLOEXEC)) {}

/// The tasks that wait end with the loop. Their sockets may outlive them, in tasks that wait for
/// something else.
void Poller::shutdown() {
  is_shut_down_ = true;
  for (Operations* const all : {&operations_, &ready_[0], &ready_[1], &ended_}) {
    while (!all->empty()) {
      PendingOperation& operation = all->front();
      if (operation.socket_ != nullptr) {
        operation.socket_->detach(operation);
      } else {
        operation.unlink();
      }
      const Suspended ended = std::move(operation.task_);
    }
  }
  error_code ec;
  epoll_.close(ec);
}

/// The loop has work while an operation waits, and no longer.
void Poller::arm() {
  if (is_reporting_ || is_shut_down_) return;
  if (is_posted_) return;  // the pass does this at its end
  if (!ready_[index(Priority::normal)].empty()) {
    is_posted_ = true;
    asio::post(io_, pass_handler_([this] {
                 is_posted_ = false;
                 dispatch();
               }));
    return;
  }
  if (is_armed_) {
    error_code ec;
    if (operations_.empty()) epoll_.cancel(ec);
    return;
  }
  if (operations_.empty()) return;
  is_armed_ = true;
  epoll_.async_wait(asio::posix::descriptor_base::wait_read,
                    wait_handler_([this](const error_code& ec) {
                      is_armed_ = false;
                      if (!ec) return dispatch();
                      arm();
                    }));
}

void Poller::queue(PendingOperation& operation) {
  if (std::exchange(operation.is_queued_, true)) return;
  operation.unlink();
  ready_[index(operation.socket_->priority_)].push_back(operation);
}

void Poller::resume_later(PendingOperation& operation) {
  if (is_shut_down_) return;
  if (ended_.empty()) asio::post(io_, resume_handler_([this] { resume_ended(); }));
  ended_.push_back(operation);
}

/// Operations that end meanwhile wait for the next pass.
void Poller::resume_ended() {
  Operations now;
  now.swap(ended_);
  begin_pass();
  while (!now.empty()) {
    count_operation();
    PendingOperation& operation = now.front();
    if (operation.socket_ != nullptr) {  // it tries again
      advance(operation);
      continue;
    }
    now.pop_front();
    Suspended task = std::move(operation.task_);
    task.resume();
  }
  is_in_pass_ = false;
  arm();
}

void Poller::begin_pass() {
  ++pass_;
  is_in_pass_ = true;
}

/// As a new pass, because the reading of the clock is as old as the operations before.
void Poller::serve_interleaved() {
  operations_since_ = 0;
  if (interleaved_.empty()) return;
  begin_pass();
  for (auto next = interleaved_.begin(); next != interleaved_.end();) {
    Interleaved& served = *next++;
    served.serve();
  }
}

void Poller::count_operation() {
  if (++operations_since_ >= interleave_after) serve_interleaved();
}

void Poller::dispatch() {
  begin_pass();
  read_events();
  is_reporting_ = true;
  serve_interleaved();
  perform_ready();
  is_reporting_ = is_in_pass_ = false;
  arm();
}

/// Reader and writer of a socket may both wait for data (TLS), so both are queued before one of
/// them reads.
void Poller::read_events() {
  const int count =
      ::epoll_wait(epoll_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  has_all_events_ = count < static_cast<int>(events_.size());
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    static_cast<PolledSocket*>(event.data.ptr)->note(event.events);
  }
}

/// Requests in progress are finished before new ones are read. So fewer of them are in progress at
/// a time, and their connections stay in the caches.
void Poller::perform_ready() {
  Operations& high = ready_[index(Priority::high)];
  while (!high.empty()) {
    advance(high.front());
    count_operation();
  }
  Operations& normal = ready_[index(Priority::normal)];
  for (std::size_t i = 0; i < normal_at_once && !normal.empty(); ++i) {
    advance(normal.front());
    count_operation();
  }
}

void Poller::advance(PendingOperation& operation) {
  PolledSocket& socket = *operation.socket_;
  operation.is_queued_ = false;
  operation.unlink();
  operations_.push_back(operation);
  try {
    if (const auto awaited = operation.perform()) {
      operation.awaits_ = *awaited;
      operation.ec_ = socket.register_for(*awaited);
      if (!operation.ec_) return;
    }
  } catch (...) {
    operation.thrown_ = std::current_exception();
  }
  socket.detach(operation);
  Suspended task = std::move(operation.task_);
  task.resume();
}

}  // namespace weir::loop
