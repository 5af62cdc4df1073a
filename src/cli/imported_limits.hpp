// Turns files of envoyproxy/ratelimit into `policies` and `rate_limit_service.descriptors` of Weir.
//
// A rule is a descriptor with a limit, together with the descriptors that lead to it. It is written
// if Weir's descriptors mean the same; else there is a comment with the reason. Pure.
#pragma once

#include <span>
#include <string>

#include "config/limit_file.hpp"

namespace weir::cli {

/// Returns YAML. The files have no problems, and each has another domain.
std::string imported_limits(std::span<const config::LimitFileContent> files);

}  // namespace weir::cli
