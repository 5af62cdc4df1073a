// The answers of the admin endpoints. The server does the I/O; the only I/O here is reading /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "admin/admission.hpp"
#include "admin/instruments.hpp"
#include "admin/reload_report.hpp"

namespace weir::admin {

struct AdminRequest {
  std::string_view method;
  std::string_view path;           ///< without the query
  std::string_view authorization;  ///< the field's value; empty if there is none
  Provenance from{};
};

struct AdminAnswer {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::string_view allow{};     ///< 405: the methods that are allowed
  bool reloads = false;         ///< not an answer yet: reload, then answer with reload_answer()
  bool asks_overrides = false;  ///< not an answer yet: see OverrideService
};

/// A request to /v1/overrides, for the part of the process that has the stores.
struct OverrideCall {
  enum class Method : std::uint8_t { get, put, remove } method = Method::get;
  std::string query{};  ///< of the target, after the first '?'
  std::string body{};   ///< of PUT, at most `most_override_body`
};

/// The largest body of a PUT.
inline constexpr std::size_t most_override_body = 16 * 1024;

/// Starts a call; thread-safe. Calls its argument once, on another thread.
using OverrideService = std::function<void(OverrideCall, std::function<void(AdminAnswer)>)>;

/// Answers one request. /healthz and /readyz are open to probes with any Host. All other paths need
/// the token or, if none is set, a Host of this server; that is checked before the path is looked
/// up.
AdminAnswer answer(const AdminRequest& request, const Instruments& instruments);

/// 200 with what has changed, 422 with every problem, or 503 while the process is draining.
AdminAnswer reload_answer(const ReloadReport& report);

/// The answer to a request that the admin server refuses: a problem document.
AdminAnswer problem_answer(int status, std::string_view detail);

}  // namespace weir::admin
