// Coroutines of a worker's loop, in which the phases of a request are written
// (docs/adr/0016-tasks-of-our-own.md).
//
// A task begins when it is awaited. It runs within the awaiting coroutine until it first has to
// wait; a task that never waits costs a call and a frame from a free list. Not thread-safe: all
// tasks of a chain run on one loop. An exception in a task propagates to the awaiting coroutine; an
// uncaught one ends the process.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

// Lets AddressSanitizer detect a frame that is used after its end.
#if defined(__SANITIZE_ADDRESS__)
#define WEIR_REUSES_FRAMES false
#elif defined(__has_feature)
#define WEIR_REUSES_FRAMES (!__has_feature(address_sanitizer))
#else
#define WEIR_REUSES_FRAMES true
#endif

namespace weir::loop {

/// An allocator of coroutine frames. A thread reuses the frames that it frees, because each request
/// needs the same few sizes.
class FrameRoom {
 public:
  static void* take(std::size_t size) {
    const std::size_t kind = kind_of(size);
    if (kind < kinds) {
      auto& [first, count] = mine().spare[kind];
      if (first != nullptr) {
        --count;
        return std::exchange(first, first->next);
      }
    }
    return ::operator new((kind + 1) * step);
  }

  static void give_back(void* room, std::size_t size) noexcept {
    const std::size_t kind = kind_of(size);
    if (kind < kinds) {
      auto& [first, count] = mine().spare[kind];
      if (count < most_spare) {
        ++count;
        first = new (room) Spare{first};
        return;
      }
    }
    ::operator delete(room);
  }

 private:
  static constexpr std::size_t most_spare = WEIR_REUSES_FRAMES ? 512 : 0;
  static constexpr std::size_t step = 64;
  static constexpr std::size_t kinds = 24;

  struct Spare {
    Spare* next;
  };
  struct Spares {
    struct Kind {
      Spare* first = nullptr;
      std::size_t count = 0;
    };
    std::array<Kind, kinds> spare{};
    ~Spares() {
      for (auto& kind : spare) {
        while (kind.first != nullptr)
          ::operator delete(std::exchange(kind.first, kind.first->next));
        kind.count = most_spare;  // further frames go to the allocator
      }
    }
  };

  static std::size_t kind_of(std::size_t size) { return (size - 1) / step; }
  static Spares& mine() {
    thread_local Spares spares;
    return spares;
  }
};

/// The common base of the promises of all tasks.
class TaskPromise {
 public:
  static void* operator new(std::size_t size) { return FrameRoom::take(size); }
  static void operator delete(void* room, std::size_t size) noexcept {
    FrameRoom::give_back(room, size);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  /// The outermost task of the chain, which owns all others.
  std::coroutine_handle<> root() const { return root_; }

 protected:
  std::coroutine_handle<> root_;
};

/// A task that waits for something. It is resumed once, or destroyed together with all tasks that
/// wait for it.
class Suspended {
 public:
  Suspended() = default;
  template <class Promise>
  explicit Suspended(std::coroutine_handle<Promise> task)
      : task_(task), root_(task.promise().root()) {}
  Suspended(Suspended&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)), root_(other.root_) {}
  Suspended& operator=(Suspended&& other) noexcept {
    std::swap(task_, other.task_);
    std::swap(root_, other.root_);
    return *this;
  }
  ~Suspended() {
    if (task_) root_.destroy();
  }

  void resume() { std::exchange(task_, nullptr).resume(); }
  /// True if it was neither resumed nor moved from.
  bool is_waiting() const { return task_ != nullptr; }

 private:
  std::coroutine_handle<> task_;
  std::coroutine_handle<> root_;
};

/// The promise of a task that is awaited: keeps an exception for the awaiting coroutine.
class AwaitedPromise : public TaskPromise {
 public:
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

 protected:
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

template <class T>
class TaskResult : public AwaitedPromise {
 public:
  template <class U>
  void return_value(U&& value) {
    value_ = std::forward<U>(value);
  }
  T result() {
    rethrow();
    return std::move(value_);
  }

 private:
  T value_{};
};

template <>
class TaskResult<void> : public AwaitedPromise {
 public:
  void return_void() const {}
  void result() const { rethrow(); }
};

/// A coroutine to be awaited once. If it is destroyed early, it ends where it waits.
template <class T = void>
class [[nodiscard]] Task {
 public:
  class promise_type : public TaskResult<T> {  // the name that the language requires
   public:
    Task get_return_object() { return Task(Handle::from_promise(*this)); }

    struct End {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
        if (const auto next = ended.promise().continuation_) next.resume();
      }
      void await_resume() const noexcept {}
    };
    End final_suspend() const noexcept { return {}; }

   private:
    friend Task;
    std::coroutine_handle<> continuation_;  ///< none while it runs within the awaiting coroutine
  };

  Task(Task&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (task_) task_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> awaiting) {
    task_.promise().root_ = awaiting.promise().root();
    task_.resume();
    if (task_.done()) return false;
    task_.promise().continuation_ = awaiting;
    return true;
  }
  T await_resume() { return task_.promise().result(); }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Task(Handle task) : task_(task) {}

  Handle task_;
};

/// The outermost task of a chain, owned by the object that it waits for.
class RootTask {
 public:
  class promise_type : public TaskPromise {
   public:
    RootTask get_return_object() {
      const auto self = std::coroutine_handle<promise_type>::from_promise(*this);
      root_ = self;
      return RootTask{Suspended(self)};
    }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  static RootTask of(Task<> task) { co_await task; }

  /// Begins when this is resumed.
  Suspended begin() && { return std::move(start_); }

 private:
  explicit RootTask(Suspended start) : start_(std::move(start)) {}
  Suspended start_;
};

}  // namespace weir::loop
