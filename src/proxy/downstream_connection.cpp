#include "proxy/downstream_connection.hpp"

#include <algorithm>
#include <utility>

#include "identity/client_address.hpp"
#include "proxy/context.hpp"

namespace weir::proxy {
namespace {

constexpr Duration drain_handshake = std::chrono::seconds(5);

}  // namespace

void DownstreamConnection::start(Context& context, ListenerConnections& listener,
                                 loop::Descriptor socket, const IpAddress& peer,
                                 const ListenerOptions& options, AddressConnections::Slot slot) {
  auto connection =
      std::make_unique<DownstreamConnection>(context, listener, std::move(socket), peer, false);
  connection->client_.address_slot = std::move(slot);
  loop::Task<> task = connection->run(options);
  loop::spawn(context.io, guard(std::move(connection), std::move(task)));
}

void DownstreamConnection::turn_away(Context& context, ListenerConnections& listener,
                                     loop::Descriptor socket, const IpAddress& peer) {
  auto connection =
      std::make_unique<DownstreamConnection>(context, listener, std::move(socket), peer, true);
  loop::Task<> task = connection->http1_.turn_away();
  loop::spawn(context.io, guard(std::move(connection), std::move(task)));
}

/// Errors are values. An exception, caused by lack of memory or by a defect, ends this connection
/// only.
loop::Task<> DownstreamConnection::guard(std::unique_ptr<DownstreamConnection> connection,
                                         loop::Task<> task) {
  try {
    loop::Task<> ends_first = std::move(task);
    co_await ends_first;
  } catch (const std::exception& thrown) {
    connection->give_up(thrown);
  }
}

/// A cut response must not look complete.
void DownstreamConnection::give_up(const std::exception& thrown) {
  client_.context.warn_of(thrown, "a connection was given up");
  client_.stream.reset();
}

DownstreamConnection::DownstreamConnection(Context& context, ListenerConnections& listener,
                                           loop::Descriptor socket, const IpAddress& peer,
                                           bool is_refused)
    : client_(context, listener, std::move(socket), peer),
      is_refused_(is_refused),
      index_(context.connections.size()),
      http1_(client_) {
  context.connections.push_back(this);
  ++listener.count;
  count_of_kind().fetch_add(1, std::memory_order_relaxed);
  context.counters.connections.add(1);
}

DownstreamConnection::~DownstreamConnection() {
  Context& context = client_.context;
  http1_.release();
  if (http1_.has_own_upstreams() || http2_had_own_upstreams_) context.close_idle_of(client_.number);
  context.connections.back()->index_ = index_;
  std::swap(context.connections[index_], context.connections.back());
  context.connections.pop_back();
  --client_.listener.count;
  context.counters.connections.add(-1);
  count_of_kind().fetch_sub(1, std::memory_order_relaxed);
  if (context.draining && context.connections.empty() && context.when_empty) context.when_empty();
}

std::atomic<std::size_t>& DownstreamConnection::count_of_kind() const {
  return is_refused_ ? client_.context.open_refusals : client_.context.open_connections;
}

loop::Task<> DownstreamConnection::run(ListenerOptions options) {
  if (!options.begin_with_request()) {
    client_.watchdog.arm(Phase::open, client_.context.generation->options.downstream.head_timeout);
    if (client_.is_draining()) drain();
    ConnectionOpening opening(client_);
    const auto outcome = co_await opening.run(options);
    if (outcome == ConnectionOpening::Outcome::closed) co_return;
    if (outcome == ConnectionOpening::Outcome::plain) co_return co_await http1_.refuse_plain();
    if (alpn_of(client_.stream) == "h2") co_return co_await serve_http2();
  }
  if (co_await http1_.run(options.http2) == Http1Connection::End::http2) co_await serve_http2();
}

loop::Task<> DownstreamConnection::serve_http2() {
  http2_ = std::make_unique<Http2Connection>(client_);
  co_await http2_->run();
  const Rest rest = http2_->has_failed() ? Rest::of_fault : Rest::usual;
  http2_had_own_upstreams_ = http2_->has_own_upstreams();
  http2_.reset();  // a client that sends without end may stay for some time
  co_await drop_rest(client_, rest);
}

/// A connection that is being opened or closed is left alone: its deadline is not extended.
void DownstreamConnection::drain_if_aged() {
  if (client_.has_aged || !client_.is_beyond_max_age()) return;
  client_.has_aged = true;
  const Phase phase = client_.watchdog.phase();
  if (phase != Phase::open && phase != Phase::linger) drain();
}

void DownstreamConnection::look_after_client() {
  drain_if_aged();
  if (!http2_) http1_.look_after_client();  // HTTP/2 reads all the time
}

void DownstreamConnection::drain() {
  if (http2_) return http2_->drain();
  http1_.drain();
  // No request is in progress here, but a handshake may be.
  Watchdog& watchdog = client_.watchdog;
  if (watchdog.phase() != Phase::open || watchdog.timed_out()) return;
  watchdog.arm(Phase::open, std::min(drain_handshake,
                                     client_.context.generation->options.downstream.head_timeout));
}

void DownstreamConnection::count_for_address(const options::Proxy& next) {
  const identity::ClientAddressOptions& address = next.client_address;
  if (client_.address_slot.is_taken() || is_refused_ || identity::is_trusted(address, client_.peer))
    return;
  client_.address_slot = client_.context.address_connections.count(
      client_.peer.masked(address.ipv4_prefix, address.ipv6_prefix));
}

void DownstreamConnection::abort() {
  if (http2_) return http2_->abort();
  client_.watchdog.abort();
}

}  // namespace weir::proxy
