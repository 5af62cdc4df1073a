// The URL of a request of Weir itself. A value.
#pragma once

#include <cstdint>
#include <string>

namespace weir::http {

/// An http:// or https:// URL.
struct Url {
  bool is_secure = false;
  std::string host{};  ///< a name or an address, without brackets
  std::uint16_t port = 80;
  std::string target = "/";  ///< path and query
  friend bool operator==(const Url&, const Url&) = default;
};

}  // namespace weir::http
