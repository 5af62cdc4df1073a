// A file descriptor with an owner.
#pragma once

#include <unistd.h>
#include <utility>

namespace weir::loop {

/// Closed when dropped.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int native) : native_(native) {}
  Descriptor(Descriptor&& other) noexcept : native_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~Descriptor() {
    if (is_open()) ::close(native_);
  }

  bool is_open() const { return native_ >= 0; }
  int native() const { return native_; }
  int release() { return std::exchange(native_, -1); }

 private:
  int native_ = -1;
};

}  // namespace weir::loop
