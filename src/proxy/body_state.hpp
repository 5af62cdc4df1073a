// The kind of the next piece of a message body.
#pragma once

#include <cstdint>

namespace weir::proxy {

enum class BodyState : std::uint8_t {
  payload,    ///< payload, valid until more is read
  exhausted,  ///< nothing: all bytes that have arrived are used up
  ended,      ///< nothing: the body is complete
  malformed,  ///< nothing: its coding is broken
};

}  // namespace weir::proxy
