// Sockets that listen on a configured address, TCP or unix, for the workers and for the admin
// server.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/endpoint.hpp"
#include "base/result.hpp"
#include "base/socket_file.hpp"
#include "loop/descriptor.hpp"

namespace weir::loop {

/// An address with the sockets that listen on it. Its destructor closes them and removes the file
/// of a unix socket.
struct BoundAddress {
  Endpoint endpoint{};  ///< as configured, with the port that the system chose for port 0
  Endpoint local{};     ///< the same, with the IP address in place of a name
  SocketFile file{};    ///< none for TCP
  std::vector<Descriptor> sockets{};  ///< non-blocking; they listen, or will
  bool is_listening = true;  ///< false: the sockets are bound but do not accept connections yet
};

/// True if this process listens on an address that overlaps `local`, and will close it soon.
using IsLeaving = std::function<bool(const Endpoint& local)>;

/// Opens `count` sockets on one address: with SO_REUSEPORT for TCP, so that the kernel distributes
/// connections; duplicates of one descriptor for a unix socket. An address on which another socket
/// already listens is an error, unless `is_leaving` returns true: then the new sockets are only
/// bound, and accept connections after start_listening(). The file of a unix socket without a
/// listener is replaced.
Result<BoundAddress> listen_on(const Endpoint& endpoint, std::size_t count,
                               const IsLeaving& is_leaving = {});

/// The outcome of try_listening().
struct ListenTrial {
  Endpoint local{};                  ///< with the IP address in place of a name, if it is known
  std::optional<Problem> problem{};  ///< the one that listen_on() would return
  bool is_taken = false;             ///< the problem is that another process has the address
};

/// True if `local` overlaps an address that the caller will listen on too.
using IsClaimed = std::function<bool(const Endpoint& local)>;

/// Finds out whether listen_on() could open the address now. Accepts no connection, and neither
/// creates nor removes a file.
ListenTrial try_listening(const Endpoint& endpoint, const IsClaimed& is_claimed);

/// Starts sockets that are only bound; does nothing for those that already listen.
Result<void> start_listening(BoundAddress& bound);

}  // namespace weir::loop
