// Reports when the sockets of a loop are ready: epoll(7), edge-triggered.
//
// Asio reads once before each wait, because it does not know whether a read has taken all bytes,
// and changes its registration for each wait without a read. Here a read that returns less than was
// asked for proves that the socket is empty, unless the other side has closed (EPOLLRDHUP), and a
// socket is registered once. This saves a system call for each message.
//
// One for each io_context, found with asio::use_service. Its descriptor is one of Asio's loop, so
// sockets, timers and posted functions share one thread. Waiting allocates no memory. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <sys/epoll.h>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/intrusive/list.hpp>

#include "loop/descriptor.hpp"
#include "loop/handler_memory.hpp"
#include "loop/io.hpp"

namespace weir::loop {

/// Something that must not wait until all sockets that are ready have been served. A pass of the
/// poller calls it first, and again after every few dozen operations (Poller::interleave_after). It
/// leaves the poller when it is destroyed.
class Interleaved : public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Interleaved() = default;
  Interleaved(const Interleaved&) = delete;
  Interleaved& operator=(const Interleaved&) = delete;

  /// May resume tasks, and may destroy this object, but no other one.
  virtual void serve() noexcept = 0;

 protected:
  ~Interleaved() = default;
};

class Poller;
class PolledSocket;

enum class Direction : std::uint8_t { read, write };

/// A pass serves all sockets of high priority that are ready, and then a bounded number of the
/// others.
enum class Priority : std::uint8_t { high, normal };

/// A read or a write that waits until its socket is ready. Its task is resumed when it is complete.
class PendingOperation : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  explicit PendingOperation(error_code& ec) : ec_(ec) {}
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

 protected:
  virtual ~PendingOperation() = default;
  /// Tries again, because the socket is ready. Returns what to wait for, or nothing if the
  /// operation is complete.
  virtual std::optional<Direction> perform() = 0;
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

  error_code& ec_;

 private:
  friend class Poller;
  friend class PolledSocket;

  Suspended task_;
  std::exception_ptr thrown_;       ///< by perform()
  PolledSocket* socket_ = nullptr;  ///< while it waits there
  Direction role_ = Direction::read;
  Direction awaits_ = Direction::read;
  bool is_queued_ = false;  ///< is to be performed again: its socket is ready, or may be
};

/// A socket as the poller sees it. It stays in place while it is registered.
class PolledSocket {
 public:
  explicit PolledSocket(Poller& poller) : poller_(poller) {}
  PolledSocket(const PolledSocket&) = delete;
  PolledSocket& operator=(const PolledSocket&) = delete;

  void set_priority(Priority priority) { priority_ = priority; }

  /// False: a read or a write would block, and an event will report when that changes.
  bool is_ready(Direction direction) const { return is_ready_[index(direction)]; }
  /// A system call has shown that a read or a write would block.
  void exhausted(Direction direction) { is_ready_[index(direction)] = false; }
  /// Everything that had arrived has been read or seen, so a read would block, unless the other
  /// side has closed.
  void emptied() { is_ready_[index(Direction::read)] = has_hung_up_; }

  /// Data may have arrived whose event has not been reported yet, so a read is tried.
  void look_again() { is_ready_[index(Direction::read)] = true; }

  /// True if nothing had arrived, and the other side had not closed, when the events of this pass
  /// were read. False also if that is not known.
  bool is_quiet() const;

  /// Keeps the task until the operation is complete: until the socket is ready for `awaited`, and
  /// then perform() returns nothing. At most one reader and one writer wait (`role`).
  void start(int descriptor, Direction role, Direction awaited, PendingOperation& operation,
             Suspended task);
  /// Resumes the task of an operation that is complete, after everything that is ready has run.
  void resume_later(PendingOperation& operation, Suspended task);
  /// The reader that waits tries again in the next pass, without an event: bytes may have arrived
  /// before it waited, or others have read bytes that are meant for it.
  void retry_reader();
  /// Ends the operations that wait with operation_aborted; their tasks are resumed later.
  void cancel();
  /// Called before the descriptor is closed. `is_shared`: another descriptor of the same open file
  /// stays open, so closing this one does not end the registration.
  void forget(bool is_shared);

 private:
  friend Poller;
  static std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }
  error_code register_for(Direction awaited);
  void note(std::uint32_t events);
  void detach(PendingOperation& operation);
  void fail(PendingOperation& operation, const error_code& ec);

  Poller& poller_;
  int descriptor_ = -1;  ///< registered
  std::array<PendingOperation*, 2> waiting_{};
  std::uint32_t events_ = 0;                    ///< registered for; 0: not registered
  std::array<bool, 2> is_ready_{{true, true}};  ///< or not known
  bool has_hung_up_ = false;                    ///< an event has reported the end or an error
  Priority priority_ = Priority::normal;
};

class Poller : public asio::execution_context::service {
 public:
  using key_type = Poller;
  static asio::execution_context::id id;

  explicit Poller(asio::execution_context& io);

  /// The number of the pass that resumes tasks at the moment; 0: none does, but a timer or another
  /// function of the loop may run.
  std::uint64_t pass() const { return is_in_pass_ ? pass_ : 0; }

  /// Events read in a pass of the loop, at most.
  static constexpr std::size_t events_at_once = 1024;
  /// Operations of normal priority that a pass performs, at most.
  static constexpr std::size_t normal_at_once = 32;
  /// Operations between two calls of what is interleaved.
  static constexpr std::size_t interleave_after = 32;

  void interleave(Interleaved& added) { interleaved_.push_back(added); }

 private:
  friend PolledSocket;
  using Operations =
      boost::intrusive::list<PendingOperation, boost::intrusive::constant_time_size<false>>;

  void shutdown() override;
  void arm();
  void queue(PendingOperation& operation);
  void resume_later(PendingOperation& operation);
  void resume_ended();
  void dispatch();
  void begin_pass();
  void serve_interleaved();
  void count_operation();
  void read_events();
  void perform_ready();
  void advance(PendingOperation& operation);

  asio::io_context& io_;
  asio::posix::basic_stream_descriptor<Executor> epoll_;
  // These lists end their tasks with the loop.
  Operations operations_;            ///< wait for an event
  std::array<Operations, 2> ready_;  ///< by priority: are performed in this pass or the next ones
  Operations ended_;                 ///< are performed again, or complete, in the next pass
  boost::intrusive::list<Interleaved, boost::intrusive::constant_time_size<false>> interleaved_;
  std::size_t operations_since_ = 0;  ///< since what is interleaved was served
  HandlerMemory wait_handler_;
  HandlerMemory pass_handler_;
  HandlerMemory resume_handler_;
  std::array<epoll_event, events_at_once> events_{};
  std::uint64_t pass_ = 0;
  bool is_in_pass_ = false;
  bool has_all_events_ = false;  ///< no event was due that the pass has not read
  bool is_armed_ = false;
  bool is_posted_ = false;  ///< the next pass
  bool is_reporting_ = false;
  bool is_shut_down_ = false;
};

}  // namespace weir::loop
