#include "redis/result.hpp"

#include <hiredis/hiredis.h>

#include "redis/question_command.hpp"

namespace weir::redis {

store::Result result_of(const redisReply& reply, store::Acquisition* acquisition) {
  if (acquisition == nullptr)
    return failed(reply.type == REDIS_REPLY_INTEGER ? store::Error::none : store::Error::other);
  const std::size_t claims = acquisition->claims.size();
  store::Result result{.decider = store::Decider::redis};
  if (!read_answer(reply, acquisition->decisions.first(claims), result.admitted))
    return failed(store::Error::other);
  result.decided = store::first_claims(claims);
  return result;
}

}  // namespace weir::redis
