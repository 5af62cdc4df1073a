// Reads a log of any format in arbitrary pieces: splits it into lines, and finds the format of each
// line. Lines that cannot be read are passed on with their faults. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "replay/json_line.hpp"
#include "replay/logged_request.hpp"
#include "replay/text_line.hpp"

namespace weir::replay {

class LogLines {
 public:
  using Read = Result<LoggedRequest, LineFault>;
  /// The rest of a longer line is skipped, and the line has a fault.
  static constexpr std::size_t longest = std::size_t{1} << 20;

  explicit LogLines(JsonMembers members = {}) : json_(std::move(members)) {}

  /// Adds the next piece of the log. It must stay in place until next() has returned nothing.
  void feed(std::string_view piece) { rest_ = piece; }
  /// Reads the next line that has a request or a fault; nothing: the piece is at its end. `is_end`:
  /// the log is as well, so its last line needs no end. Valid until the next call.
  std::optional<Read> next(bool is_end = false);
  /// The number of the line that next() has returned; the first is 1.
  std::uint64_t number() const { return number_; }

 private:
  std::optional<std::string_view> take_line(bool is_end);
  Read read(std::string_view line);

  TextLineReader text_;
  JsonLineReader json_;
  std::string_view rest_;
  std::string kept_;  ///< the begin of a line whose end has not been fed
  bool was_kept_ = false;
  bool is_too_long_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace weir::replay
