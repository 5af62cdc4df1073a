#include "loop/poller.hpp"

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
  operation.task_ = std::move(task);
  operation.awaits_ = awaited;
  descriptor_ = descriptor;
  if (const error_code ec = register_for(awaited)) return fail(operation, ec);
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

bool PolledSocket::is_quiet() const {
  return events_ != 0 && !is_ready(Direction::read) && poller_.is_reporting_;
}

void PolledSocket::fail(PendingOperation& operation, const error_code& ec) {
  operation.ec_ = ec;
  poller_.resume_later(operation);
}

void PolledSocket::resume_later(PendingOperation& operation, Suspended task) {
  operation.task_ = std::move(task);
  poller_.resume_later(operation);
}

void PolledSocket::cancel() {
  for (PendingOperation*& operation : waiting_) {
    if (operation == nullptr) continue;
    operation->unlink();
    fail(*std::exchange(operation, nullptr), asio::error::operation_aborted);
  }
  poller_.arm();
}

void PolledSocket::forget() {
  cancel();
  if (events_ != 0) poller_.drop_events_of(*this);
  events_ = 0;
  is_ready_ = {true, true};
  has_hung_up_ = false;
}

asio::execution_context::id Poller::id;

Poller::Poller(asio::execution_context& io)
    : service(io),
      io_(static_cast<asio::io_context&>(io)),
      epoll_(io_.get_executor(), ::epoll_create1(EPOLL_CLOEXEC)) {}

/// The tasks that wait end with the loop.
void Poller::shutdown() {
  for (Operations* const all : {&operations_, &ended_}) {
    while (!all->empty()) {
      PendingOperation& operation = all->front();
      all->pop_front();
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
  if (is_reporting_) return;
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
    Suspended task = std::move(operation.task_);
    task.resume();
  }
}

void Poller::dispatch() {
  event_count_ =
      ::epoll_wait(epoll_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  is_reporting_ = true;
  for (int i = 0; i < event_count_; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    static_cast<PolledSocket*>(event.data.ptr)->note(event.events);
  }
  for (int i = 0; i < event_count_; ++i) {
    for (const Direction role : {Direction::read, Direction::write}) {
      // A task that was resumed may have closed this socket (drop_events_of()).
      void* const socket = events_[static_cast<std::size_t>(i)].data.ptr;
      if (socket != nullptr) advance(*static_cast<PolledSocket*>(socket), role);
    }
  }
  event_count_ = 0;
  is_reporting_ = false;
}

void Poller::advance(PolledSocket& socket, Direction role) {
  if (socket.waiting_[PolledSocket::index(role)] == nullptr) return;
  PendingOperation& operation = *socket.waiting_[PolledSocket::index(role)];
  if (!socket.is_ready(operation.awaits_)) return;
  try {
    if (const auto awaited = operation.perform()) {
      operation.awaits_ = *awaited;
      operation.ec_ = socket.register_for(*awaited);
      if (!operation.ec_) return;
    }
  } catch (...) {
    operation.thrown_ = std::current_exception();
  }
  socket.waiting_[PolledSocket::index(role)] = nullptr;
  operation.unlink();
  Suspended task = std::move(operation.task_);
  task.resume();
}

}  // namespace weir::loop
