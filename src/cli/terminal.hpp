// The terminal of the command in full-screen mode: shows lines, reads keys. Restores the terminal
// when it is destroyed. At most one at a time; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace weir::cli {

struct TerminalLine {
  std::string text{};
  bool is_highlighted = false;
};

struct TerminalEvent {
  enum class Kind : std::uint8_t {
    key,      ///< `character` was pressed
    resized,  ///< call show() again: another number of lines may fit
    nothing,  ///< the time is over
    ended,    ///< a signal has arrived, or the terminal is gone
  };
  Kind kind = Kind::nothing;
  char character = 0;
};

class Terminal {
 public:
  /// Takes over the terminal of standard input and output. While it exists, SIGINT, SIGTERM, SIGHUP
  /// and SIGQUIT are events. A problem: the terminal cannot be used.
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// The number of lines that fit; follows the size of the terminal.
  std::size_t height() const;
  /// The number of characters that fit in a line; follows the size of the terminal.
  std::size_t width() const;
  /// Shows these lines and nothing else, each cut at the width of the terminal.
  void show(const std::vector<TerminalLine>& lines) const;
  /// Waits for the next event, at most this long.
  TerminalEvent wait(Duration at_most);

  /// The signal that has arrived while there was a terminal; 0: none.
  static int signal();

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
