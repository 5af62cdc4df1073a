#include "cli/terminal.hpp"

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#define NCURSES_NOMACROS
#include <ncurses.h>
#include <unistd.h>
#include <utility>

#include "cli/characters.hpp"

namespace weir::cli {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
volatile std::sig_atomic_t arrived_signal = 0;

void note_signal(int signal) {
  arrived_signal = signal;
}

}  // namespace

/// The signals and the screen, which are given back in the opposite order.
struct Terminal::State {
  State() {
    arrived_signal = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;  // without SA_RESTART: it ends a wait
    for (std::size_t i = 0; i < ending_signals.size(); ++i)
      ::sigaction(ending_signals[i], &action, &before[i]);
    // It handles only signals that nobody handles, so it comes after them.
    screen = ::newterm(nullptr, stdout, stdin);
  }
  ~State() {
    if (screen != nullptr) {
      ::endwin();
      ::delscreen(screen);
    }
    for (std::size_t i = 0; i < ending_signals.size(); ++i)
      ::sigaction(ending_signals[i], &before[i], nullptr);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  SCREEN* screen = nullptr;
  std::array<struct sigaction, ending_signals.size()> before{};
};

Result<std::unique_ptr<Terminal>> Terminal::open() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    return Problem{"standard input and output must be a terminal; use --once"};
  std::setlocale(LC_CTYPE, "");
  auto state = std::make_unique<State>();
  if (state->screen == nullptr) {
    const char* const type = std::getenv("TERM");
    return Problem{"the terminal type " +
                   (type == nullptr ? std::string("(TERM is not set)") : type) +
                   " cannot be used; set TERM, or use --once"};
  }
  ::cbreak();
  ::noecho();
  ::curs_set(0);
  ::keypad(::stdscr, true);
  return std::unique_ptr<Terminal>(new Terminal(std::move(state)));
}

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Terminal::~Terminal() = default;

std::size_t Terminal::height() const {
  return static_cast<std::size_t>(std::max(0, ::getmaxy(::stdscr)));
}

/// The last cell of the screen cannot be written without moving on, so a line ends before it.
std::size_t Terminal::width() const {
  return static_cast<std::size_t>(std::max(0, ::getmaxx(::stdscr) - 1));
}

void Terminal::show(const std::vector<TerminalLine>& lines) const {
  ::werase(::stdscr);
  const std::size_t count = std::min(height(), lines.size());
  for (std::size_t row = 0; row < count; ++row) {
    if (lines[row].is_highlighted) ::wattr_on(::stdscr, A_REVERSE, nullptr);
    ::wmove(::stdscr, static_cast<int>(row), 0);
    const std::string_view shown = first_characters(lines[row].text, width());
    ::waddnstr(::stdscr, shown.data(), static_cast<int>(shown.size()));
    ::wattr_off(::stdscr, A_REVERSE, nullptr);
  }
  ::wrefresh(::stdscr);
}

TerminalEvent Terminal::wait(Duration at_most) {
  using Kind = TerminalEvent::Kind;
  if (arrived_signal != 0) return {.kind = Kind::ended};
  ::wtimeout(::stdscr, static_cast<int>(std::max<std::int64_t>(0, to_us(at_most) / 1000)));
  const int key = ::wgetch(::stdscr);
  if (arrived_signal != 0) return {.kind = Kind::ended};
  if (key == KEY_RESIZE) {
    ::clearok(::stdscr, true);  // the terminal may have moved what was there
    return {.kind = Kind::resized};
  }
  if (key == ERR) return {.kind = ::isatty(STDIN_FILENO) != 0 ? Kind::nothing : Kind::ended};
  if (key < 0 || key > 127) return {.kind = Kind::nothing};
  return {.kind = Kind::key, .character = static_cast<char>(key)};
}

int Terminal::signal() {
  return arrived_signal;
}

}  // namespace weir::cli
