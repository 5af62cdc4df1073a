#include "redis/reply_bounds.hpp"

#include <algorithm>
#include <hiredis/hiredis.h>
#include <new>

namespace weir::redis {
namespace {

/// The functions with which hiredis makes replies. Made once, then read by all workers.
struct ReplyFunctions {
  ReplyFunctions();
  redisReplyObjectFunctions original{};
  redisReplyObjectFunctions bounded{};
};

ReplyFunctions& reply_functions() {
  static ReplyFunctions all;
  return all;
}

bool is_within_bounds(const redisReadTask* task, std::size_t bytes) {
  return static_cast<ReplyBounds*>(task->privdata)->add(task->parent == nullptr, bytes);
}

void* create_bounded_string(const redisReadTask* task, char* text, std::size_t size) {
  if (!is_within_bounds(task, size)) return nullptr;
  return reply_functions().original.createString(task, text, size);
}

/// The type of a number of elements differs between versions of hiredis.
template <class Elements>
void* create_bounded_array(const redisReadTask* task, Elements elements) {
  const std::size_t counted = std::min(static_cast<std::size_t>(elements), most_elements + 1);
  if (!is_within_bounds(task, counted * bytes_per_element)) return nullptr;
  return reply_functions().original.createArray(task, elements);
}

ReplyFunctions::ReplyFunctions() {
  redisReader* const reader = redisReaderCreate();
  if (reader == nullptr) throw std::bad_alloc();
  original = bounded = *reader->fn;
  redisReaderFree(reader);
  bounded.createString = create_bounded_string;
  bounded.createArray = create_bounded_array;
}

bool has_long_line(std::string_view incomplete) {
  return incomplete.size() > most_line_bytes &&
         incomplete.substr(0, most_line_bytes).find("\r\n") == std::string_view::npos;
}

}  // namespace

ReplyBounds::ReplyBounds(redisReader& reader) : reader_(reader) {
  reader.fn = &reply_functions().bounded;
  reader.privdata = this;
}

void ReplyBounds::on_read() {
  const std::size_t size = reader_.len - reader_.pos;
  if (size == 0) return;
  // Below the first level the reader is in an array, which has begun to count.
  const std::size_t parsed = reader_.ridx > 0 ? bytes_ : 0;
  if (parsed + size > most_reply_bytes || has_long_line({reader_.buf + reader_.pos, size}))
    is_exceeded_ = true;
}

bool ReplyBounds::add(bool is_first_part, std::size_t bytes) {
  if (is_first_part) bytes_ = 0;
  bytes_ += bytes;
  if (bytes_ > most_reply_bytes) is_exceeded_ = true;
  return !is_exceeded_;
}

}  // namespace weir::redis
