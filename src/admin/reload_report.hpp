// The result of a reload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/time.hpp"

namespace weir::admin {

/// Lines and columns count from 1; 0: the problem has no position in the file.
struct ReloadProblem {
  int line = 0;
  int column = 0;
  std::string path{};  ///< of the key: `policies.per_client.rate`
  std::string message{};
};

struct ReloadReport {
  enum class Outcome : std::uint8_t {
    applied,
    rejected,     ///< `problems` has the reasons; the running configuration stays
    unavailable,  ///< the process is draining
    in_shadow     ///< the configuration decides in shadow `until`
  };
  Outcome outcome = Outcome::applied;
  std::string hash{};                         ///< of the configuration that was loaded
  Instant until{};                            ///< in_shadow only
  std::vector<std::string> changed{};         ///< keys, a bounded number of them
  std::size_t changed_omitted = 0;            ///< keys that are not in `changed`
  std::vector<std::string> restart_needed{};  ///< keys that keep their running value
  std::string file{};                         ///< the configuration file
  std::vector<ReloadProblem> problems{};
};

/// For the metrics. Written by the server's thread.
struct ReloadCounters {
  Counter ok, failed;
};

/// For the metrics: files that are read again when they change. Written by the server's thread.
struct FileReloadCounters {
  Counter ok, failed;
};

struct FileReloads {
  FileReloadCounters address_lists{};
  FileReloadCounters plan_files{};
  FileReloadCounters key_files{};    ///< of JWT providers
  FileReloadCounters limit_files{};  ///< of the rate limit service: reloads that they caused
};

}  // namespace weir::admin
