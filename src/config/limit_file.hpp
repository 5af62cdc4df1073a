// A file with limits of the rate limit service, in the format of envoyproxy/ratelimit: a domain and
// its descriptors.
//
// A file is accepted or refused as that program does, which reads YAML 1.1: numbers and flags have
// other forms than in a configuration of Weir, and nothing is replaced by a variable. Stricter: a
// key that is written twice, a tag, and a second document are refused. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"
#include "options/rate_limit_service.hpp"

namespace weir::config {

/// `rate_limit` of a descriptor.
struct FileLimit {
  Position position{};
  bool unlimited = false;
  std::uint32_t requests_per_unit = 0;
  options::RateLimitUnit unit = options::RateLimitUnit::unknown;  ///< that of an unlimited one
  std::string name{};
  std::vector<std::string> replaces{};  ///< names of other limits
};

struct FileDescriptor {
  Position position{};
  std::string path{};  ///< `descriptors[0].descriptors[1]`
  std::string key{};
  std::string value{};  ///< empty: every value
  std::optional<FileLimit> limit{};
  bool shadow_mode = false;
  bool quota_mode = false;
  bool detailed_metric = false;
  bool value_to_metric = false;
  bool share_threshold = false;
  std::string metadata{};  ///< a JSON object; empty: none
  std::vector<FileDescriptor> descriptors{};

  /// `KEY_VALUE`, or `KEY` for every value.
  std::string text() const { return value.empty() ? key : key + '_' + value; }
};

struct LimitFileContent {
  std::string domain{};
  std::vector<FileDescriptor> descriptors{};
  std::vector<Diagnostic> problems{};  ///< none: the rest is complete
  std::vector<Diagnostic> warnings{};
};

LimitFileContent parse_limit_file(std::string_view yaml);

}  // namespace weir::config
