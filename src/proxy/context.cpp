#include "proxy/context.hpp"

#include "base/appender.hpp"
#include "http/ratelimit_fields.hpp"
#include "loop/ticks.hpp"
#include "proxy/downstream_connection.hpp"
#include "proxy/health_watch.hpp"
#include "proxy/http2_stream.hpp"
#include "proxy/rate_limit_exchange.hpp"
#include "upstream/http2_stream.hpp"

namespace weir::proxy {

std::string_view via_name() {
  static const std::string name = [] {
    std::string text = "weir-";
    append_number<16>(text, static_cast<std::uint32_t>(random_seed()));
    return text;
  }();
  return name;
}

namespace {

constexpr std::size_t most_spare_exchanges = 64;
constexpr std::size_t most_spare_rate_limit_memory = 64;
/// A larger buffer of a message is not kept for the next call.
constexpr std::size_t most_spare_message = 16 * 1024;
/// Enough for 256 incomplete messages of 64 KiB.
constexpr std::size_t most_incomplete_calls = 16 * 1024 * 1024;
constexpr std::size_t most_spare_streams = 512;
constexpr std::size_t most_spare_upstream_memory = 8 * 1024;  ///< bytes of a stream to a server
constexpr std::size_t most_spare_stream_buffers = 8 * 1024 * 1024;  ///< bytes of all of them
constexpr std::size_t most_spare_body_buffers = 16;
constexpr std::size_t most_spare_head_buffers = 64;
constexpr std::size_t body_buffer_size = 16 * 1024;

/// Connections whose bursts go on in a pass.
constexpr std::size_t most_bursts = 8;

constexpr std::string_view too_many_handshakes =
    "more TLS handshakes than downstream.max_handshakes are in progress on a worker; the oldest "
    "are closed";

}  // namespace

std::string_view DateText::at(Instant now) {
  const std::int64_t second = to_us(now) / 1'000'000;
  if (second != second_) {
    text_.clear();
    http::append_http_date(text_, now);
    second_ = second;
  }
  return text_;
}

Context::Context(const ContextDependencies& dependencies, std::uint64_t seed)
    : ContextDependencies(dependencies),
      holds(hold_directory, io, clock, counters.kept_holds),
      pass_clock(io, clock),
      random(seed),
      incomplete_calls(most_incomplete_calls),
      turns(io),
      bursts(io, most_bursts),
      handshakes(io, 0, counters.handshakes, [this] { warn(std::string(too_many_handshakes)); }) {
  spare_exchanges_.reserve(most_spare_exchanges);
  spare_streams_.reserve(most_spare_streams);
  spare_upstream_memory_.reserve(most_spare_streams);
  spare_rate_limit_memory_.reserve(most_spare_rate_limit_memory);
  spare_body_buffers_.reserve(most_spare_body_buffers);
  spare_head_buffers_.reserve(most_spare_head_buffers);
}

Context::~Context() = default;

upstream::ServerDependencies Context::server_dependencies() {
  return {.io = io, .descriptors = descriptors, .give_up_idle = [this] { give_up_idle(); }};
}

void Context::use(std::unique_ptr<Generation> next) {
  if (next->options.downstream.per_address.is_on()) {
    for (DownstreamConnection* connection : connections)
      connection->count_for_address(next->options);
  }
  handshakes.set_most(next->options.downstream.max_handshakes);
  for (auto& pool : next->pools)
    pool->begin(next->number);
  if (generation) {
    retired.reserve(retired.size() + 1);
    for (auto& pool : generation->pools) {
      pool->retire(next->number, [&](const upstream::PooledServer& server) {
        if (when_server_removed) when_server_removed(pool->settings().name, server);
      });
    }
    retired.push_back(std::move(generation));
  }
  generation = std::move(next);
  for (HealthWatch* watch : health_watches)
    watch->wake();
}

void Context::give_up_idle() {
  for (auto& pool : generation->pools)
    pool->close_idle();
}

void Context::close_idle_of(std::uint64_t client) {
  for (auto& pool : generation->pools)
    pool->close_idle_of(client);
}

std::unique_ptr<Http1Exchange> Context::take_exchange() {
  if (spare_exchanges_.empty()) return std::make_unique<Http1Exchange>(*this);
  auto exchange = std::move(spare_exchanges_.back());
  spare_exchanges_.pop_back();
  return exchange;
}

void Context::give_back(std::unique_ptr<Http1Exchange> exchange) {
  exchange->release();
  if (spare_exchanges_.size() < most_spare_exchanges)
    spare_exchanges_.push_back(std::move(exchange));
}

std::unique_ptr<Http2Stream> Context::take_http2_stream() {
  if (spare_streams_.empty()) return std::make_unique<Http2Stream>(*this);
  auto stream = std::move(spare_streams_.back());
  spare_streams_.pop_back();
  spare_stream_buffers_ -= stream->buffer_size();
  return stream;
}

void Context::give_back(std::unique_ptr<Http2Stream> stream) {
  const std::size_t size = spare_stream_buffers_ + stream->buffer_size();
  if (spare_streams_.size() == most_spare_streams || size > most_spare_stream_buffers) return;
  spare_stream_buffers_ = size;
  spare_streams_.push_back(std::move(stream));
}

std::unique_ptr<upstream::Http2StreamMemory> Context::take_upstream_memory() {
  if (spare_upstream_memory_.empty()) return std::make_unique<upstream::Http2StreamMemory>();
  auto memory = std::move(spare_upstream_memory_.back());
  spare_upstream_memory_.pop_back();
  return memory;
}

void Context::give_back(std::unique_ptr<upstream::Http2StreamMemory> memory) {
  if (spare_upstream_memory_.size() < most_spare_streams &&
      memory->size() <= most_spare_upstream_memory)
    spare_upstream_memory_.push_back(std::move(memory));
}

std::unique_ptr<RateLimitMemory> Context::take_rate_limit_memory() {
  if (spare_rate_limit_memory_.empty()) return std::make_unique<RateLimitMemory>(io);
  auto memory = std::move(spare_rate_limit_memory_.back());
  spare_rate_limit_memory_.pop_back();
  return memory;
}

void Context::give_back(std::unique_ptr<RateLimitMemory> memory) {
  if (memory->body.capacity() > most_spare_message) memory->body = {};
  if (spare_rate_limit_memory_.size() < most_spare_rate_limit_memory)
    spare_rate_limit_memory_.push_back(std::move(memory));
}

std::unique_ptr<loop::InputBuffer> Context::take_body_buffer() {
  if (spare_body_buffers_.empty()) return std::make_unique<loop::InputBuffer>(body_buffer_size);
  auto buffer = std::move(spare_body_buffers_.back());
  spare_body_buffers_.pop_back();
  return buffer;
}

void Context::give_back(std::unique_ptr<loop::InputBuffer> buffer) {
  const bool is_large = buffer->capacity() > 4 * body_buffer_size;
  if (is_large || spare_body_buffers_.size() == most_spare_body_buffers) return;
  buffer->consume(buffer->data().size());
  spare_body_buffers_.push_back(std::move(buffer));
}

std::unique_ptr<char[]> Context::take_head_buffer() {
  if (spare_head_buffers_.empty()) return std::unique_ptr<char[]>(new char[first_head_buffer]);
  auto bytes = std::move(spare_head_buffers_.back());
  spare_head_buffers_.pop_back();
  return bytes;
}

void Context::give_back_head_buffer(std::unique_ptr<char[]> bytes) {
  if (bytes && spare_head_buffers_.size() < most_spare_head_buffers)
    spare_head_buffers_.push_back(std::move(bytes));
}

std::span<char> Context::tunnel_scratch() {
  constexpr std::size_t size = 64 * 1024;
  if (!tunnel_scratch_) tunnel_scratch_ = std::make_unique_for_overwrite<char[]>(size);
  return {tunnel_scratch_.get(), size};
}

void Context::warn(const std::string& what, std::string_view about) {
  if (log && warnings_.may_log(about.empty() ? what : about, clock.now())) log(what);
}

void Context::warn_of(const std::exception& thrown, std::string_view what) noexcept {
  try {
    warn(std::string(what).append(": ").append(thrown.what()));
  } catch (const std::exception&) {
    // no memory for the text either
  }
}

void Context::tick() {
  wheel.advance(wheel.now() + 1,
                [](Deadline& deadline) { static_cast<Watchdog&>(deadline).on_deadline(); });
  if (!draining) {
    for (auto& pool : generation->pools)
      pool->on_tick(wheel.now());
  }
  std::erase_if(retired, [](const auto& one) { return !one->is_pinned(); });
  flush_logs();
  constexpr std::uint64_t sweep_ticks = loop::ticks_in(std::chrono::seconds(1));
  if (wheel.now() % sweep_ticks != 0) return;
  holds.sweep();
  for (DownstreamConnection* connection : connections)
    connection->look_after_client();
  for (auto& pool : generation->pools) {
    pool->sweep(wheel.now(), [&](const upstream::PooledServer& server, bool in_use) {
      if (when_server_changed) when_server_changed(pool->settings().name, server, in_use);
    });
  }
}

void Context::flush_logs() {
  for (auto& one : retired)
    one->access_log->flush();
  generation->access_log->flush();
}

void Context::announce_stop() {
  stopping = true;
  for (HealthWatch* watch : health_watches)
    watch->wake();
}

void Context::drain() {
  draining = true;
  for (auto& pool : generation->pools)
    pool->stop();
  for (DownstreamConnection* connection : connections)
    connection->drain();
  announce_stop();
  if (connections.empty() && when_empty) when_empty();
}

void Context::abort() {
  for (DownstreamConnection* connection : connections)
    connection->abort();
}

}  // namespace weir::proxy
