// A value or an error, for everything that may fail after start-up. Exceptions are for starting up
// only.
#pragma once

#include <string>

#include <boost/system/result.hpp>

namespace weir {

/// What is wrong, in words for the person who has to mend it. `throw_exception_from_error` makes a
/// forgotten check of a Result loud instead of undefined.
struct Problem {
  std::string message;
};

[[noreturn]] void throw_exception_from_error(const Problem& problem, const boost::source_location&);

template <class Value, class Error = Problem>
using Result = boost::system::result<Value, Error>;

}  // namespace weir
