// Functions that a loop calls: soon, after a time, or when a descriptor can be read. For use
// off the request path: each call allocates memory, and in return a room that includes this header
// compiles none of Asio's templates.
//
// All but post() belong to the thread of the loop, which outlives them.
#pragma once

#include <functional>
#include <memory>

#include "base/time.hpp"
#include "loop/descriptor.hpp"

namespace boost::asio {
class io_context;
}

namespace weir::loop {

/// Calls the function on the loop's thread, after what it runs now. Thread-safe.
void post(boost::asio::io_context& io, std::function<void()> function);

/// Calls a function once, after a time. It is not called after cancel() or the end of the alarm,
/// even if its time had come already.
class Alarm {
 public:
  explicit Alarm(boost::asio::io_context& io);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Replaces the previous call if that is still to come.
  void set(Duration after, std::function<void()> function);
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Calls a function whenever there is something to read from a descriptor. The function reads all
/// of it.
class ReadWatch {
 public:
  ReadWatch(boost::asio::io_context& io, Descriptor descriptor, std::function<void()> readable);
  ~ReadWatch();
  ReadWatch(const ReadWatch&) = delete;
  ReadWatch& operator=(const ReadWatch&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weir::loop
