// The types all I/O of a worker uses. Concrete executors, no any_io_executor: it costs 0.5 to 1 us
// a request.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include "loop/task.hpp"

namespace weir {

namespace asio = boost::asio;
using boost::system::error_code;

namespace loop {

using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// Lets handlers that outlive their object detect that it is gone.
class Presence {
 public:
  using Watch = std::weak_ptr<const void>;
  Watch watch() const { return token_; }
  void end() { token_.reset(); }

 private:
  std::shared_ptr<const void> token_ = std::make_shared<char>('\0');
};

/// Completion token: suspends the task until the operation is complete, and stores its error.
struct Into {
  error_code& ec;
};

inline Into into(error_code& ec) {
  return {ec};
}

/// An awaitable asynchronous operation of Asio. It starts when awaited, and its result (T, or
/// nothing) is the value of the await expression. It has no coroutine frame.
template <class T, class Initiation, class... Args>
class Operation {
 public:
  template <class... Given>
  Operation(error_code& ec, Initiation initiation, Given&&... given)
      : ec_(ec), initiation_(std::move(initiation)), args_(std::forward<Given>(given)...) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) noexcept {
    std::apply(
        [&](auto&&... args) {
          std::move(initiation_)(Completion{*this, Suspended(task)}, std::move(args)...);
        },
        std::move(args_));
  }
  T await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(*result_);
  }

 private:
  struct Nothing {};

  /// The completion handler, which Asio calls at the end, or destroys with the loop.
  struct Completion {
    Operation& operation;
    Suspended task;

    template <class... Result>
    void operator()(error_code ec, Result&&... result) {
      operation.ec_ = ec;
      if constexpr (sizeof...(Result) > 0) operation.result_.emplace(std::move(result)...);
      task.resume();
    }
  };

  error_code& ec_;
  Initiation initiation_;
  std::tuple<Args...> args_;
  std::conditional_t<std::is_void_v<T>, Nothing, std::optional<T>> result_;
};

/// Starts a task that runs concurrently with the current one.
inline void spawn(asio::io_context& io, Task<> task) {
  asio::dispatch(io, [start = RootTask::of(std::move(task)).begin()]() mutable { start.resume(); });
}

}  // namespace loop
}  // namespace weir

template <class... Result>
class boost::asio::async_result<weir::loop::Into, void(boost::system::error_code, Result...)> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation initiation, weir::loop::Into token, Args&&... args) {
    static_assert(sizeof...(Result) <= 1);
    using T = std::tuple_element_t<0, std::tuple<Result..., void>>;
    return weir::loop::Operation<T, Initiation, std::decay_t<Args>...>(
        token.ec, std::move(initiation), std::forward<Args>(args)...);
  }
};
