#include "loop/poller.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>

namespace weir::loop {
namespace {

constexpr std::uint32_t hang_up_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t usual_events = EPOLLIN | EPOLLRDHUP | EPOLLET;

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
}

/// More events than one call returns may be due: then nothing is known about the others.
bool PolledSocket::is_quiet() const {
  return events_ != 0 && !is_ready(Direction::read) && poller_.is_reporting_ &&
         poller_.event_count_ < static_cast<int>(poller_.events_.size());
}

PendingOperation* PolledSocket::ready_operation(Direction role) const {
  PendingOperation* const operation = waiting_[index(role)];
  return operation != nullptr && is_ready(operation->awaits_) ? operation : nullptr;
}

/// The operation does not wait any more.
void PolledSocket::detach(PendingOperation& operation) {
  waiting_[index(operation.role_)] = nullptr;
  operation.socket_ = nullptr;
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
  if (reader == nullptr || reader->is_retried_) return;
  reader->is_retried_ = true;
  reader->unlink();
  poller_.resume_later(*reader);
}

void PolledSocket::cancel() {
  for (PendingOperation* const operation : waiting_) {
    if (operation == nullptr) continue;
    detach(*operation);
    operation->is_retried_ = false;
    fail(*operation, asio::error::operation_aborted);
  }
  poller_.arm();
}

void PolledSocket::forget(bool is_shared) {
  cancel();
  if (events_ != 0) poller_.drop_events_of(*this);
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
  for (Operations* const all : {&operations_, &ended_}) {
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

/// A task that is resumed may close a socket whose event is still to be reported.
void Poller::drop_events_of(const PolledSocket& socket) {
  for (int i = 0; i < event_count_; ++i) {
    epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == &socket) event.data.ptr = nullptr;
  }
}

/// The loop has work while an operation waits, and no longer.
void Poller::arm() {
  if (is_reporting_ || is_shut_down_) return;
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
                      if (!ec) dispatch();
                      arm();
                    }));
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
  while (!now.empty()) {
    PendingOperation& operation = now.front();
    now.pop_front();
    if (std::exchange(operation.is_retried_, false)) {
      operations_.push_back(operation);
      advance(operation);
      continue;
    }
    Suspended task = std::move(operation.task_);
    task.resume();
  }
  arm();
}

void Poller::dispatch() {
  event_count_ =
      ::epoll_wait(epoll_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  is_reporting_ = true;
  for (int i = 0; i < event_count_; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    static_cast<PolledSocket*>(event.data.ptr)->note(event.events);
  }
  for (int i = 0; i < event_count_; ++i)
    report(events_[static_cast<std::size_t>(i)]);
  event_count_ = 0;
  is_reporting_ = false;
}

/// Reader and writer may both wait for data (TLS), so what each finds is decided before one of them
/// reads. A task that was resumed may have closed the socket (drop_events_of()).
void Poller::report(const epoll_event& event) {
  if (event.data.ptr == nullptr) return;
  auto& socket = *static_cast<PolledSocket*>(event.data.ptr);
  PendingOperation* const reader = socket.ready_operation(Direction::read);
  PendingOperation* const writer = socket.ready_operation(Direction::write);
  if (reader != nullptr) advance(*reader);
  const bool still_waits = event.data.ptr != nullptr && writer != nullptr &&
                           socket.waiting_[PolledSocket::index(Direction::write)] == writer;
  if (still_waits) advance(*writer);
}

void Poller::advance(PendingOperation& operation) {
  PolledSocket& socket = *operation.socket_;
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
