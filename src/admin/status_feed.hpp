// The status of the process once a second, for the open status pages. On the loop of the admin
// server only.
//
// A status is read and written as JSON once for all pages, and only while one is open. A page gets
// the latest one when it has taken the one before: a slow page skips some, and nothing is queued
// for it. A page that does not take one within 5 seconds is closed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>

#include "admin/endpoints.hpp"
#include "admin/latest_top_keys.hpp"
#include "admin/status_source.hpp"
#include "base/clock.hpp"
#include "base/time.hpp"
#include "status/window.hpp"

namespace weir::admin {

/// Pages that may be open; the next one is answered 503.
inline constexpr std::size_t most_pages = 32;

struct FeedTimes {
  Duration event_interval = std::chrono::seconds(1);
  Duration slowest_page = std::chrono::seconds(5);  ///< to take an event
};

class StatusFeed {
 public:
  using Stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
  using Shown = std::function<std::shared_ptr<const Instruments>()>;

  /// `io` is not used before the first request. `shown`: the instruments to read.
  StatusFeed(boost::asio::io_context& io, Shown shown, ReadTopKeys read_top,
             const FeedTimes& times = {})
      : io_(io), shown_(std::move(shown)), times_(times), top_(std::move(read_top)) {}
  StatusFeed(const StatusFeed&) = delete;
  StatusFeed& operator=(const StatusFeed&) = delete;

  /// The page at /, /v1/status, and the stream /v1/status/events. Their handlers use the feed.
  std::vector<AdminEndpoint> endpoints();

  bool is_full() const { return pages_.size() >= most_pages; }
  /// Sends the head of a response and then events, while `may_continue` returns true, which is
  /// checked before each, and the client takes them. `is_head`: the head only. Throws
  /// boost::system::system_error if the client has left.
  boost::asio::awaitable<void> serve(Stream& stream, bool is_head,
                                     std::function<bool()> may_continue);

 private:
  class Page;
  class Ticking;
  status::WindowReport read();
  void answer_page(const AdminCall& call, const Reply& reply);
  boost::asio::awaitable<void> answer_status(Reply reply);
  boost::asio::awaitable<void> tick(Ticking ticking);

  boost::asio::io_context& io_;
  const Shown shown_;
  const FeedTimes times_;
  const MonotonicClock clock_;
  LatestTopKeys top_;
  StatusSource source_;
  status::Window window_;
  std::list<boost::asio::steady_timer*> pages_;  ///< expire when there is another event
  std::shared_ptr<const std::string> event_;     ///< the latest; nullptr: no page is open
  std::optional<status::WindowReport> latest_;   ///< of the event
  bool is_ticking_ = false;
};

}  // namespace weir::admin
