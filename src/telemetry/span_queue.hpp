// The spans of one worker that wait for their export. The worker adds, the exporter takes.
//
// Bounded: a span without room is dropped and counted, before it is made. The lock is held while
// strings are moved, and taken only for spans that are exported. Pure. Thread-safe: one thread
// adds, another one takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace weir::telemetry {

class SpanQueue {
 public:
  /// Spans that may wait; 0, as at first, drops what waits, and what comes later is not counted.
  void set_most(std::size_t most);

  /// Calls append(std::string&), which appends the JSON of a span, unless the queue is full.
  template <class Append>
  void add(Append&& append) noexcept {
    if (!has_room()) return;
    try {
      std::string span;
      span.reserve(usual_span);
      append(span);
      push(std::move(span));
    } catch (...) {  // no memory
      count_dropped(1);
    }
  }

  /// Moves up to `most` spans to the end of `to`, with commas between all of them. Returns their
  /// number.
  std::size_t take(std::size_t most, std::string& to);
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Spans without room, and those that waited when export was switched off.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t usual_span = 2048;  ///< bytes; a longer one takes more memory

  bool has_room();
  void push(std::string span);
  void count_dropped(std::uint64_t count) { dropped_.fetch_add(count, std::memory_order_relaxed); }

  std::mutex mutex_;
  std::deque<std::string> spans_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> most_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace weir::telemetry
