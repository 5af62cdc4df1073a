// A thread for the steps of TLS handshakes that would delay the worker's loop.
//
// Runs one step at a time. It starts with the first step and has a lower priority than the thread
// that started it, so the worker goes first if both share a core. Every function is called on the
// worker's loop.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>

#include "loop/io.hpp"

namespace weir::loop {

class StepThread {
 public:
  /// `ended` is called on the loop after each step.
  StepThread(asio::io_context& io, std::function<void()> ended)
      : io_(io), ended_(std::move(ended)) {}
  ~StepThread() { stop(); }
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  /// Runs a step, which must not throw, while no other runs. The loop has work until `ended` has
  /// been called. False if the system cannot create a thread; the step has not run then.
  bool run(std::function<void()> step);
  /// Waits for the end of the running step and of the thread. `ended` is not called any more.
  void stop();

 private:
  bool start();
  void work();
  void report();

  asio::io_context& io_;
  std::function<void()> ended_;
  std::optional<asio::executor_work_guard<Executor>> pending_;  ///< until `ended_` is called
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> step_;  ///< guarded by mutex_; empty: no step to run
  bool is_stopping_ = false;    ///< guarded by mutex_
  std::thread thread_;
};

}  // namespace weir::loop
