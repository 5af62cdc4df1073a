// The path of a request in the body of its answer: services echo it in links and messages. Pure.
#pragma once

#include <string>
#include <string_view>

namespace weir::cli {

/// Replaces the path of `target` in the body by a mark, so that the bodies of two spellings
/// of one path compare as equal: as sent, percent-decoded once or twice, and each with slashes as
/// JSON escapes them. The path "/" stays, because a slash is rarely an echo.
std::string without_echo(std::string body, std::string_view target);

}  // namespace weir::cli
