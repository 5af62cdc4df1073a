#include "loop/step_thread.hpp"

#include <algorithm>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>

namespace weir::loop {
namespace {

constexpr int niceness_above_worker = 10;

/// Lowers the priority of the calling thread; each thread of Linux has its own (setpriority(2)).
void lower_priority() {
  const int niceness = ::getpriority(PRIO_PROCESS, 0);
  ::setpriority(PRIO_PROCESS, 0, std::min(niceness + niceness_above_worker, 19));
}

}  // namespace

bool StepThread::run(std::function<void()> step) {
  if (!thread_.joinable() && !start()) return false;
  pending_.emplace(io_.get_executor());
  {
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
  }
  changed_.notify_one();
  return true;
}

void StepThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  pending_.reset();
}

bool StepThread::start() {
  try {
    thread_ = std::thread([this] { work(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

/// A step that was passed before stop() still runs, because its result may be awaited.
void StepThread::work() {
  ::pthread_setname_np(::pthread_self(), "weir-tls");
  lower_priority();
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_stopping_ || step_; });
    if (!step_) return;
    const auto step = std::exchange(step_, nullptr);
    lock.unlock();
    step();
    asio::post(io_, [this] { report(); });
  }
}

void StepThread::report() {
  if (!pending_) return;  // stopped
  pending_.reset();
  ended_();
}

}  // namespace weir::loop
