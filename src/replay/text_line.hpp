// Reads lines of the Common and the Combined Log Format, as Apache httpd (mod_log_config), nginx
// (log_format combined), Caddy and Weir itself write them:
//
//   HOST IDENT USER [10/Oct/2000:13:55:36 -0700] "GET /path HTTP/1.0" 200 2326 "REFERER" "AGENT"
//
// What follows is ignored. Quoted parts have the escapes \", \\, \n, \r, \t and \xHH. Pure. Nothing
// is allocated in the steady state.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "replay/logged_request.hpp"

namespace weir::replay {

class TextLineReader {
 public:
  /// Reads a line without its end. The result is valid until the next call.
  Result<LoggedRequest, LineFault> read(std::string_view line);

 private:
  void unescape(std::initializer_list<std::string_view*> parts);

  std::string unescaped_;  ///< quoted parts that have escapes
  std::string time_text_;  ///< of the line before, which often has the same
  std::optional<Instant> time_{};
};

/// Reads `10/Oct/2000:13:55:36 -0700`; empty for other text, and for a date that does not exist.
std::optional<Instant> parse_log_time(std::string_view text);

/// Reads a request line, such as `GET /path HTTP/1.1`. Anything else was not valid HTTP, and
/// changes nothing.
void read_request_line(std::string_view line, LoggedRequest& to);

[[noreturn]] void throw_exception_from_error(LineFault fault, const boost::source_location&);

}  // namespace weir::replay
