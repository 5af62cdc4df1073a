#include "redis/reply_bounds.hpp"

#include <hiredis/hiredis.h>

namespace weir::redis {
namespace {

/// The functions with which hiredis makes replies. The type of a number of elements differs between
/// its versions.
template <class Elements>
struct Bounded {
  static inline redisReplyObjectFunctions original{};
  static inline redisReplyObjectFunctions functions{};

  static void* create_array(const redisReadTask* task, Elements elements) {
    if (static_cast<long long>(elements) > most_elements) return nullptr;
    return original.createArray(task, elements);
  }
  static void use(redisReader& reader) {
    if (original.createArray == nullptr) {
      original = *reader.fn;
      functions = original;
      functions.createArray = create_array;
    }
    reader.fn = &functions;
  }
};

template <class Elements>
void use_bounded(redisReader& reader, void* (*)(const redisReadTask*, Elements)) {
  Bounded<Elements>::use(reader);
}

}  // namespace

void bound_elements(redisReader& reader) {
  use_bounded(reader, reader.fn->createArray);
}

bool is_too_large(const redisReader& reader) {
  return reader.len - reader.pos > most_reply_bytes;
}

}  // namespace weir::redis
