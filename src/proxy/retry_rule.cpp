#include "proxy/retry_rule.hpp"

namespace weir::proxy {

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
         method == "DELETE";
}

bool may_repeat(const FailedTry& failed) {
  if (failed.client_is_gone || failed.response_has_begun) return false;
  if (failed.retries_left <= 0 || failed.answer_has_begun || !failed.body_is_kept) return false;
  switch (failed.failure) {
    case Failure::upstream_unreachable:  // nothing was sent
      return true;
    case Failure::upstream_connect_timeout:  // nothing was sent, but the client has waited
      return failed.has_another;
    case Failure::upstream_broken:
    case Failure::upstream_refused:
    case Failure::upstream_reset:
    case Failure::upstream_goaway:
      return failed.was_refused ||
             (failed.is_idempotent && (failed.was_idle || failed.has_another));
    default:
      return false;
  }
}

bool is_servers_fault(const FailedTry& failed) {
  if (failed.was_answered || failed.client_was_awaited || failed.was_refused) return false;
  return failed.failure == Failure::upstream_unreachable ||
         failed.failure == Failure::upstream_connect_timeout ||
         failed.failure == Failure::upstream_timed_out ||
         (is_cut(failed.failure) && !failed.was_idle);
}

std::size_t kept_body_limit(const options::Upstream& settings,
                            const http::ReceivedRequest& request) {
  const bool may_be_refused = settings.protocol != options::Protocol::http1;
  const bool may_be_repeated = may_be_refused || is_idempotent(request.view.method);
  if (settings.retries == 0 || !may_be_repeated) return 0;
  const bool is_larger = request.framing.kind == http::Framing::Kind::length &&
                         request.framing.length > settings.retry_body;
  return is_larger ? 0 : settings.retry_body;
}

}  // namespace weir::proxy
