#include "offline/request.hpp"

#include <new>

namespace weir::offline {

bool Request::call() noexcept {
  try {
    called_.push_back(this);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // the next poll or release finds it
  }
}

}  // namespace weir::offline
