#include "base/random.hpp"

#include <random>

namespace weir {

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace weir
