// What a line of an access log states about one request. The texts are views into the line, or into
// the storage of its reader, until the next line is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/time.hpp"

namespace weir::replay {

struct LoggedRequest {
  Instant at{};
  std::optional<IpAddress> client{};  ///< empty: the log has a host name, or none
  std::string_view method{};          ///< empty: the request was not valid HTTP
  std::string_view target{};
  std::optional<int> status{};
  std::string_view user{};        ///< of Basic authentication; empty: none
  std::string_view referer{};     ///< empty: none, or not in the log
  std::string_view user_agent{};  ///< likewise
};

/// Why a line cannot be read. A log that ends in the middle of a line has one such line.
enum class LineFault : std::uint8_t {
  form,    ///< a part is missing, or not where the format has it
  time,    ///< its time cannot be read
  status,  ///< its status is not a number from 100 to 599, or -
};

}  // namespace weir::replay
