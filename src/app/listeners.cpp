#include "app/listeners.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <utility>

#include "config/endpoint.hpp"

namespace weir::app {
namespace {

std::string url_of(const Listeners::One& one) {
  const char* const scheme = one.secure ? "https://" : "http://";
  return (one.bound.is_unix() ? "" : scheme) + one.bound.to_string();
}

void remove_file_of(const Endpoint& address) {
  if (address.is_unix()) ::unlink(address.unix_path.c_str());
}

}  // namespace

Result<std::vector<Listeners::One>, config::Diagnostic> Listeners::prepare(
    std::vector<proxy::Listen>& next, std::size_t count) {
  std::vector<One> prepared;
  std::vector<bool> is_kept(running_.size());
  for (std::size_t i = 0; i < next.size(); ++i) {
    Endpoint& address = next[i].address;
    std::size_t same = 0;
    while (same < running_.size() && (is_kept[same] || running_[same].configured != address))
      ++same;
    One& one = prepared.emplace_back();
    one.configured = address;
    one.secure = !next[i].certificates.empty();
    if (same < running_.size()) {
      is_kept[same] = true;
      one.id = running_[same].id;
      address = one.bound = running_[same].bound;
      continue;
    }
    const bool overlaps_own = std::any_of(running_.begin(), running_.end(), [&](const One& own) {
      return address.port != 0 && config::overlap(own.bound, address);
    });
    auto opened = proxy::ListeningSocket::open(address, count, overlaps_own);
    if (!opened) {
      for (const One& other : prepared) {
        if (other.is_new()) remove_file_of(other.bound);
      }
      return config::Diagnostic{.line = 0,
                                .column = 0,
                                .key_path = "listen[" + std::to_string(i) + "].address",
                                .message = opened.error().message};
    }
    one.id = next_id_++;
    one.bound = address;
    one.sockets = std::move(*opened);
  }
  return {boost::system::in_place_value, std::move(prepared)};
}

void Listeners::commit(std::vector<One> next) {
  for (One& one : next) {
    const auto same = std::find_if(running_.begin(), running_.end(),
                                   [&](const One& running) { return running.id == one.id; });
    if (same == running_.end()) {
      spdlog::info("listening on {}", url_of(one));
    } else {
      running_.erase(same);
    }
    one.sockets.clear();
  }
  for (const One& gone : running_) {
    remove_file_of(gone.bound);
    spdlog::info("no longer listening on {}", url_of(gone));
  }
  running_ = std::move(next);
}

Listeners::~Listeners() {
  for (const One& one : running_)
    remove_file_of(one.bound);
}

}  // namespace weir::app
