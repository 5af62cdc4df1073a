#include "proxy/client_connection.hpp"

#include <string>

#include "identity/client_address.hpp"
#include "loop/ticks.hpp"

namespace weir::proxy {
namespace {

constexpr Duration linger_timeout = std::chrono::seconds(2);
constexpr std::size_t linger_limit = 1024 * 1024;
constexpr std::size_t linger_limit_after_fault = 64 * 1024;
constexpr std::size_t drop_size = 16 * 1024;  ///< of a read

/// As it is written in the configuration: `192.0.2.1`, or `2001:db8::/64`.
std::string network_of(const identity::ClientAddressOptions& settings, const IpAddress& masked) {
  const int bits = masked.is_v4() ? 96 + settings.ipv4_prefix : settings.ipv6_prefix;
  return IpPrefix::around(masked, bits).to_string();
}

void warn_of_refusal(Context& context, const IpAddress& masked, AddressConnections::Bound bound) {
  if (!context.address_connections.may_log(bound, context.clock.now())) return;
  const options::Proxy& options = context.generation->options;
  const std::string whose =
      "connections of " + network_of(options.client_address, masked) + " are refused: ";
  if (bound == AddressConnections::Bound::connections) {
    context.warn(whose + "as many are open as downstream.per_address.connections allows, " +
                 std::to_string(options.downstream.per_address.connections));
  } else {
    context.warn(whose + "they come faster than downstream.per_address.rate allows");
  }
}

}  // namespace

bool admit_from(Context& context, const IpAddress& peer, AddressConnections::Slot& slot) {
  const options::Proxy& options = context.generation->options;
  const options::PerAddress& bounds = options.downstream.per_address;
  if (!bounds.is_on() || identity::is_trusted(options.client_address, peer)) return true;
  const IpAddress masked =
      peer.masked(options.client_address.ipv4_prefix, options.client_address.ipv6_prefix);
  const auto exceeded =
      context.address_connections.admit(masked, bounds, context.clock.now(), slot);
  if (exceeded == AddressConnections::Bound::none) return true;
  RefusedByAddress& refused = context.counters.refused_by_address;
  const bool is_rate = exceeded == AddressConnections::Bound::rate;
  (is_rate ? refused.rate : refused.connections).add();
  warn_of_refusal(context, masked, exceeded);
  return false;
}

bool ClientConnection::is_beyond_max_age() const {
  const Duration most = context.generation->options.downstream.max_age;
  if (most == Duration{0}) return false;
  // Multiples of the golden ratio are distributed evenly (Knuth, "The Art of Computer Programming",
  // volume 3, section 6.4).
  const auto part = static_cast<std::int64_t>(number * 0x9e3779b97f4a7c15 >> 56);
  const Duration spread = most / 10 * part / 256;
  return context.wheel.now() - opened_at >= loop::ticks_in(most + spread);
}

void ClientConnection::set_peer(http::ReceivedRequest& request) {
  const Generation& generation = *context.generation;
  if (trusted_by_ != generation.number) {
    is_trusted_ = identity::is_trusted(generation.options.client_address, peer);
    trusted_by_ = generation.number;
  }
  request.peer = request.client = peer;
  request.peer_is_trusted = is_trusted_;
}

loop::Task<> drop_rest(ClientConnection& client, Rest rest) {
  loop::Stream& stream = client.stream;
  Watchdog& watchdog = client.watchdog;
  Context& context = client.context;
  if (watchdog.aborted() || !stream.is_open()) co_return;
  watchdog.arm(Phase::linger, linger_timeout);
  error_code ec = co_await stream.shutdown_send();
  if (rest == Rest::none) co_return;
  const std::size_t most = rest == Rest::of_fault ? linger_limit_after_fault : linger_limit;
  for (std::size_t dropped = 0; !ec && dropped < most;) {
    co_await context.bursts.next();  // reads of a client that sends without end cost much
    if (watchdog.timed_out() || !stream.is_open()) co_return;
    const auto scratch = context.tunnel_scratch().first(drop_size);
    dropped += co_await stream.read(asio::buffer(scratch.data(), scratch.size()), ec,
                                    loop::ReadTime::last);
  }
}

}  // namespace weir::proxy
