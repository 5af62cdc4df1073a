// A connection to a server of an upstream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "http/request_view.hpp"
#include "loop/descriptor_budget.hpp"
#include "loop/input_buffer.hpp"
#include "loop/stream.hpp"
#include "loop/ticks.hpp"

namespace weir::upstream {

/// The resolved addresses of a server's name, for as long as they may be used without a new lookup.
/// Pure: the caller performs lookups and passes the tick.
class Addresses {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  static constexpr std::uint64_t fresh_ticks = loop::ticks_in(std::chrono::seconds(10));

  /// A host that is an IP address is never looked up.
  Addresses(const std::string& host, std::uint16_t port) {
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(host, ec);
    if (!ec) list_.emplace_back(address, port);
    is_literal_ = !ec;
  }

  bool is_fresh(std::uint64_t tick) const {
    return is_literal_ || (!list_.empty() && tick < found_at_ + fresh_ticks);
  }
  const std::vector<Endpoint>& list() const { return list_; }
  bool has(const Endpoint& endpoint) const {
    return std::find(list_.begin(), list_.end(), endpoint) != list_.end();
  }

  /// Stores the result of a lookup. If it is empty, the old addresses stay in use and are looked up
  /// again soon.
  void found(std::vector<Endpoint> list, std::uint64_t tick) {
    if (list.empty()) return;
    list_ = std::move(list);
    found_at_ = tick;
  }

 private:
  std::vector<Endpoint> list_;
  std::uint64_t found_at_ = 0;
  bool is_literal_ = false;
};

class PooledServer;

/// Belongs to its holder and is closed when dropped. Not thread-safe.
struct Connection {
  /// Responses are relayed before new requests are read.
  Connection(asio::io_context& io, PooledServer& to) : server(to), stream(io) {
    stream.socket().set_priority(loop::Priority::high);
  }

  PooledServer& server;
  loop::DescriptorBudget::Share descriptor;  ///< from connect() on, until the stream is closed
  loop::Stream stream;
  Addresses::Endpoint endpoint;
  loop::InputBuffer input{16 * 1024};
  std::vector<http::FieldView> fields;  ///< of the response being read; views into input
  bool reused = false;           ///< was idle before, so the upstream may have closed it meanwhile
  bool speaks_http2 = false;     ///< set when it is established
  bool is_check = false;         ///< its descriptor is reserved
  std::uint64_t idle_since = 0;  ///< tick
};

}  // namespace weir::upstream
