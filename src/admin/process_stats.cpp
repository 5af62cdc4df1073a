#include "admin/process_stats.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace weir::admin {
namespace {

std::string file_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t boot_time_s() {
  std::ifstream file("/proc/stat");
  std::int64_t seconds = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) std::istringstream(line.substr(6)) >> seconds;
  }
  return seconds;
}

std::uint64_t count_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return 0;
  // One of the descriptors is the iterator's own.
  return static_cast<std::uint64_t>(std::distance(begin(entries), end(entries))) - 1;
}

}  // namespace

std::optional<ProcessStats> parse_proc_stat(std::string_view line, const ProcUnits& units) {
  // The second field is the program's name in parentheses, which may itself contain blanks and
  // parentheses.
  const auto name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(line.substr(name_end + 1))};
  const auto skip = [&fields](int count) {
    for (std::string ignored; count > 0; --count)
      fields >> ignored;
  };
  std::int64_t user = 0, system = 0, started = 0;
  std::uint64_t virtual_bytes = 0, resident_pages = 0;
  skip(11);  // state is field 3, utime field 14
  fields >> user >> system;
  skip(6);  // cutime, field 16, to itrealvalue, field 21
  fields >> started >> virtual_bytes >> resident_pages;
  if (!fields) return std::nullopt;
  constexpr std::int64_t us = 1'000'000;
  return ProcessStats{.cpu = Duration{(user + system) * us / units.ticks_per_second},
                      .resident_bytes = resident_pages * units.page_size,
                      .virtual_bytes = virtual_bytes,
                      .started_at_s = units.booted_at_s + started / units.ticks_per_second};
}

ProcessStats read_process_usage() {
  static const ProcUnits units{.ticks_per_second = ::sysconf(_SC_CLK_TCK),
                               .page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
                               .booted_at_s = boot_time_s()};
  return parse_proc_stat(file_text("/proc/self/stat"), units).value_or(ProcessStats{});
}

ProcessStats read_process_stats() {
  ProcessStats stats = read_process_usage();
  stats.open_descriptors = count_descriptors();
  if (rlimit limit{}; ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    stats.max_descriptors = limit.rlim_cur;
  return stats;
}

}  // namespace weir::admin
