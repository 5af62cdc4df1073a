// Lets one task wait until something happens. Used from one loop only.
#pragma once

#include "loop/io.hpp"

namespace weir::loop {

class Event {
 public:
  explicit Event(asio::io_context& io)
      : timer_(io.get_executor(), loop::Timer::time_point::max()) {}

  /// Returns after the next notify(). operation_aborted: cancel() ended the wait.
  Task<error_code> wait() {
    is_cancelled_ = false;
    error_code ignored;
    co_await timer_.async_wait(loop::into(ignored));
    co_return is_cancelled_ ? error_code(asio::error::operation_aborted) : error_code{};
  }
  void notify() { timer_.cancel(); }
  void cancel() {
    is_cancelled_ = true;
    timer_.cancel();
  }

 private:
  Timer timer_;
  bool is_cancelled_ = false;
};

}  // namespace weir::loop
