#include "upstream/pooled_server.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/ip/basic_resolver.hpp>

namespace weir::upstream {
namespace {

constexpr std::size_t most_idle = 512;  ///< across all servers of an upstream

/// True for errors caused by this host, not by the server.
bool is_shortage(const error_code& ec) {
  return ec == asio::error::no_descriptors || ec == asio::error::no_buffer_space ||
         ec == asio::error::no_memory || ec == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

PooledServer::PooledServer(std::shared_ptr<PoolState> state, Server settings,
                           std::shared_ptr<Gauge> in_use)
    : state_(std::move(state)),
      settings_(std::move(settings)),
      authority_(settings_.authority()),
      in_use_(std::move(in_use)),
      addresses_(settings_.host, settings_.port) {
  in_use_->set(1);
}

bool PooledServer::has_changed() {
  if (is_in_use() == was_in_use_) return false;
  was_in_use_ = is_in_use();
  in_use_->set(was_in_use_ ? 1 : 0);
  return true;
}

void PooledServer::begin(std::uint64_t generation, const std::optional<HealthCheckOptions>& check) {
  generation_ = generation;
  if (check) {
    health_.set(check->rise, check->fall);
  } else {
    health_ = Health(1, 1);
  }
}

void PooledServer::retire() {
  is_retired_ = true;
  close_idle();
}

std::unique_ptr<Connection> PooledServer::take_idle(std::uint64_t client) {
  if (state_->reuse == Reuse::safe) return take_own(client);
  const bool many = state_->turns.are_many();
  if (!many || quiet_in_ != state_->turns.pass()) put_back_quiet();
  if (many && quiet_.empty()) look_at_idle();
  auto& from = quiet_.empty() ? idle_ : quiet_;
  while (!from.empty()) {
    auto connection = std::move(from.back().connection);
    from.pop_back();
    --state_->idle;
    // A byte or an end of stream here would be read as the next response.
    if (&from == &quiet_ || connection->stream.is_quiet()) return connection;
  }
  return nullptr;
}

/// Returns the newest one; a retry on a new connection may leave an older one idle.
std::unique_ptr<Connection> PooledServer::take_own(std::uint64_t client) {
  const auto own = std::find_if(idle_.rbegin(), idle_.rend(),
                                [client](const Idle& idle) { return idle.client == client; });
  if (own == idle_.rend()) return nullptr;
  auto connection = std::move(own->connection);
  idle_.erase(std::next(own).base());
  --state_->idle;
  if (!connection->stream.is_quiet()) return nullptr;
  return connection;
}

/// Uses one system call for all takers in this pass, instead of one for each.
void PooledServer::look_at_idle() {
  std::array<pollfd, 16> looks{};
  const std::size_t count = std::min(looks.size(), idle_.size());
  quiet_.reserve(count);
  const auto latest = idle_.end() - static_cast<std::ptrdiff_t>(count);
  std::transform(latest, idle_.end(), looks.begin(), [](const Idle& idle) {
    return pollfd{idle.connection->stream.socket().native_handle(), POLLIN | POLLRDHUP, 0};
  });
  if (::poll(looks.data(), count, 0) < 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    Idle& idle = latest[static_cast<std::ptrdiff_t>(i)];
    loop::Stream& stream = idle.connection->stream;
    // poll(2) reports nothing for a closed descriptor and not enough for TLS.
    const bool is_plain = stream.is_open() && !stream.is_secure();
    if ((is_plain && looks[i].revents == 0) || stream.is_quiet()) {
      quiet_.push_back(std::move(idle));
    } else {
      --state_->idle;
    }
  }
  idle_.erase(latest, idle_.end());
  quiet_in_ = state_->turns.pass();
}

void PooledServer::put_back_quiet() {
  idle_.reserve(idle_.size() + quiet_.size());
  std::move(quiet_.begin(), quiet_.end(), std::back_inserter(idle_));
  quiet_.clear();
}

void PooledServer::give_back(std::unique_ptr<Connection> connection, std::uint64_t tick,
                             std::uint64_t client) {
  if (is_retired_ || !connection->input.empty() || !is_in_use() || state_->descriptors.is_short())
    return;
  if (state_->idle >= most_idle) {
    put_back_quiet();
    if (idle_.empty()) return;
    idle_.erase(idle_.begin());
    --state_->idle;
  }
  connection->reused = true;
  connection->reusable = false;  // until the next response sets it
  connection->idle_since = tick;
  connection->input.shrink();
  idle_.push_back({std::move(connection), client});
  ++state_->idle;
}

template <class Condition>
void PooledServer::close_if(Condition&& condition) {
  put_back_quiet();
  state_->idle -= std::erase_if(idle_, std::forward<Condition>(condition));
}

void PooledServer::close_idle() {
  close_if([](const Idle&) { return true; });
}

void PooledServer::close_idle_of(std::uint64_t client) {
  close_if([client](const Idle& idle) { return idle.client == client; });
}

void PooledServer::sweep(std::uint64_t tick) {
  const std::uint64_t idle_ticks = loop::ticks_in(state_->idle_timeout);
  close_if([&](const Idle& idle) {
    Connection& connection = *idle.connection;
    return connection.idle_since + idle_ticks <= tick || !addresses_.has(connection.endpoint) ||
           !connection.stream.is_quiet();
  });
  // Looked up here because requests on kept connections cause no lookup.
  const bool is_used = was_connected_ || !idle_.empty();
  if (is_used && !looking_up_ && !addresses_.is_fresh(tick)) {
    was_connected_ = false;
    loop::spawn(state_->io, look_up(shared_from_this(), tick));
  }
}

void PooledServer::failed(std::uint64_t tick) {
  if (ejection_.failed(tick)) close_idle();
}

void PooledServer::checked(bool good) {
  if (!health_.observe(good)) return;
  if (good) {
    ejection_.succeeded();
  } else {
    close_idle();
  }
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
    socket = loop::Socket(state_->io.get_executor());
    connection.endpoint = endpoint;
    socket.open(endpoint.protocol(), ec);
    if (is_shortage(ec)) {
      state_->give_up_idle();
      socket.open(endpoint.protocol(), ec);
    }
    if (is_shortage(ec)) co_return asio::error::no_descriptors;
    if (ec) continue;
    co_await socket.async_connect(asio::generic::stream_protocol::endpoint(endpoint),
                                  loop::into(ec));
    if (!ec) {
      socket.non_blocking(true, ec);
      const int on = 1;
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (settings_.secure)
        ec = co_await connection.stream.connect_tls(state_->tls, settings_.host);
      break;
    }
    if (ec == asio::error::operation_aborted) break;
  }
  if (ec == asio::error::operation_aborted) {
    last_error_ = "no connection in time";
  } else if (ec) {
    note(connection, ec.message());
  }
  co_return ec;
}

void PooledServer::note(const Connection& connection, std::string_view otherwise) {
  const std::string_view tls_error = connection.stream.last_error();
  last_error_ = tls_error.empty() ? std::string(otherwise) : "TLS: " + std::string(tls_error);
}

}  // namespace weir::upstream
