// Deadlines of many connections on one coarse tick, instead of a timer armed and cancelled per
// operation.
//
// Pushing a deadline further out, the common case, only writes a number: the entry stays in its
// slot and is moved when the slot is due (Varghese and Lauck, "Hashed and Hierarchical Timing
// Wheels", 1987, with lazy re-insertion). A deadline fires at its tick or at most one tick later,
// never earlier. The caller provides the ticks; nothing here reads a clock. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <boost/intrusive/list.hpp>

namespace weir {

/// Base class of objects that have a deadline. Leaves its wheel when destroyed.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Deadline() = default;
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  friend class DeadlineWheel;
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t due_ = never;  ///< the tick at which it fires
  std::uint64_t hung_at_ = 0;  ///< the tick whose slot it is in
};

class DeadlineWheel {
 public:
  std::uint64_t now() const { return now_; }

  /// Fires after `ticks` full ticks from now (the current one does not count); replaces an earlier
  /// deadline.
  void arm(Deadline& deadline, std::uint64_t ticks) {
    deadline.due_ = now_ + ticks + 1;
    if (!deadline.is_linked() || deadline.due_ < deadline.hung_at_) hang(deadline);
  }
  void disarm(Deadline& deadline) { deadline.due_ = Deadline::never; }

  /// Advances to tick `to` and calls fire(deadline) for each deadline that is due; fire may destroy
  /// or re-arm any deadline.
  template <class Fire>
  void advance(std::uint64_t to, Fire&& fire) {
    while (now_ < to) {
      ++now_;
      Slot passed;
      passed.swap(slot(now_));
      while (!passed.empty()) {
        Deadline& first = passed.front();
        passed.pop_front();
        if (first.due_ <= now_) {
          first.due_ = Deadline::never;
          fire(first);
        } else if (first.due_ != Deadline::never) {
          hang(first);
        }
      }
    }
  }

 private:
  static constexpr std::size_t slot_count = 1024;
  using Slot = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;

  Slot& slot(std::uint64_t tick) { return slots_[tick % slot_count]; }
  void hang(Deadline& deadline) {
    const std::uint64_t horizon = now_ + slot_count - 1;
    deadline.unlink();
    deadline.hung_at_ = deadline.due_ < horizon ? deadline.due_ : horizon;
    slot(deadline.hung_at_).push_back(deadline);
  }

  std::array<Slot, slot_count> slots_;
  std::uint64_t now_ = 0;
};

}  // namespace weir
