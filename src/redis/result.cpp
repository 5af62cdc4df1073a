#include "redis/result.hpp"

#include <hiredis/hiredis.h>

#include "redis/answer.hpp"

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

store::Result held_result_of(const redisReply& reply, const store::Acquisition& acquisition,
                             std::span<HoldTable::Reply> holds) {
  const std::size_t claims = acquisition.claims.size();
  store::Result result{.decider = store::Decider::redis};
  if (!read_held_answer(reply, acquisition.decisions.first(claims), holds, result.admitted))
    return failed(store::Error::other);
  result.decided = store::first_claims(claims);
  return result;
}

}  // namespace weir::redis
