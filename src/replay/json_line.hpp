// Reads lines of JSON logs: an object in each, as Weir, Caddy, Envoy and nginx (with a log_format
// of JSON) write them. Members are found by dotted paths, others are skipped. Pure. Nothing is
// allocated in the steady state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "replay/logged_request.hpp"

namespace weir::replay {

/// The members of a log that state the parts of a request. Those of Weir's own log by default.
struct JsonMembers {
  std::string time = "time";  ///< RFC 3339, or a number of seconds, ms, us or ns since 1970
  std::string client = "client";
  std::string method = "method";
  std::string target = "path";
  /// The request line, as $request of nginx. Read only if there is neither method nor target.
  std::string request = "request";
  std::string status = "status";
  std::string user{};
  std::string referer = "referer";
  std::string user_agent = "user_agent";
  std::string host{};
  std::string duration{};  ///< seconds
  std::string duration_ms{};
  std::string duration_us = "duration_us";
  std::string decided_at = "decided_at";  ///< microseconds since 1970
  /// The members of OwnRecord are read as well; `request_id` marks such a line.
  bool is_own = true;
  /// Names of request header fields, and the paths of the members with their values.
  std::vector<std::pair<std::string, std::string>> fields{};
};

class JsonLineReader {
 public:
  explicit JsonLineReader(JsonMembers members = {});

  /// Reads a line without its end. The result is valid until the next call.
  Result<LoggedRequest, LineFault> read(std::string_view line);

 private:
  enum class Part : std::uint8_t {
    time,
    client,
    method,
    target,
    request,
    status,
    user,
    referer,
    user_agent,
    host,
    duration,
    duration_ms,
    duration_us,
    decided_at,
    field,
    own
  };
  struct Sought {
    std::string path;
    Part part;
    std::string name{};  ///< of a field, or of a member of OwnRecord
  };

  bool read_object(std::string_view& rest, LoggedRequest& to, std::size_t depth);
  bool read_value(std::string_view& rest, LoggedRequest& to, std::size_t depth);
  bool take_string(std::string_view& rest, std::string_view& to);
  void note(std::string_view text, LoggedRequest& to);
  void note_own(std::string_view name, std::string_view text);
  void note_other(std::string_view name, std::string_view text);
  void note_queue_step(std::string_view text);

  std::vector<Sought> sought_;
  std::string_view request_line_;
  std::string path_;  ///< of the member that is being read
  std::string unescaped_;
  std::vector<LoggedField> fields_;
  OwnRecord own_;
  std::vector<OwnLimit> others_;
  std::vector<std::int64_t> queue_us_;
  bool is_own_ = false;
  bool has_time_ = false;
  bool has_bad_time_ = false;
  bool has_bad_status_ = false;
};

}  // namespace weir::replay
