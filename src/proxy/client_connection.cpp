#include "proxy/client_connection.hpp"

#include "identity/client_address.hpp"

namespace weir::proxy {
namespace {

constexpr Duration linger_timeout = std::chrono::seconds(2);
constexpr std::size_t linger_limit = 1024 * 1024;

}  // namespace

void ClientConnection::set_peer(http::ReceivedRequest& request) {
  const Generation& generation = *context.generation;
  if (trusted_by_ != generation.number) {
    is_trusted_ = identity::is_trusted(generation.options.client_address, peer);
    trusted_by_ = generation.number;
  }
  request.peer = request.client = peer;
  request.peer_is_trusted = is_trusted_;
}

loop::Task<> drop_rest(ClientConnection& client, bool is_read) {
  loop::Stream& stream = client.stream;
  Watchdog& watchdog = client.watchdog;
  loop::InputBuffer& input = client.input;
  if (watchdog.aborted() || !stream.is_open()) co_return;
  watchdog.arm(Phase::linger, linger_timeout);
  error_code ec = co_await stream.shutdown_send();
  if (is_read) co_return;
  if (!input.has_memory()) input.adopt(client.context.take_head_buffer());
  for (std::size_t dropped = 0; !ec && !watchdog.timed_out() && dropped < linger_limit;) {
    input.consume(input.data().size());
    dropped += co_await stream.read(asio::buffer(input.free_begin(), input.free_size()), ec);
  }
}

}  // namespace weir::proxy
