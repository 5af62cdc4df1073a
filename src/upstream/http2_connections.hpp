// The connections of HTTP/2 to one server, as the requests of a worker share them.
//
// While one task opens a connection, the requests that come meanwhile wait for it: it may carry all
// of them. Not thread-safe: one worker, one loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "loop/event.hpp"
#include "upstream/http2_connection.hpp"

namespace weir::upstream {

class Http2Connections {
 public:
  explicit Http2Connections(asio::io_context& io) : io_(io) {}
  ~Http2Connections();
  Http2Connections(const Http2Connections&) = delete;
  Http2Connections& operator=(const Http2Connections&) = delete;

  /// Returns a connection that takes another request now; nullptr if there is none.
  std::shared_ptr<Http2Connection> find();
  /// Adds an established connection, and starts it. Until its SETTINGS arrive it carries one
  /// request, and the others still wait for it.
  std::shared_ptr<Http2Connection> add(std::unique_ptr<Connection> connection, std::uint64_t tick);
  bool empty() const { return connections_.empty(); }

  /// Marks that a connection is being opened. Its end wakes the tasks that wait for it.
  class Opening {
   public:
    explicit Opening(Http2Connections& connections) : connections_(connections) {
      ++connections_.openings_;
    }
    ~Opening();
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

   private:
    Http2Connections& connections_;
  };

  /// True if a connection is being opened that can carry another one of the requests that wait.
  bool is_worth_waiting() const { return waiting_.size() < openings_ * requests_per_connection; }
  /// Waits with `event` until a connection has been opened, or could not be.
  loop::Task<error_code> await_opening(loop::Event& event);

  /// Connections for which `condition` is true take no more requests and close when they are idle.
  /// Sets Http2Connection::idle_since to `tick` for those that have requests.
  void close_if(std::uint64_t tick, const std::function<bool(const Http2Connection&)>& condition);
  void close_idle();
  /// Closes all connections as soon as they are idle, now and later.
  void close_when_idle();

 private:
  /// Forgets the event when the task that waits ends or is destroyed.
  class Listed {
   public:
    Listed(std::vector<loop::Event*>& list, loop::Event& event) : list_(list), event_(event) {
      list.push_back(&event);
    }
    ~Listed() { std::erase(list_, &event_); }
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;

   private:
    std::vector<loop::Event*>& list_;
    loop::Event& event_;
  };

  static constexpr std::size_t requests_per_connection = http2::ClientSessionOptions{}.max_streams;

  void wake();

  asio::io_context& io_;
  std::vector<std::shared_ptr<Http2Connection>> connections_;
  std::vector<loop::Event*> waiting_;
  std::size_t openings_ = 0;
  bool closes_ = false;
};

}  // namespace weir::upstream
