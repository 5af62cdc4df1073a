// Bounds of what a server may send as a reply. A server that is not Redis, or a proxy that changes
// replies, could otherwise make hiredis allocate any amount of memory. Used on the loop only.
#pragma once

#include <cstddef>

struct redisReader;

namespace weir::redis {

/// Far above all replies: the longest are pages of overrides and the entries of an attributed
/// window.
inline constexpr long long most_elements = 1'000'000;
inline constexpr std::size_t most_reply_bytes = 32 * 1024 * 1024;

/// An array with more than `most_elements` is an error of the reader from now on.
void bound_elements(redisReader& reader);
/// True if more than `most_reply_bytes` of an incomplete reply have arrived.
bool is_too_large(const redisReader& reader);

}  // namespace weir::redis
