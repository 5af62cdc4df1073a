#include "proxy/delay.hpp"

#include "loop/cancellable.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {
namespace {

class Delay final : public loop::Timer, public loop::Cancellable {
 public:
  using loop::Timer::Timer;
  void cancel() override { loop::Timer::cancel(); }
  void close() override { loop::Timer::cancel(); }
};

}  // namespace

loop::Task<> wait_delay(Context& context, const ClientSide& client, Duration duration) {
  error_code ec;
  Delay delay(context.io.get_executor(), duration);
  client.watchdog->disarm(Phase::delay);
  const Watched watched(*client.watchdog, delay);
  co_await delay.async_wait(loop::into(ec));
  if (!client.watchdog->aborted() && client.body->client_has_left()) client.watchdog->client_left();
}

}  // namespace weir::proxy
