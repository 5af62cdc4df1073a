#include "app/listeners.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/log.hpp"
#include "config/endpoint.hpp"

namespace weir::app {
namespace {

using One = Listeners::One;

std::string url_of(const One& one) {
  const char* const scheme = one.secure ? "https://" : "http://";
  return (one.bound.endpoint.is_unix() ? "" : scheme) + one.bound.endpoint.to_string();
}

std::string address_path(const config::Config& config, std::size_t listener) {
  return config.listener_path(listener) + ".address";
}

/// Those of `running` that `next` still has, in the order of `next`; nullptr: it is new.
std::vector<const One*> kept_of(const std::vector<One>& running,
                                const std::vector<options::Listen>& next) {
  std::vector<const One*> kept;
  for (const options::Listen& listen : next) {
    const auto same = std::find_if(running.begin(), running.end(), [&](const One& one) {
      return one.configured == listen.address &&
             std::find(kept.begin(), kept.end(), &one) == kept.end();
    });
    kept.push_back(same == running.end() ? nullptr : &*same);
  }
  return kept;
}

/// Addresses as the kernel has them: those that stay or are new, and those that will be closed.
struct Addresses {
  std::vector<Endpoint> staying;
  std::vector<Endpoint> leaving;

  static bool any(const std::vector<Endpoint>& all, const Endpoint& local) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Endpoint& one) { return config::overlap(one, local); });
  }

  /// Opens `address` for `count` workers, and adds it to those that stay.
  Result<loop::BoundAddress> open(const Endpoint& address, std::size_t count) {
    auto bound = loop::listen_on(address, count, [this](const Endpoint& local) {
      return any(leaving, local) && !any(staying, local);
    });
    if (bound) staying.push_back(bound->local);
    return bound;
  }
};

}  // namespace

Listeners::Prepared Listeners::prepare(const config::Config& next,
                                       std::vector<config::Diagnostic>& problems) {
  Prepared prepared;
  const auto kept = kept_of(running_, next.listen);
  Addresses addresses;
  for (const One& one : running_) {
    const bool stays = std::find(kept.begin(), kept.end(), &one) != kept.end();
    (stays ? addresses.staying : addresses.leaving).push_back(one.bound.local);
  }
  auto& admin = prepared.admin;
  if (next.admin) admin.configured = next.admin->address;
  admin.has_changed = admin.configured != admin_.configured;
  if (admin_.local) {
    (admin.has_changed ? addresses.leaving : addresses.staying).push_back(*admin_.local);
    if (!admin.has_changed) admin.local = admin_.local;
  }
  for (std::size_t i = 0; i < next.listen.size(); ++i) {
    const Endpoint& address = next.listen[i].address;
    One& one = prepared.all.emplace_back();
    one.configured = address;
    one.secure = !next.listen[i].certificates.empty();
    if (kept[i] != nullptr) {
      one.id = kept[i]->id;
      one.bound.endpoint = kept[i]->bound.endpoint;
      one.bound.local = kept[i]->bound.local;
    } else if (auto opened = addresses.open(address, next.workers)) {
      one.id = next_id_++;
      one.bound = std::move(*opened);
    } else {
      problems.push_back(
          next.presentation.positions.problem(address_path(next, i), opened.error().message));
    }
  }
  if (admin.has_changed && admin.configured) {
    if (auto opened = addresses.open(*admin.configured, 1)) {
      admin.local = opened->local;
      admin.bound = std::move(*opened);
    } else {
      problems.push_back(next.presentation.positions.problem(
          "admin.address", opened.error().message + ", or write `admin: off`"));
    }
  }
  return prepared;
}

void Listeners::start(Prepared& prepared, const config::Config& next,
                      std::vector<config::Diagnostic>& problems) {
  for (std::size_t i = 0; i < prepared.all.size(); ++i) {
    auto started = loop::start_listening(prepared.all[i].bound);
    if (!started)
      problems.push_back(
          next.presentation.positions.problem(address_path(next, i), started.error().message));
  }
  if (!prepared.admin.bound) return;
  auto started = loop::start_listening(*prepared.admin.bound);
  if (!started)
    problems.push_back(
        next.presentation.positions.problem("admin.address", started.error().message));
}

void Listeners::commit(Prepared next) {
  for (One& one : next.all) {
    const auto same = std::find_if(running_.begin(), running_.end(),
                                   [&](const One& running) { return running.id == one.id; });
    if (same == running_.end()) {
      log_info({"listening on ", url_of(one)});
    } else {
      one.bound.file = std::move(same->bound.file);
      running_.erase(same);
    }
    one.bound.sockets.clear();
  }
  for (const One& removed : running_)
    log_info({"no longer listening on ", url_of(removed)});
  running_ = std::move(next.all);
  admin_ = std::move(next.admin);
}

}  // namespace weir::app
