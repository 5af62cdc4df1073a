#include "proxy/upstream_pool.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {

UpstreamPool::UpstreamPool(UpstreamNeeds needs, const upstream::Upstream& settings,
                           std::span<Gauge> in_use, std::uint64_t seed)
    : shares_{{std::move(needs)}, settings, {}, 0, {}},
      balancer_(settings.balance, settings.servers),
      in_use_(in_use) {
  shares_.active.resize(settings.servers.size());
  for (std::size_t i = 0; i < settings.servers.size(); ++i) {
    servers_.push_back(std::make_unique<UpstreamServer>(shares_, i));
    in_use_[i].set(1);
    if (!settings.health_check) continue;
    checks_.push_back(
        std::make_unique<HealthCheck>(shares_.io, *servers_[i], *settings.health_check, seed + i));
  }
}

ServerSet UpstreamPool::up() const {
  ServerSet set;
  for (const auto& server : servers_)
    set[server->index()] = server->is_up();
  return set;
}

UpstreamServer* UpstreamPool::choose(std::uint64_t tick, const ServerSet& tried) {
  if (servers_.size() == 1) return servers_[0]->is_up() ? servers_[0].get() : nullptr;
  ServerSet eligible = up();
  if ((eligible & ~tried).any()) eligible &= ~tried;
  ServerSet preferred = eligible;
  for (const auto& server : servers_) {
    if (server->is_out(tick)) preferred.reset(server->index());
  }
  const auto index = balancer_.choose(preferred.any() ? preferred : eligible, shares_.active);
  if (!index) return nullptr;
  servers_[*index]->chosen(tick);
  return servers_[*index].get();
}

void UpstreamPool::set_tls(std::shared_ptr<const tls::ClientContext> context) {
  shares_.tls = std::move(context);
  close_idle();
}

void UpstreamPool::close_idle() {
  for (auto& server : servers_)
    server->close_idle();
}

void UpstreamPool::close_idle_of(std::uint64_t client) {
  if (settings().reuse != upstream::Reuse::safe) return;
  for (auto& server : servers_)
    server->close_idle_of(client);
}

/// A worker that lacks a descriptor can close its own idle connections only.
void UpstreamPool::on_tick(std::uint64_t tick) {
  if (shares_.descriptors.is_short()) close_idle();
  for (auto& check : checks_)
    check->on_tick(tick);
}

void UpstreamPool::sweep(std::uint64_t tick,
                         const std::function<void(std::size_t, bool)>& changed) {
  for (auto& server : servers_) {
    server->sweep(tick);
    Gauge& in_use = in_use_[server->index()];
    if (server->is_in_use() == (in_use.value() != 0)) continue;
    in_use.set(server->is_in_use() ? 1 : 0);
    changed(server->index(), server->is_in_use());
  }
}

void UpstreamPool::stop() {
  for (auto& check : checks_)
    check->stop();
  close_idle();
}

}  // namespace weir::proxy
