// Turns files of envoyproxy/ratelimit into `policies` and `rate_limit_service.descriptors` of Weir.
//
// A rule is a descriptor with a limit, together with the descriptors that lead to it. It is written
// if Weir's descriptors mean the same; else there is a comment with the reason. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"
#include "config/limit_file.hpp"

namespace weir::cli {

/// A limit of a file that is not written, or not with all that it has.
struct ImportLoss {
  std::size_t file = 0;  ///< index into the files
  bool is_limit = true;  ///< false: only a part of it, such as its metadata
  config::Diagnostic reason;
};

struct ImportedLimits {
  std::string yaml;  ///< with a comment for each loss
  std::vector<ImportLoss> losses{};
};

/// The files have no problems, and each has another domain.
ImportedLimits imported_limits(std::span<const config::LimitFileContent> files);

}  // namespace weir::cli
