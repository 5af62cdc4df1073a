#include "proxy/forwarding.hpp"

#include "proxy/attempt.hpp"

namespace weir::proxy {

loop::Task<Failure> Forwarding::run() {
  phase_.record.upstream = &phase_.upstream();
  const int retries = phase_.upstream().retries;
  DeadlineWheel& wheel = phase_.context.wheel;
  upstream::ServerSet tried;
  Failure failure = Failure::none;
  // After one idle connection turned out to be closed, the next one is not trusted either.
  bool may_reuse = true;
  for (int attempts = 0; attempts <= retries; ++attempts) {
    const upstream::Pool::Choice choice = phase_.pool.choose(wheel.now(), tried);
    if (choice.server == nullptr) {
      if (attempts == 0) failure = Failure::upstream_unhealthy;
      break;
    }
    Attempt attempt(phase_, *choice.server);
    failure = co_await attempt.run(may_reuse);
    if (failure == Failure::none) break;
    tried.set(choice.index);
    FailedTry failed = attempt.failed(failure);
    failed.has_another = phase_.pool.has_another(tried);
    failed.retries_left = retries - attempts;
    attempt.report(failed);
    if (!may_repeat(failed)) break;
    may_reuse = !failed.was_idle;
    phase_.client.body->rewind();
    phase_.client.watchdog->forget_timeout();
  }
  phase_.record.failure = failure;
  count(failure);
  co_return failure;
}

void Forwarding::count(Failure failure) {
  UpstreamCounters& counters = phase_.counters;
  switch (failure) {
    case Failure::none:
      return counters.answered.add();
    case Failure::upstream_unreachable:
    case Failure::upstream_connect_timeout:
      return counters.connect_failed.add();
    case Failure::upstream_timed_out:
      return counters.timed_out.add();
    case Failure::upstream_invalid:
      phase_.context.warn("upstream " + phase_.upstream().name + ": " +
                          phase_.record.server->authority() +
                          " sent an answer that is not valid HTTP");
      [[fallthrough]];
    case Failure::upstream_broken:
    case Failure::upstream_refused:
    case Failure::upstream_reset:
    case Failure::upstream_goaway:
      return counters.broken.add();
    case Failure::upstream_unhealthy:
      return counters.unhealthy.add();
    default:  // the client's fault, or ours
      if (phase_.client.responder->has_begun()) counters.answered.add();
  }
}

}  // namespace weir::proxy
