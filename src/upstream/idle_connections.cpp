#include "upstream/idle_connections.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <poll.h>
#include <utility>

namespace weir::upstream {
namespace {

constexpr std::size_t most_idle = 512;  ///< across all servers of an upstream

}  // namespace

std::unique_ptr<Connection> IdleConnections::take() {
  const bool many = turns_.are_many();
  if (!many || quiet_in_ != turns_.pass()) put_back_quiet();
  if (many && quiet_.empty()) look();
  auto& from = quiet_.empty() ? idle_ : quiet_;
  while (!from.empty()) {
    auto connection = std::move(from.back().connection);
    from.pop_back();
    --total_;
    // A byte or an end of stream here would be read as the next response.
    if (&from == &quiet_ || connection->stream.is_quiet()) return connection;
  }
  return nullptr;
}

std::unique_ptr<Connection> IdleConnections::take_own(std::uint64_t client) {
  const auto own = std::find_if(idle_.rbegin(), idle_.rend(),
                                [client](const Idle& idle) { return idle.client == client; });
  if (own == idle_.rend()) return nullptr;
  auto connection = std::move(own->connection);
  idle_.erase(std::next(own).base());
  --total_;
  if (!connection->stream.is_quiet()) return nullptr;
  return connection;
}

/// Uses one system call for all takers in this pass, instead of one for each.
void IdleConnections::look() {
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
      --total_;
    }
  }
  idle_.erase(latest, idle_.end());
  quiet_in_ = turns_.pass();
}

void IdleConnections::put_back_quiet() {
  idle_.reserve(idle_.size() + quiet_.size());
  std::move(quiet_.begin(), quiet_.end(), std::back_inserter(idle_));
  quiet_.clear();
}

void IdleConnections::give_back(std::unique_ptr<Connection> connection, std::uint64_t client) {
  if (total_ >= most_idle) {
    put_back_quiet();
    if (idle_.empty()) return;
    idle_.erase(idle_.begin());
    --total_;
  }
  idle_.push_back({std::move(connection), client});
  ++total_;
}

void IdleConnections::close_all() {
  total_ -= idle_.size() + quiet_.size();
  idle_.clear();
  quiet_.clear();
}

void IdleConnections::close_of(std::uint64_t client) {
  put_back_quiet();
  total_ -= std::erase_if(idle_, [client](const Idle& idle) { return idle.client == client; });
}

void IdleConnections::close_if(const std::function<bool(Connection&)>& condition) {
  put_back_quiet();
  total_ -= std::erase_if(idle_, [&](const Idle& idle) { return condition(*idle.connection); });
}

}  // namespace weir::upstream
