#include "proxy/upstream_pool.hpp"

#include <algorithm>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/ip/basic_resolver.hpp>

#include "proxy/ticks.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t most_idle = 512;
constexpr std::uint64_t resolved_for_ticks = ticks_in(std::chrono::seconds(10));

/// Nothing to read and not closed: a byte or an end here would be taken for the next answer.
bool is_quiet(Socket& socket) {
  char byte = 0;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace

std::unique_ptr<UpstreamConnection> UpstreamPool::take_idle() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (is_quiet(connection->socket)) return connection;
  }
  return nullptr;
}

void UpstreamPool::give_back(std::unique_ptr<UpstreamConnection> connection, std::uint64_t tick) {
  if (!connection->input.empty()) return;
  if (idle_.size() == most_idle) idle_.erase(idle_.begin());
  connection->reused = true;
  connection->idle_since = tick;
  connection->input.shrink();
  idle_.push_back(std::move(connection));
}

void UpstreamPool::close_idle(std::uint64_t tick, std::uint64_t idle_ticks) {
  const auto young = std::find_if(idle_.begin(), idle_.end(), [&](const auto& connection) {
    return connection->idle_since + idle_ticks > tick;
  });
  idle_.erase(idle_.begin(), young);
}

Task<error_code> UpstreamPool::resolve(std::uint64_t tick, Duration timeout) {
  if (!endpoints_.empty() && tick - resolved_at_ < resolved_for_ticks) co_return error_code{};
  if (!looking_up_) {
    looking_up_ = true;
    spawn(io_, look_up(tick));
  }
  error_code ec;
  Timer patience(io_.get_executor(), timeout);
  waiting_.push_back(&patience);
  co_await patience.async_wait(into(ec));
  const bool still_waiting = std::erase(waiting_, &patience) > 0;
  co_return still_waiting ? error_code(asio::error::timed_out) : lookup_error_;
}

Task<> UpstreamPool::look_up(std::uint64_t tick) {
  error_code ec;
  asio::ip::basic_resolver<asio::ip::tcp, Executor> resolver(io_.get_executor());
  const auto found = co_await resolver.async_resolve(
      settings_.server.host, std::to_string(settings_.server.port), into(ec));
  if (!ec) {
    endpoints_.assign(found.begin(), found.end());
    resolved_at_ = tick;
  }
  lookup_error_ = endpoints_.empty() ? ec : error_code{};  // old addresses are better than none
  looking_up_ = false;
  for (Timer* const timer : std::exchange(waiting_, {}))
    timer->cancel();
}

Task<error_code> UpstreamPool::connect(UpstreamConnection& connection) {
  error_code ec = asio::error::host_not_found;
  const Endpoints endpoints = endpoints_;
  for (const auto& endpoint : endpoints) {
    connection.socket = Socket(io_.get_executor());
    co_await connection.socket.async_connect(asio::generic::stream_protocol::endpoint(endpoint),
                                             into(ec));
    if (!ec) {
      connection.socket.non_blocking(true, ec);
      const int on = 1;
      ::setsockopt(connection.socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      co_return ec;
    }
    if (ec == asio::error::operation_aborted) break;
  }
  co_return ec;
}

}  // namespace weir::proxy
