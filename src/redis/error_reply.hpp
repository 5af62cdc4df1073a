// Error replies of Redis as a store::Error and as text for the log. Pure.
#pragma once

#include <string>
#include <string_view>

#include "store/error.hpp"

struct redisReply;

namespace weir::redis {

/// The text of an error, a status or a string; empty for any other reply.
std::string_view text_of(const redisReply& reply);

/// Classifies an error reply by the code at its beginning: `NOSCRIPT No matching script.` is
/// script_missing. Older servers wrap an error within a script; its own code is used then.
store::Error error_of(std::string_view text);

/// The text before the first quotation mark. A server without AUTH quotes its arguments, and only a
/// part of a long password, which printable() cannot recognize.
std::string_view unquoted(std::string_view text);

/// The text for a log line: printable, of a bounded length, and without `secret`. A server quotes
/// the arguments of an unknown command.
std::string printable(std::string_view text, std::string_view secret = {});

}  // namespace weir::redis
