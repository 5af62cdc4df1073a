// Lets everything else that is ready on a worker's loop run first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include <boost/asio/post.hpp>

#include "loop/io.hpp"

namespace weir::loop {

class Turns {
 public:
  /// `most`: tasks that continue in a pass, so that events and timers are not delayed longer.
  explicit Turns(asio::io_context& io, std::size_t most = 64) : io_(io), most_(most) {}

  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) noexcept {
      turns_.add(Suspended(task));
    }
    void await_resume() const noexcept {}

   private:
    Turns& turns_;
  };

  /// Awaitable: the task continues at the end of this pass of the loop.
  Turn next() { return Turn(*this); }

 private:
  void add(Suspended task) {
    if (waiting_.empty()) asio::post(io_, [this] { run(); });
    waiting_.push_back(std::move(task));
  }

  void run() {
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), most_));
    std::move(waiting_.begin(), end, std::back_inserter(running_));
    waiting_.erase(waiting_.begin(), end);
    if (!waiting_.empty()) asio::post(io_, [this] { run(); });
    for (Suspended& task : running_)
      task.resume();
    running_.clear();
  }

  asio::io_context& io_;
  const std::size_t most_;
  std::vector<Suspended> waiting_;
  std::vector<Suspended> running_;
};

}  // namespace weir::loop
