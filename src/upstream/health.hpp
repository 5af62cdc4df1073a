// The health of a server according to active checks. Pure, not thread-safe.
//
// Before the first check the server is up. The first check decides alone, so a server that is down
// when Weir starts gets requests for no longer than one check takes.
#pragma once

namespace weir::upstream {

class Health {
 public:
  /// `rise` successful checks in a row mark a server up that was down; `fall` failures in a row
  /// mark it down.
  Health(int rise, int fall) : rise_(rise), fall_(fall) {}

  bool is_up() const { return up_; }
  /// Changes the thresholds; keeps the results so far.
  void set(int rise, int fall) {
    rise_ = rise;
    fall_ = fall;
  }

  /// True if this changes is_up().
  bool observe(bool good) {
    if (good == up_) {
      against_ = 0;
      known_ = true;
      return false;
    }
    ++against_;
    if (known_ && against_ < (up_ ? fall_ : rise_)) return false;
    up_ = good;
    known_ = true;
    against_ = 0;
    return true;
  }

 private:
  int rise_;
  int fall_;
  bool up_ = true;
  bool known_ = false;
  int against_ = 0;  ///< checks in a row that contradict the current state
};

}  // namespace weir::upstream
