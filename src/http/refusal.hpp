// Why a message can not be passed on, as a value: the status to answer and the words for the
// problem body.
#pragma once

#include <string_view>

#include <boost/assert/source_location.hpp>

namespace weir::http {

struct Refusal {
  int status = 400;         ///< 400, 405, 501 for a request; 502 for a response
  std::string_view detail;  ///< a literal: never a part of what was received

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// What value() of a Result<T, Refusal> calls when nobody checked it.
[[noreturn]] void throw_exception_from_error(const Refusal& refusal, const boost::source_location&);

}  // namespace weir::http
