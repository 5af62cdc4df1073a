// The admin endpoints over HTTP/1.1, on a thread of its own, away from the traffic.
//
// Made for probes, scrapes and people, not for load: connections are bounded in number, and at the
// bound the oldest one gives way, so that slow clients can not keep probes out; heads are bounded
// at 8 KiB, bodies are refused, each read or write has 5 seconds. The methods are for the owner's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "admin/instruments.hpp"
#include "admin/options.hpp"
#include "base/result.hpp"

namespace weir::admin {

/// When one more comes, the oldest gives way.
inline constexpr std::size_t most_connections = 64;

class AdminServer {
 public:
  explicit AdminServer(Instruments instruments);
  ~AdminServer();  ///< stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// Binds and serves, or says why the address can not be used.
  Result<void> start(const Endpoint& address);
  /// Closes every connection and joins the thread. Once is enough; more do no harm.
  void stop();
  /// Where it listens, with the port that was picked; once started.
  const Endpoint& address() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace weir::admin
