// A request to /v1/overrides, for the part of the process that has the stores.
#pragma once

#include <functional>
#include <string>

#include "admin/endpoints.hpp"

namespace weir::admin {

struct OverrideCall {
  enum class Method : std::uint8_t { get, put, remove } method = Method::get;
  std::string query{};  ///< of the target, after the first '?'
  std::string body{};   ///< of PUT, at most `most_override_body`
};

/// The largest body of a PUT.
inline constexpr std::size_t most_override_body = 16 * 1024;

/// Starts a call; thread-safe. Calls its argument once, on another thread.
using OverrideService = std::function<void(OverrideCall, std::function<void(AdminAnswer)>)>;

}  // namespace weir::admin
