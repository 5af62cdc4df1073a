// The budget of faults of one HTTP/2 connection: what a well-behaved client never or rarely does,
// and what costs a server more than its sender (RFC 9113 section 10.5). HAProxy calls them
// glitches.
//
// From a sixteenth of the budget on, the connection is served in small steps, so that its faults
// delay other connections little. At three quarters it takes no new streams; at the end of the
// budget it ends. A stream that ends in order forgives one glitch in `streams_per_forgiven`, so
// that a long-lived connection that cancels now and then is not closed. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::http2 {

class Glitches {
 public:
  enum class State : std::uint8_t { good, suspect, spent };

  /// `most`: the budget; 0: no bound.
  explicit Glitches(std::size_t most) : most_(most) {}

  void note() {
    ++count_;
    ++total_;
  }
  /// A stream ended in order.
  void forgive() {
    if (++ended_in_order_ % streams_per_forgiven == 0 && count_ > 0) --count_;
  }
  State state() const {
    if (most_ == 0 || count_ < most_ - most_ / 4) return State::good;
    return count_ < most_ ? State::suspect : State::spent;
  }
  /// True if the client has made more faults than one that cancels now and then.
  bool is_notable() const { return most_ != 0 && count_ > most_ / 16; }
  std::size_t count() const { return count_; }
  /// All that were noted, the forgiven ones included.
  std::size_t total() const { return total_; }

 private:
  static constexpr std::uint64_t streams_per_forgiven = 4;

  std::size_t most_;
  std::size_t count_ = 0;
  std::size_t total_ = 0;
  std::uint64_t ended_in_order_ = 0;
};

}  // namespace weir::http2
