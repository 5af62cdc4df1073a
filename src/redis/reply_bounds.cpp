#include "redis/reply_bounds.hpp"

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

/// The type of a number of elements differs between versions of hiredis.
template <class Elements>
void* create_bounded_array(const redisReadTask* task, Elements elements) {
  if (static_cast<long long>(elements) > most_elements) return nullptr;
  return reply_functions().original.createArray(task, elements);
}

ReplyFunctions::ReplyFunctions() {
  redisReader* const reader = redisReaderCreate();
  if (reader == nullptr) throw std::bad_alloc();
  original = bounded = *reader->fn;
  redisReaderFree(reader);
  bounded.createArray = create_bounded_array;
}

}  // namespace

void bound_elements(redisReader& reader) {
  reader.fn = &reply_functions().bounded;
}

bool is_too_large(const redisReader& reader) {
  return reader.len - reader.pos > most_reply_bytes;
}

}  // namespace weir::redis
