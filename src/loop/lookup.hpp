// Looks up the addresses of a name, on a thread of its own.
//
// getaddrinfo(3) blocks for as long as the name servers do and cannot be interrupted. The thread
// outlives the object, and even the loop, so that nothing waits for it, not even the end of the
// process. Not thread-safe: one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/result.hpp"
#include "loop/io.hpp"

namespace weir::loop {

using Addresses = std::vector<asio::ip::tcp::endpoint>;

/// In the process at once; further ones fail.
inline constexpr std::size_t most_lookups = 128;

class Lookup {
 public:
  using Done = std::function<void(Result<Addresses>)>;
  /// Starts. `done` is called once by the loop, unless this object ends before. If the thread has
  /// no memory, it is not called: the caller needs a deadline.
  Lookup(asio::io_context& io, std::string host, std::uint16_t port, Done done);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::loop
