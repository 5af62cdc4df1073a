// Finds the server to connect to, for topologies in which it is not always the same.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "loop/lookup.hpp"
#include "options/redis.hpp"

namespace weir::redis {

class Locator {
 public:
  struct Located {
    options::RedisServer server;
    loop::Addresses addresses;  ///< of its host
  };
  /// A problem is text for the log: "no sentinel is reachable".
  using Done = std::function<void(Result<Located>)>;

  /// Calls `done` once, later, from the loop, unless cancel() is called before, as the caller does
  /// at `deadline`. One search at a time.
  virtual void locate(std::chrono::steady_clock::time_point deadline, Done done) = 0;
  virtual void cancel() noexcept = 0;

 protected:
  ~Locator() = default;
};

}  // namespace weir::redis
