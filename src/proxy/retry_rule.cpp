#include "proxy/retry_rule.hpp"

namespace weir::proxy {

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
         method == "DELETE";
}

bool may_repeat(const FailedTry& failed) {
  if (failed.retries_left <= 0 || failed.answer_has_begun || !failed.body_is_kept) return false;
  switch (failed.failure) {
    case Failure::upstream_unreachable:  // nothing was sent
      return true;
    case Failure::upstream_connect_timeout:  // nothing was sent, but the client has waited
      return failed.has_another;
    case Failure::upstream_broken:
      return failed.is_idempotent && (failed.was_idle || failed.has_another);
    default:
      return false;
  }
}

}  // namespace weir::proxy
