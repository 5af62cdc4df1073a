// Bounds of the replies that one hiredis reader makes. A server that is not Redis, or a proxy that
// changes replies, could otherwise make hiredis allocate any amount of memory. Used on the loop
// only.
#pragma once

#include <cstddef>
#include <string_view>

struct redisReader;

namespace weir::redis {

/// Limits the texts of one reply, its elements and what has arrived of an incomplete one together.
/// The largest replies of Redis are the list of 1,000 instances with three long settings, below
/// 700 KiB, and a page of SCAN with about 1,000 keys, below 200 KiB.
inline constexpr std::size_t most_reply_bytes = 1024 * 1024;
/// An element of an array counts as this much, beside its text: hiredis allocates about as much.
inline constexpr std::size_t bytes_per_element = 64;
inline constexpr std::size_t most_elements = most_reply_bytes / bytes_per_element;
/// hiredis searches an incomplete line from its beginning again after each read.
inline constexpr std::size_t most_line_bytes = 64 * 1024;

inline constexpr std::string_view oversized_reply = "a reply is larger than any that Weir expects";

class ReplyBounds {
 public:
  /// From now on a reply that exceeds a bound is an error of the reader, "Out of memory". This must
  /// live as long as `reader` parses.
  explicit ReplyBounds(redisReader& reader);
  ReplyBounds(const ReplyBounds&) = delete;
  ReplyBounds& operator=(const ReplyBounds&) = delete;

  /// To be called when the replies that have arrived were taken from the reader. Checks the rest.
  void on_read();
  /// Whether a reply has exceeded a bound. The connection cannot be used then.
  bool is_exceeded() const { return is_exceeded_; }

  /// The reader has parsed a part of a reply. Returns false if the reply is too large.
  bool add(bool is_first_part, std::size_t bytes);

 private:
  redisReader& reader_;
  std::size_t bytes_ = 0;  ///< of the reply that was parsed last, perhaps in part
  bool is_exceeded_ = false;
};

}  // namespace weir::redis
