// What an error reply of Redis means for us. Pure.
#pragma once

#include <string>
#include <string_view>

#include "store/error.hpp"

struct redisReply;

namespace weir::redis {

/// Of an error, a status or a string; empty for any other reply.
std::string_view text_of(const redisReply& reply);

/// By the code that the reply's text begins with: `NOSCRIPT No matching script.` is script_missing.
/// Of an error within a script of an older server, by the code that the script met.
store::Error error_of(std::string_view text);

/// What precedes the first quotation mark. A server that does not know AUTH quotes what followed
/// it, of a long password a part only.
std::string_view unquoted(std::string_view text);

/// Fit for a log line: printable, of a bounded length, and without `secret`, which a server that
/// does not know a command quotes.
std::string printable(std::string_view text, std::string_view secret = {});

}  // namespace weir::redis
