// A value or an error, for all operations that may fail after start-up. Exceptions are for start-up
// only.
#pragma once

#include <stdexcept>
#include <string>

#include <boost/system/result.hpp>

namespace weir {

/// An error message for the person who has to fix it. `throw_exception_from_error` makes value() of
/// an unchecked Result throw.
struct Problem {
  std::string message;
};

[[noreturn]] inline void throw_exception_from_error(const Problem& problem,
                                                    const boost::source_location&) {
  throw std::runtime_error(problem.message);
}

template <class Value, class Error = Problem>
using Result = boost::system::result<Value, Error>;

}  // namespace weir
