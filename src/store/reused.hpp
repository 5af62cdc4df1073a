// Objects that stay where they are and are used again and again: in the steady state nothing is
// allocated. Not thread-safe.
#pragma once

#include <deque>
#include <vector>

namespace weir::store {

template <class T>
class Reused {
 public:
  /// `arguments` are for the constructor of an object that has not been used before; the state of
  /// another one is what its last user left.
  template <class... Arguments>
  T& take(Arguments&... arguments) {
    if (!free_.empty()) {
      T& used = *free_.back();
      free_.pop_back();
      return used;
    }
    // give_back() must not throw.
    if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 8);
    return all_.emplace_back(arguments...);
  }
  void give_back(T& object) noexcept { free_.push_back(&object); }

 private:
  std::deque<T> all_;
  std::vector<T*> free_;
};

}  // namespace weir::store
