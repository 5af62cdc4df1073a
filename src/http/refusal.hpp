// Why a message is refused: the status of the answer and the detail of the problem body.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/assert/source_location.hpp>

namespace weir::http {

struct Refusal {
  int status = 400;         ///< 400, 405, 501 for a request; 502 for a response
  std::string_view detail;  ///< a literal: never a part of the message received

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Called by value() of a Result<T, Refusal> that holds an error.
[[noreturn]] inline void throw_exception_from_error(const Refusal& refusal,
                                                    const boost::source_location&) {
  throw std::runtime_error(std::string{refusal.detail});
}

}  // namespace weir::http
