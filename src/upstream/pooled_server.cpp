#include "upstream/pooled_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/ip/basic_resolver.hpp>

namespace weir::upstream {
namespace {

/// True for errors caused by this host, not by the server.
bool is_shortage(const error_code& ec) {
  return ec == asio::error::no_descriptors || ec == asio::error::no_buffer_space ||
         ec == asio::error::no_memory || ec == boost::system::errc::no_space_on_device ||
         ec == boost::system::errc::too_many_files_open_in_system;
}

/// True if HTTP/2 is spoken on this connection. Empty: it must be, and the server does not offer
/// it. Without TLS the server is not asked (RFC 9113 section 3.3).
std::optional<bool> chosen_protocol(const Connection& connection, options::Protocol protocol) {
  const bool has_chosen = alpn_of(connection.stream) == "h2";
  if (protocol != options::Protocol::http2) return has_chosen;
  if (connection.stream.is_secure() && !has_chosen) return std::nullopt;
  return true;
}

}  // namespace

PooledServer::PooledServer(std::shared_ptr<PoolState> state, options::Server settings,
                           std::shared_ptr<Gauge> in_use)
    : state_(std::move(state)),
      settings_(std::move(settings)),
      authority_(settings_.authority()),
      in_use_(std::move(in_use)),
      idle_(state_->idle),
      shared_(state_->io),
      is_shared_(state_->protocol == options::Protocol::http2 ||
                 (state_->protocol == options::Protocol::automatic && settings_.secure)),
      addresses_(settings_.host, settings_.port) {
  in_use_->set(1);
}

bool PooledServer::has_changed() {
  if (!availability_.has_changed()) return false;
  in_use_->set(availability_.is_in_use() ? 1 : 0);
  return true;
}

void PooledServer::begin(std::uint64_t generation,
                         const std::optional<options::HealthCheck>& check) {
  generation_ = generation;
  if (check) {
    availability_.set_thresholds(check->rise, check->fall);
  } else {
    availability_.forget_checks();
  }
}

void PooledServer::retire() {
  is_retired_ = true;
  idle_.close_all();
  shared_.close_when_idle();
}

void PooledServer::close_idle() {
  idle_.close_all();
  shared_.close_idle();
}

std::unique_ptr<Connection> PooledServer::take_idle(std::uint64_t client) {
  return state_->reuse == options::Reuse::safe ? idle_.take_own(client) : idle_.take();
}

void PooledServer::give_back(std::unique_ptr<Connection> connection, std::uint64_t tick,
                             std::uint64_t client) {
  if (is_retired_ || !connection->input.empty() || !availability_.is_in_use() ||
      state_->descriptors.is_short())
    return;
  connection->reused = true;
  connection->idle_since = tick;
  connection->input.shrink();
  idle_.give_back(std::move(connection), client);
}

void PooledServer::sweep(std::uint64_t tick) {
  const std::uint64_t idle_ticks = loop::ticks_in(state_->idle_timeout);
  idle_.close_if([&](Connection& connection) {
    return connection.idle_since + idle_ticks <= tick || !addresses_.has(connection.endpoint) ||
           !connection.stream.is_quiet();
  });
  shared_.close_if(tick, [&](const Http2Connection& connection) {
    return connection.idle_since + idle_ticks <= tick || !addresses_.has(connection.endpoint());
  });
  // Looked up here because requests on kept connections cause no lookup.
  const bool is_used = was_connected_ || !idle_.empty() || !shared_.empty();
  if (is_used && !looking_up_ && !addresses_.is_fresh(tick)) {
    was_connected_ = false;
    loop::spawn(state_->io, look_up(shared_from_this(), tick));
  }
}

void PooledServer::failed(std::uint64_t tick) {
  if (availability_.failed(tick)) close_idle();
}

void PooledServer::checked(bool good) {
  if (availability_.checked(good)) close_idle();
}

loop::Task<error_code> PooledServer::resolve(std::uint64_t tick, Duration timeout) {
  was_connected_ = true;
  if (addresses_.is_fresh(tick)) co_return error_code{};
  if (!looking_up_) loop::spawn(state_->io, look_up(shared_from_this(), tick));
  error_code ec;
  loop::Timer patience(state_->io.get_executor(), timeout);
  waiting_.push_back(&patience);
  co_await patience.async_wait(loop::into(ec));
  const bool still_waiting = std::erase(waiting_, &patience) > 0;
  if (still_waiting) last_error_ = "its name: not found in time";
  co_return still_waiting ? error_code(asio::error::timed_out) : lookup_error_;
}

/// `self` keeps the server alive until the lookup has completed.
loop::Task<> PooledServer::look_up([[maybe_unused]] std::shared_ptr<PooledServer> self,
                                   std::uint64_t tick) {
  looking_up_ = true;
  error_code ec;
  asio::ip::basic_resolver<asio::ip::tcp, loop::Executor> resolver(state_->io.get_executor());
  const auto found = co_await resolver.async_resolve(settings_.host, std::to_string(settings_.port),
                                                     loop::into(ec));
  if (!ec) addresses_.found({found.begin(), found.end()}, tick);
  lookup_error_ = addresses_.list().empty() ? ec : error_code{};
  if (lookup_error_) last_error_ = "its name: " + lookup_error_.message();
  looking_up_ = false;
  for (loop::Timer* const timer : std::exchange(waiting_, {}))
    timer->cancel();
}

/// Closes idle connections if a descriptor is needed.
bool PooledServer::has_descriptor(Connection& connection) {
  if (connection.is_check) return true;
  if (state_->descriptors.is_spent()) state_->give_up_idle();
  if (state_->descriptors.is_spent()) return false;
  connection.descriptor = loop::DescriptorBudget::Share(state_->descriptors);
  return true;
}

loop::Task<error_code> PooledServer::connect(Connection& connection) {
  error_code ec = asio::error::host_not_found;
  if (!has_descriptor(connection)) co_return asio::error::no_descriptors;
  const auto endpoints = addresses_.list();
  for (const auto& endpoint : endpoints) {
    loop::Socket& socket = connection.stream.socket();
    connection.endpoint = endpoint;
    socket.open(endpoint.protocol().family(), ec);
    if (is_shortage(ec)) {
      state_->give_up_idle();
      socket.open(endpoint.protocol().family(), ec);
    }
    if (is_shortage(ec)) co_return asio::error::no_descriptors;
    if (ec) continue;
    ec = co_await socket.connect(asio::generic::stream_protocol::endpoint(endpoint));
    if (is_shortage(ec)) co_return asio::error::no_descriptors;
    if (!ec) {
      const int on = 1;
      ::setsockopt(socket.native(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (settings_.secure)
        ec = co_await connection.stream.connect_tls(state_->tls, settings_.host);
      break;
    }
    if (ec == asio::error::operation_aborted) break;
  }
  if (ec == asio::error::operation_aborted) {
    last_error_ = "no connection in time";
  } else if (ec) {
    note(connection.stream.last_error(), ec.message());
  } else if (const auto speaks_http2 = chosen_protocol(connection, state_->protocol)) {
    connection.speaks_http2 = is_shared_ = *speaks_http2;
  } else {
    last_error_ = "it does not offer HTTP/2 (ALPN h2)";
    co_return asio::error::no_protocol_option;
  }
  co_return ec;
}

void PooledServer::note(std::string_view tls_error, std::string_view otherwise) {
  last_error_ = tls_error.empty() ? std::string(otherwise) : "TLS: " + std::string(tls_error);
}

}  // namespace weir::upstream
