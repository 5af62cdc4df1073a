// Lets one task wait until something happens. Used from one loop only.
//
// The memory that notify() needs is in the frame of the waiting task, so it cannot fail.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>

#include "loop/io.hpp"

namespace weir::loop {

class Event {
  /// For the one handler that continues a task, with what Asio stores beside it.
  struct HandlerRoom {
    alignas(std::max_align_t) std::array<std::byte, 128> bytes;
  };

 public:
  explicit Event(asio::io_context& io) : io_(io) {}

  class Wait {
   public:
    explicit Wait(Event& event) : event_(event) {}
    Wait(const Wait&) = delete;  // notify() uses its place
    Wait& operator=(const Wait&) = delete;
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) noexcept {
      assert(!event_.waiting_.is_waiting());
      event_.is_cancelled_ = false;
      event_.room_ = &room_;
      event_.waiting_ = Suspended(task);
    }
    error_code await_resume() const noexcept {
      return event_.is_cancelled_ ? error_code(asio::error::operation_aborted) : error_code{};
    }

   private:
    Event& event_;
    HandlerRoom room_;
  };

  /// Awaitable: the task continues in a later step of the loop, after the next notify().
  /// operation_aborted: cancel() ended the wait. Only one task may wait.
  Wait wait() { return Wait(*this); }
  void notify() {
    if (!waiting_.is_waiting()) return;
    asio::post(io_,
               asio::bind_allocator(Allocator<std::byte>(*room_),
                                    [task = std::move(waiting_)]() mutable { task.resume(); }));
  }
  void cancel() {
    is_cancelled_ = true;
    notify();
  }

 private:
  template <class T>
  class Allocator {
   public:
    using value_type = T;
    explicit Allocator(HandlerRoom& room) : room_(&room) {}
    template <class U>
    Allocator(const Allocator<U>& other) : room_(other.room_) {}

    /// The only allocation: Asio stores the handler. It gives the memory back before it calls or
    /// destroys the handler, which ends the room.
    T* allocate(std::size_t count) const {
      static_assert(sizeof(T) <= sizeof(HandlerRoom::bytes) && alignof(T) <= alignof(HandlerRoom));
      if (sizeof(T) * count > sizeof(HandlerRoom::bytes)) throw std::bad_alloc();
      return reinterpret_cast<T*>(room_->bytes.data());
    }
    void deallocate(T* /*memory*/, std::size_t /*count*/) const {}
    template <class U>
    friend bool operator==(const Allocator& a, const Allocator<U>& b) {
      return a.room_ == b.room_;
    }

   private:
    template <class U>
    friend class Allocator;
    HandlerRoom* room_;
  };

  asio::io_context& io_;
  Suspended waiting_;
  HandlerRoom* room_ = nullptr;  ///< of the waiting task
  bool is_cancelled_ = false;
};

}  // namespace weir::loop
