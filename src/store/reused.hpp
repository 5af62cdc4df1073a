// Objects that keep their place and are used again: in the steady state nothing is allocated.
// Not thread-safe.
#pragma once

#include <deque>
#include <vector>

namespace weir::store {

template <class T>
class Reused {
 public:
  /// Returns an object that is not in use. `arguments` go to its constructor if it is new;
  /// otherwise it has the state that its last user left. Throws std::bad_alloc and changes nothing
  /// then.
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

  /// An object in use. Gives it back when destroyed, unless keep() was called.
  class Borrowed {
   public:
    Borrowed(Reused& owner, T& object) : owner_(owner), object_(&object) {}
    ~Borrowed() {
      if (object_ != nullptr) owner_.give_back(*object_);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }
    /// The object stays in use until give_back() is called with it.
    void keep() { object_ = nullptr; }

   private:
    Reused& owner_;
    T* object_;
  };
  /// As take().
  template <class... Arguments>
  Borrowed borrow(Arguments&... arguments) {
    return {*this, take(arguments...)};
  }

 private:
  std::deque<T> all_;
  std::vector<T*> free_;
};

}  // namespace weir::store
