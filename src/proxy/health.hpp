// What active checks say of a server. Pure, not thread-safe.
//
// Before the first check the server is taken to be up, and the first check decides alone: a server
// that is down when Weir starts gets no requests for longer than one check takes.
#pragma once

namespace weir::proxy {

class Health {
 public:
  /// `rise` good answers in a row bring a server back that was down; `fall` failures in a row put
  /// one down.
  Health(int rise, int fall) : rise_(rise), fall_(fall) {}

  bool is_up() const { return up_; }
  /// What was found so far stays.
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
  int against_ = 0;  ///< checks in a row that say the opposite
};

}  // namespace weir::proxy
