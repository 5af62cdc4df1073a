// The option `--fields`: which members of a JSON log have the parts of a request. Pure.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "replay/json_line.hpp"

namespace weir::replay {

/// Reads `time=ts,client=request.remote_ip,header:x-api-key=key`: names of parts and dotted paths.
/// Parts that are not named are not in the log. The problem has the words of the option.
Result<JsonMembers> read_members(std::string_view text);

}  // namespace weir::replay
