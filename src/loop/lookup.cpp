#include "loop/lookup.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>

namespace weir::loop {
namespace {

std::atomic<std::size_t> lookups{0};

/// One of the `most_lookups`.
class Turn {
 public:
  Turn() : is_taken_(lookups.fetch_add(1) < most_lookups) {}
  ~Turn() { lookups.fetch_sub(1); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  bool is_taken_;
};

asio::ip::tcp::endpoint endpoint_of(const addrinfo& found, std::uint16_t port) {
  if (found.ai_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, found.ai_addr, sizeof address);
    return {asio::ip::address_v4(ntohl(address.sin_addr.s_addr)), port};
  }
  sockaddr_in6 address{};
  std::memcpy(&address, found.ai_addr, sizeof address);
  asio::ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), &address.sin6_addr, bytes.size());
  return {asio::ip::address_v6(bytes, address.sin6_scope_id), port};
}

Result<Addresses> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found_all = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found_all); error != 0)
    return Problem{::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found_all, ::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* found = all.get(); found != nullptr; found = found->ai_next) {
    if (found->ai_family == AF_INET || found->ai_family == AF_INET6)
      addresses.push_back(endpoint_of(*found, port));
  }
  if (addresses.empty()) return Problem{"the name has no address"};
  return addresses;
}

}  // namespace

struct Lookup::Shared {
  std::mutex mutex;
  asio::io_context* io;  ///< nullptr: nobody waits
  Done done;

  /// Passes the result to the loop. The loop lives, because its Lookup does.
  static void report(const std::shared_ptr<Shared>& shared, Result<Addresses> result) {
    const std::lock_guard lock(shared->mutex);
    if (shared->io == nullptr) return;
    asio::post(*shared->io, [shared, result = std::move(result)]() mutable {
      if (shared->io != nullptr) shared->done(std::move(result));
    });
  }
};

Lookup::Lookup(asio::io_context& io, std::string host, std::uint16_t port, Done done)
    : shared_(std::make_shared<Shared>()) {
  shared_->io = &io;
  shared_->done = std::move(done);
  auto turn = std::make_unique<Turn>();
  if (!turn->is_taken()) {
    Shared::report(shared_, Problem{"too many names are being looked up"});
    return;
  }
  try {
    std::thread([shared = shared_, host = std::move(host), port, turn = std::move(turn)] {
      try {
        Shared::report(shared, look_up(host, port));
      } catch (const std::bad_alloc&) {
        // The caller's deadline ends the wait.
      }
    }).detach();
  } catch (const std::system_error& error) {
    Shared::report(shared_, Problem{error.what()});
  }
}

Lookup::~Lookup() {
  const std::lock_guard lock(shared_->mutex);
  shared_->io = nullptr;
}

}  // namespace weir::loop
