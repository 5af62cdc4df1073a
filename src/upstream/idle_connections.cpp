#include "upstream/idle_connections.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::upstream {
namespace {

constexpr std::size_t most_idle = 512;  ///< across all servers of an upstream

}  // namespace

std::unique_ptr<Connection> IdleConnections::take() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back().connection);
    idle_.pop_back();
    --total_;
    // A byte or an end of stream here would be read as the next response.
    if (connection->stream.is_quiet()) return connection;
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

void IdleConnections::give_back(std::unique_ptr<Connection> connection, std::uint64_t client) {
  if (total_ >= most_idle) {
    if (idle_.empty()) return;
    idle_.erase(idle_.begin());
    --total_;
  }
  idle_.push_back({std::move(connection), client});
  ++total_;
}

void IdleConnections::close_all() {
  total_ -= idle_.size();
  idle_.clear();
}

void IdleConnections::close_of(std::uint64_t client) {
  total_ -= std::erase_if(idle_, [client](const Idle& idle) { return idle.client == client; });
}

void IdleConnections::close_if(const std::function<bool(Connection&)>& condition) {
  total_ -= std::erase_if(idle_, [&](const Idle& idle) { return condition(*idle.connection); });
}

}  // namespace weir::upstream
