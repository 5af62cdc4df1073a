// Bounds the memory of the incomplete messages that a worker keeps. A message that arrives whole
// never waits, so it needs no share: clients that send slowly affect only each other.
//
// Used from its worker's loop only.
#pragma once

#include <cstddef>

namespace weir::proxy {

class BodyBudget {
 public:
  /// `most`: bytes of all incomplete messages.
  explicit BodyBudget(std::size_t most) : most_(most) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  /// The bytes of one message, until this object is destroyed.
  class Share {
   public:
    /// The budget outlives the share.
    explicit Share(BodyBudget& budget) : budget_(budget) {}
    ~Share() { budget_.used_ -= bytes_; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Sets the bytes that are kept. False: the budget does not have them; the share is as before.
    bool set(std::size_t bytes) {
      const std::size_t others = budget_.used_ - bytes_;
      if (bytes > budget_.most_ - others) return false;
      budget_.used_ = others + bytes;
      bytes_ = bytes;
      return true;
    }

   private:
    BodyBudget& budget_;
    std::size_t bytes_ = 0;
  };

  std::size_t used() const { return used_; }

 private:
  const std::size_t most_;
  std::size_t used_ = 0;
};

}  // namespace weir::proxy
