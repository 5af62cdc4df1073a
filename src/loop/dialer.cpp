#include "loop/dialer.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/local/stream_protocol.hpp>

namespace weir::loop {

Dialer::Dialer(asio::io_context& io)
    : io_(io),
      stream_(io),
      deadline_(io.get_executor()),
      lookup_ends_(io.get_executor()),
      turn_ends_(io.get_executor()) {}

void Dialer::set_deadline(Time deadline) {
  const Time now = std::chrono::steady_clock::now();
  attempt_.begin(now, std::chrono::duration_cast<Duration>(deadline - now));
  deadline_.expires_at(deadline);
  deadline_.async_wait([this, watch = presence_.watch()](const error_code& ec) {
    if (!watch.expired() && !ec) give_up();
  });
}

/// A task between two operations reads the flag.
void Dialer::give_up() {
  is_over_ = true;
  deadline_.cancel();
  lookup_ends_.cancel();
  turn_ends_.cancel();
  stream_.close();
}

Task<std::string> Dialer::connect(Server server) {
  phase_ = "looking up the name";
  is_secure_ = server.tls != nullptr;
  if (is_over_) co_return failure("", {});
  const Result<Addresses> addresses = co_await find_addresses(server);
  if (!addresses) co_return addresses.error().message;
  phase_ = "connecting";
  error_code ec = server.unix_path.empty() ? co_await connect_any(*addresses)
                                           : co_await connect_unix(server.unix_path);
  if (ec || is_over_) co_return failure("cannot connect", ec);
  const int on = 1;
  ::setsockopt(stream_.socket().native(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!is_secure_) co_return std::string();
  phase_ = "in the TLS handshake";
  ec = co_await stream_.connect_tls(server.tls, server.host);
  if (ec || is_over_) co_return failure("TLS handshake", ec);
  co_return std::string();
}

Task<Result<Addresses>> Dialer::find_addresses(const Server& server) {
  if (!server.unix_path.empty()) co_return Addresses{};
  error_code ec;
  const auto literal = asio::ip::make_address(server.host, ec);
  if (!ec) co_return Addresses{{literal, server.port}};
  Result<Addresses> found = Problem{};
  const Lookup lookup(io_, server.host, server.port, [&](Result<Addresses> result) {
    found = std::move(result);
    lookup_ends_.cancel();
  });
  lookup_ends_.expires_at(Timer::time_point::max());
  co_await lookup_ends_.async_wait(into(ec));
  if (is_over_) co_return Problem{failure("", {})};
  if (!found) co_return Problem{"cannot look up the name: " + found.error().message};
  co_return found;
}

Task<error_code> Dialer::connect_unix(const std::string& path) {
  error_code ec;
  stream_.socket().open(AF_UNIX, ec);
  if (ec) co_return ec;
  const asio::local::stream_protocol::endpoint address(path);
  co_return co_await stream_.socket().connect(address);
}

/// Tries the addresses in turn. Returns the error of the last one.
Task<error_code> Dialer::connect_any(const Addresses& addresses) {
  error_code ec;
  attempt_.set_addresses(addresses.size());
  while (attempt_.has_next() && !is_over_) {
    const ConnectAttempt::Address turn = attempt_.next(std::chrono::steady_clock::now());
    const auto& address = addresses[turn.index];
    stream_.socket().open(address.protocol().family(), ec);
    if (ec) continue;
    if (attempt_.has_next()) cancel_at(turn);
    connecting_ = turn.index;
    ec = co_await stream_.socket().connect(asio::generic::stream_protocol::endpoint(address));
    connecting_.reset();
    turn_ends_.cancel();
    if (!ec) break;
  }
  co_return ec;
}

/// Ends the attempt at this address when its time is over. A wait that has expired cannot be
/// cancelled, so it compares the index.
void Dialer::cancel_at(ConnectAttempt::Address address) {
  turn_ends_.expires_at(address.until);
  turn_ends_.async_wait(
      [this, watch = presence_.watch(), index = address.index](const error_code& ec) {
        if (!watch.expired() && !ec && connecting_ == index) stream_.cancel();
      });
}

std::string Dialer::failure(std::string_view what, const error_code& ec) const {
  if (is_over_) return "timed out while " + std::string(phase_);
  if (const auto tls_error = stream_.last_error(); !tls_error.empty())
    return "TLS: " + std::string(tls_error);
  // The stream reports this for TLS that ends too early.
  const bool is_cut = is_secure_ && ec == asio::error::connection_aborted;
  return std::string(what).append(": ").append(
      is_cut ? "reset by the server, or closed without close_notify" : ec.message());
}

}  // namespace weir::loop
