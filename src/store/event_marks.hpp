// The marks that instances with a shared store set for the events of quotas, so that one of them
// reports an event in a window.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "store/error.hpp"

namespace weir::store {

/// A percentage of the quota of a key was reached in a window.
struct EventMark {
  Hash128 identity{};
  std::string policy{};
  int percent = 0;
  Duration ends_after{0};     ///< until the window ends; negative: it has ended
  Duration earlier_until{0};  ///< a window that ends by then is an earlier one; at most ends_after
  Duration kept_for{0};       ///< the mark may be removed after it; positive
};

struct MarkReport {
  Error error = Error::none;
  /// Zero: this call has set the mark. Else it was set before, for a window that ends after this
  /// time.
  Duration marked_for{0};
};

/// Each call reports once, later, on the loop of the caller, without a timeout. A call that throws
/// std::bad_alloc does not report.
class EventMarks {
 public:
  using Done = std::function<void(MarkReport)>;
  /// 0: there was no reset or change of an override in the last minute, or the number is unknown.
  using OnGeneration = std::function<void(std::uint64_t)>;

  virtual void mark(const EventMark& mark, Instant now, Done done) = 0;
  /// Reads the number that changes with every reset of a key, which removes its marks.
  virtual void read_generation(OnGeneration done) = 0;

 protected:
  ~EventMarks() = default;
};

}  // namespace weir::store
