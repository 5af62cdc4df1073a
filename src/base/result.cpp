#include "base/result.hpp"

#include <stdexcept>

namespace weir {

void throw_exception_from_error(const Problem& problem, const boost::source_location&) {
  throw std::runtime_error(problem.message);
}

}  // namespace weir
