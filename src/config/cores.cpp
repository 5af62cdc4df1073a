#include "config/cores.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace weir::config {

namespace {

const std::string cgroup_root = "/sys/fs/cgroup";

/// The path of this process below the root: the line `0::PATH` of /proc/self/cgroup.
std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

std::optional<std::size_t> granted_by(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string line;
  return std::getline(file, line) ? cores_of_cpu_max(line) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> cores_of_cpu_max(std::string_view cpu_max) {
  std::istringstream text{std::string(cpu_max)};
  std::size_t quota_us = 0;
  std::size_t period_us = 0;
  if (!(text >> quota_us >> period_us) || period_us == 0) return std::nullopt;
  return std::max<std::size_t>(1, quota_us / period_us);
}

std::size_t available_cores() {
  std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  // Every level may have a limit; in a container the root is that of the container.
  std::string directory = own_cgroup();
  for (;;) {
    if (const auto granted = granted_by(cgroup_root + directory)) cores = std::min(cores, *granted);
    const std::size_t slash = directory.rfind('/');
    if (slash == std::string::npos) return cores;
    directory.resize(slash);
  }
}

}  // namespace weir::config
