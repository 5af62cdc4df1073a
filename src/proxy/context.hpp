// State shared by the client connections of one worker: one thread, one loop, no locks.
//
// Outlives its connections. Everything here is used from the worker's own thread only, except the
// counters, which a metrics scrape reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline_wheel.hpp"
#include "base/log_limit.hpp"
#include "base/random.hpp"
#include "base/traffic_counters.hpp"
#include "decision/request_rules.hpp"
#include "decision/traffic_copy.hpp"
#include "http/field_section.hpp"
#include "limiter/quota_events.hpp"
#include "limiter/retry_after_table.hpp"
#include "limiter/top_keys.hpp"
#include "loop/descriptor_budget.hpp"
#include "loop/handshakes.hpp"
#include "loop/input_buffer.hpp"
#include "loop/io.hpp"
#include "loop/pass_clock.hpp"
#include "loop/turns.hpp"
#include "options/proxy.hpp"
#include "proxy/address_connections.hpp"
#include "proxy/body_budget.hpp"
#include "proxy/generation.hpp"
#include "proxy/grpc_answer.hpp"
#include "proxy/hold_keeper.hpp"
#include "telemetry/span_queue.hpp"

namespace weir::upstream {
struct Http2StreamMemory;
}

namespace weir::proxy {

/// The name of this process in Via (RFC 9110 section 7.6.3). Unique, so a request that carries it
/// has passed this process. Thread-safe.
std::string_view via_name();

class DownstreamConnection;
class HealthWatch;
struct Http1Exchange;
class Http2Stream;
struct RateLimitMemory;

/// The bytes first read of a request; the buffer grows if the head is longer.
inline constexpr std::size_t first_head_buffer = 2048;

/// The Date field's value, rendered once a second.
class DateText {
 public:
  std::string_view at(Instant now);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

/// The objects of the worker and of the process that a context uses. All of them outlive it.
struct ContextDependencies {
  asio::io_context& io;
  TrafficCounters& counters;
  const MonotonicClock& clock;                 ///< one for all workers
  std::atomic<std::size_t>& open_connections;  ///< of all workers
  std::atomic<std::size_t>& open_refusals;     ///< of all workers: 503 responses in progress
  loop::DescriptorBudget& descriptors;         ///< of all workers
  AddressConnections& address_connections;     ///< of all workers
  HoldDirectory& hold_directory;               ///< of all workers
  limiter::TopKeys& top_keys;                  ///< of this worker
  limiter::RetryAfterTable& retry_after;       ///< of all workers
  limiter::QuotaEvents& quota_events;          ///< of all workers
  telemetry::SpanQueue& spans;                 ///< of this worker
};

struct Context : ContextDependencies {
  Context(const ContextDependencies& dependencies, std::uint64_t seed);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  // Declared first: connections give buffers back until the last of them is destroyed.
  LogLimit warnings_{
      {.interval = std::chrono::seconds(1), .most = 8, .repeated_after = std::chrono::seconds(1)}};
  std::vector<std::unique_ptr<Http1Exchange>> spare_exchanges_;
  std::vector<std::unique_ptr<Http2Stream>> spare_streams_;
  std::vector<std::unique_ptr<upstream::Http2StreamMemory>> spare_upstream_memory_;
  std::vector<std::unique_ptr<RateLimitMemory>> spare_rate_limit_memory_;
  std::size_t spare_stream_buffers_ = 0;  ///< bytes of their buffers
  std::vector<std::unique_ptr<loop::InputBuffer>> spare_body_buffers_;
  std::vector<std::unique_ptr<char[]>> spare_head_buffers_;
  std::unique_ptr<char[]> tunnel_scratch_;

 public:
  std::unique_ptr<Generation> generation;  ///< the running one; set before the first connection
  std::vector<std::unique_ptr<Generation>> retired;  ///< until their last exchange has ended
  /// Gets a copy of each request; nullptr: no configuration is in shadow.
  std::shared_ptr<decision::TrafficCopy> traffic_copy;
  HoldKeeper holds;  ///< declared after the generations that its holds pin
  DeadlineWheel wheel;
  loop::PassClock pass_clock;
  DateText date;
  std::string output;         ///< scratch: built here and sent before anything suspends
  http::FieldSection fields;  ///< scratch: fields of an answer of our own
  std::string body;           ///< scratch: its body
  GrpcScratch grpc;           ///< scratch: that answer to a gRPC call
  Random random;
  bool stopping = false;  ///< health checks report that the process stops
  bool draining = false;  ///< finish what is in flight, then close
  std::vector<DownstreamConnection*> connections;
  std::vector<HealthWatch*> health_watches;  ///< woken by announce_stop(), drain() and use()
  BodyBudget incomplete_calls;               ///< of the rate limit service
  std::uint64_t connection_count = 0;  ///< since the start; gives the next connection its number
  loop::Turns
      turns;  ///< declared after the connections: tasks that wait here are destroyed before them
  loop::Turns bursts;           ///< of connections that have sent many requests at once; likewise
  loop::Handshakes handshakes;  ///< declared after the connections, likewise
  std::function<void()> when_empty;  ///< called when the last connection ends while draining
  /// A server of an upstream is marked down, or up again; checked once a second.
  std::function<void(const std::string& upstream, const upstream::PooledServer& server,
                     bool in_use)>
      when_server_changed;
  /// A server that was marked down is not configured any more.
  std::function<void(const std::string& upstream, const upstream::PooledServer& server)>
      when_server_removed;

  std::function<void(const std::string&)> log;  ///< where warn() goes

  /// Logs a warning: the same text at most once a second, and at most eight texts. `about`
  /// identifies texts that differ in parts that a client can choose.
  void warn(const std::string& what, std::string_view about = {});
  /// Logs that an exception ended `what`. Does nothing if there is no memory for the text.
  void warn_of(const std::exception& thrown, std::string_view what) noexcept;
  upstream::ServerDependencies server_dependencies();
  /// Requests that begin from now on use `next`; those in progress keep the generation they have
  /// pinned. Servers that are not in `next` lose their idle connections and their health checks.
  void use(std::unique_ptr<Generation> next);
  /// Returns an exchange that has not begun; its buffers keep their memory between requests.
  std::unique_ptr<Http1Exchange> take_exchange();
  void give_back(std::unique_ptr<Http1Exchange> exchange);
  /// The same for a stream of HTTP/2.
  std::unique_ptr<Http2Stream> take_http2_stream();
  void give_back(std::unique_ptr<Http2Stream> stream);
  /// The same for a stream of HTTP/2 to a server.
  std::unique_ptr<upstream::Http2StreamMemory> take_upstream_memory();
  void give_back(std::unique_ptr<upstream::Http2StreamMemory> memory);
  /// The same for a call of the rate limit service.
  std::unique_ptr<RateLimitMemory> take_rate_limit_memory();
  void give_back(std::unique_ptr<RateLimitMemory> memory);
  /// Returns an empty buffer for a request body that is read after its head.
  std::unique_ptr<loop::InputBuffer> take_body_buffer();
  void give_back(std::unique_ptr<loop::InputBuffer> buffer);
  /// Returns `first_head_buffer` bytes for the head of a request.
  std::unique_ptr<char[]> take_head_buffer();
  void give_back_head_buffer(std::unique_ptr<char[]> bytes);
  /// Returns the memory into which all tunnels read; its content is lost when a task waits.
  std::span<char> tunnel_scratch();
  /// One step of coarse time: fires deadlines, starts health checks, passes on log lines, drops
  /// generations that no exchange uses any more, and once a second closes idle upstream
  /// connections.
  void tick();
  /// Passes on the lines that the access logs have collected.
  void flush_logs();
  /// Sends NOT_SERVING to health checks of the rate limit service. Everything else goes on.
  void announce_stop();
  /// Lets exchanges in progress finish. Idle connections are closed after a short grace period, for
  /// requests already on their way.
  void drain();
  /// Closes the idle upstream connections that only this client connection could have reused.
  void close_idle_of(std::uint64_t client);
  /// Frees descriptors for a connection that needs one: closes the idle connections of all
  /// upstreams.
  void give_up_idle();
  /// Ends every connection at once.
  void abort();
};

}  // namespace weir::proxy
