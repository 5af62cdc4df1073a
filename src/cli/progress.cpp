#include "cli/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace weir::cli {

Progress::Progress()
    : is_terminal_(::isatty(STDERR_FILENO) == 1), begun_at_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::uint64_t position, std::uint64_t size) {
  using namespace std::chrono;
  if (!is_terminal_) return;
  const auto now = steady_clock::now();
  if (now - shown_at_ < milliseconds(100)) return;
  shown_at_ = now;
  is_shown_ = true;
  const double mb = static_cast<double>(position) / 1e6;
  const double seconds = std::max(duration<double>(now - begun_at_).count(), 1e-3);
  if (size == 0) {
    std::fprintf(stderr, "\r%.0f MB, %.0f MB/s\x1b[K", mb, mb / seconds);
    return;
  }
  constexpr std::size_t width = 40;
  const double share = std::min(1.0, static_cast<double>(position) / static_cast<double>(size));
  const auto filled = static_cast<std::size_t>(share * width);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  std::fprintf(stderr, "\r[%s] %3.0f %%, %.0f MB/s\x1b[K", bar.c_str(), share * 100, mb / seconds);
}

}  // namespace weir::cli
