// The first reason why a route is not for a request, in words.
//
// Pure. Values of header fields are not shown: they may be secrets.
#pragma once

#include <optional>
#include <string>

#include "config/written.hpp"
#include "http/request_view.hpp"
#include "routing/matcher.hpp"
#include "routing/path_readings.hpp"

namespace weir::cli {

/// Nothing if the route is for the request in this reading of its path. `match_path` is the key
/// path of the match: values from variables are shown as the configuration has them.
std::optional<std::string> mismatch(const routing::Match& match, const http::RequestView& request,
                                    const routing::PathReading& path,
                                    const config::Written& written, const std::string& match_path);

}  // namespace weir::cli
