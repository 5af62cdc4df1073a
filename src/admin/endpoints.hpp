// What each admin endpoint answers. The server brings requests and carries answers; here is no I/O
// but the reading of /proc.
#pragma once

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
  std::string_view allow{};  ///< 405: the methods that would do
  bool reloads = false;      ///< not an answer yet: reload, then answer with reload_answer()
};

/// /healthz and /readyz are open to probes, whatever their Host. Everything else needs the token,
/// or without one a Host of this server, before the answer depends on whether it exists.
AdminAnswer answer(const AdminRequest& request, const Instruments& instruments);

/// 200 with what has changed, or 422 with every problem.
AdminAnswer reload_answer(const ReloadReport& report);

/// A problem of the admin server itself, as it answers all of them.
AdminAnswer problem_answer(int status, std::string_view detail);

}  // namespace weir::admin
