#include "upstream/pool.hpp"

#include <algorithm>

namespace weir::upstream {
namespace {

bool is_same(const options::Server& a, const options::Server& b) {
  return a.secure == b.secure && a.host == b.host && a.port == b.port;
}

}  // namespace

Pool::Pool(PoolDependencies with, const Pool* before, std::uint64_t seed)
    : dependencies_(std::move(with.servers)),
      settings_(with.settings),
      balancer_(settings_.balance, settings_.servers),
      active_(settings_.servers.size()) {
  std::vector<Member> members;
  if (before != nullptr && with.has_same_certificates && goes_on_from(*before)) {
    state_ = before->state_;
    members = before->members_;
  } else {
    state_ = std::make_shared<PoolState>(
        PoolState{{dependencies_}, settings_.reuse, settings_.protocol});
  }
  state_->idle_timeout = settings_.idle_timeout;
  // A request under the previous configuration may still connect to a server with https://.
  if (with.tls) state_->tls = with.tls;
  for (std::size_t i = 0; i < settings_.servers.size(); ++i)
    add(settings_.servers[i], with.in_use[i], seed + i, members);
}

/// True if connections of the previous pool may be kept: the settings that decide their use and
/// their destination are the same.
bool Pool::goes_on_from(const Pool& before) const {
  return settings_.reuse == before.settings_.reuse &&
         settings_.protocol == before.settings_.protocol && settings_.tls == before.settings_.tls;
}

/// Carries the server over from the previous pool, if it is there; otherwise creates it.
void Pool::add(const options::Server& settings, std::shared_ptr<Gauge> in_use, std::uint64_t seed,
               std::vector<Member>& before) {
  Member member;
  const auto found = std::find_if(before.begin(), before.end(), [&](const Member& one) {
    return is_same(one.server->settings(), settings);
  });
  if (found != before.end()) {
    member = std::move(*found);
    before.erase(found);
  } else {
    member.server = std::make_shared<PooledServer>(state_, settings, std::move(in_use));
  }
  const auto& wanted = settings_.health_check;
  if (!wanted) {
    member.check.reset();
  } else if (!member.check || member.check->settings() != *wanted) {
    member.check = std::make_shared<HealthCheck>(dependencies_.io, member.server, *wanted, seed);
  }
  members_.push_back(std::move(member));
}

void Pool::begin(std::uint64_t generation) {
  for (Member& member : members_) {
    member.server->begin(generation, settings_.health_check);
    if (member.check) member.check->begin(generation);
  }
}

void Pool::retire(std::uint64_t generation,
                  const std::function<void(const PooledServer&)>& removed) {
  for (Member& member : members_) {
    if (member.check && member.check->generation() != generation) member.check->stop();
    if (member.server->generation() == generation) continue;
    if (!member.server->availability().was_in_use()) removed(*member.server);
    member.server->retire();
  }
}

ServerSet Pool::up() const {
  ServerSet set;
  for (std::size_t i = 0; i < members_.size(); ++i)
    set[i] = members_[i].server->availability().is_up();
  return set;
}

Pool::Choice Pool::choose(std::uint64_t tick, const ServerSet& tried) {
  if (members_.size() == 1) {
    PooledServer* const only = members_[0].server.get();
    return {.server = only->availability().is_up() ? only : nullptr};
  }
  ServerSet eligible = up();
  if ((eligible & ~tried).any()) eligible &= ~tried;
  ServerSet preferred = eligible;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].server->availability().is_out(tick)) preferred.reset(i);
    active_[i] = members_[i].server->active();
  }
  const auto index = balancer_.choose(preferred.any() ? preferred : eligible, active_);
  if (!index) return {};
  members_[*index].server->chosen(tick);
  return {.server = members_[*index].server.get(), .index = *index};
}

void Pool::close_idle() {
  for (Member& member : members_)
    member.server->close_idle();
}

void Pool::close_idle_of(std::uint64_t client) {
  if (state_->reuse != options::Reuse::safe) return;
  for (Member& member : members_)
    member.server->close_idle_of(client);
}

/// A worker that lacks a descriptor can close its own idle connections only.
void Pool::on_tick(std::uint64_t tick) {
  if (dependencies_.descriptors.is_short()) close_idle();
  for (Member& member : members_) {
    if (member.check) member.check->on_tick(tick);
  }
}

void Pool::sweep(std::uint64_t tick,
                 const std::function<void(const PooledServer&, bool)>& changed) {
  for (Member& member : members_) {
    member.server->sweep(tick);
    if (member.server->has_changed())
      changed(*member.server, member.server->availability().is_in_use());
  }
}

void Pool::stop() {
  for (Member& member : members_) {
    if (member.check) member.check->stop();
    member.server->retire();
  }
}

}  // namespace weir::upstream
