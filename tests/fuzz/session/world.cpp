#include "world.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <sys/socket.h>

#include "config/load.hpp"
#include "http/proxy_protocol.hpp"
#include "judge.hpp"
#include "log/line_writer.hpp"
#include "loop/ticks.hpp"
#include "proxy/downstream_connection.hpp"

/// Of AddressSanitizer. gcc has the function, but not clang's header
/// <sanitizer/allocator_interface.h>.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

namespace weir::fuzz {
namespace {

constexpr std::size_t most_ticks = 150;            ///< of a script
constexpr std::size_t most_filler = 256 * 1024;    ///< of a script
constexpr std::size_t memory_limit = 1024 * 1024;  ///< of the proxy for one connection, in bytes
constexpr std::size_t patience = 100;              ///< ticks in which a request has ended

constexpr std::string_view common_configuration = R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
client_address: {trusted_proxies: [10.0.0.0/8]}
identities:
  key: {header: x-api-key}
policies:
  few: {algorithm: gcra, rate: 2/1s, burst: 2}
  slow: {algorithm: leaky_bucket, rate: 2/1s, queue: 2, max_delay: 1s}
  counted: {algorithm: sliding_log, rate: 1/1m, count_rejected: true, status: 403, body: no}
routes:
  - {match: {path: "/fixed/**"}, respond: {status: 200, body: fixed}}
  - {match: {path: "/few/**"}, upstream: up, limits: [{policy: few, key: client}]}
  - {match: {path: "/slow/**"}, upstream: up, limits: [{policy: slow, key: client}]}
  - {match: {path: "/key/{id}"}, upstream: up, limits: [{policy: counted, key: key, required: true}]}
  - {match: {path: "/decide/**"}, decide: true, limits: [{policy: few, key: client}]}
  - {match: {path: "/nothing/**"}, respond: {status: 204}}
  - {match: {path: "/**"}, upstream: up}
)";
constexpr std::string_view times = "head_timeout: 1s, idle_timeout: 2s, body_timeout: 1s";
constexpr std::string_view low_limits =
    ", max_head: 1KiB, max_target: 256, max_body: 64, max_drain: 16";
constexpr std::string_view upstream_times =
    ", connect_timeout: 1s, response_timeout: 1s, idle_timeout: 3s, tunnel_timeout: 2s";

/// Configurations are numbers: the sum of these.
constexpr std::size_t with_low_limits = 1;
constexpr std::size_t with_two_servers = 2;
constexpr std::size_t most_configuration = with_low_limits + with_two_servers;

std::string configuration_text(std::size_t configuration) {
  const bool low = (configuration & with_low_limits) != 0;
  const bool two_servers = (configuration & with_two_servers) != 0;
  std::string text(common_configuration);
  text.append("downstream: {").append(times).append(low ? low_limits : "").append("}\n");
  text.append("upstreams: {up: {servers: [{url: \"http://192.0.2.1:80\"}");
  if (two_servers) text.append(", {url: \"http://192.0.2.2:80\"}");
  text.append("], retries: ").append(two_servers ? "3" : "1").append(upstream_times).append("}}\n");
  if (two_servers) text.append("response_headers: {legacy: x_ratelimit}\nretry_after: http_date\n");
  return text;
}

std::shared_ptr<const config::Config> load(std::size_t configuration) {
  const auto unset = [](const std::string&) -> std::optional<std::string> { return {}; };
  auto loaded =
      config::load_text(configuration_text(configuration), {.variable = unset, .directory = "/"});
  if (!loaded) fail(loaded.error().front().to_string());
  return *loaded;
}

std::shared_ptr<const NamedCounters> make_counters(const config::Config& config) {
  auto counters = std::make_shared<NamedCounters>();
  for (std::size_t i = 0; i <= config.proxy.routes.size(); ++i)
    counters->routes.push_back(std::make_shared<RouteCounters>());
  for (const auto& upstream : config.upstreams) {
    counters->upstreams.push_back(std::make_shared<UpstreamCounters>());
    auto& in_use = counters->servers_in_use.emplace_back();
    for (std::size_t i = 0; i < upstream.servers.size(); ++i)
      in_use.push_back(std::make_shared<Gauge>());
  }
  return counters;
}

/// Log lines are written, so that a sanitizer sees everything they read. The writer's thread takes
/// them from time to time.
std::shared_ptr<log::AccessLog> access_log() {
  static const auto writer = log::LineWriter::open("/dev/null");
  static const auto log = std::make_shared<log::AccessLog>(log::AccessLogOptions{}, **writer);
  return log;
}

void append_chunk(std::string& out, std::size_t size) {
  if (size == 0) return;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  out.append(digits.data(), end).append("\r\n").append(size, 'a').append("\r\n");
}

IpAddress peer_of(const Setup& setup) {
  return setup.trusted_peer ? IpAddress::v4({10, 0, 0, 1}) : IpAddress::v4({192, 0, 2, 99});
}

/// One for all inputs: its size is fixed, and its content has no effect on a response.
limiter::TopKeys& top_keys() {
  static limiter::TopKeys keys(1);
  return keys;
}

limiter::RetryAfterTable& retry_after() {
  static limiter::RetryAfterTable table(1);
  return table;
}

telemetry::SpanQueue& spans() {
  static telemetry::SpanQueue queue;
  return queue;
}

limiter::QuotaEvents& quota_events() {
  static limiter::QuotaEvents events(1);
  return events;
}

}  // namespace

/// The parts of a generation that many inputs share. Made once for each configuration.
struct World::Prepared {
  explicit Prepared(std::size_t configuration)
      : config(load(configuration)),
        request_rules(
            std::make_shared<decision::RequestRules>(config->proxy, config->limiter, config)),
        counters(make_counters(*config)),
        log(access_log()) {}

  std::shared_ptr<const config::Config> config;
  std::shared_ptr<const decision::RequestRules> request_rules;
  std::shared_ptr<const NamedCounters> counters;
  std::shared_ptr<log::AccessLog> log;
};

const World::Prepared& World::prepared(std::size_t configuration) {
  static const std::array<Prepared, most_configuration + 1> all{Prepared(0), Prepared(1),
                                                                Prepared(2), Prepared(3)};
  return all[configuration];
}

World::World(const Setup& setup)
    : setup_(setup),
      prepared_(&prepared((setup.low_limits ? with_low_limits : 0) +
                          (setup.two_servers ? with_two_servers : 0))),
      memory_before_(
          (Network::get().reset(setup.small_buffers), __sanitizer_get_current_allocated_bytes())),
      store_({.max_keys = 16}),
      descriptors_(setup.no_descriptors ? 1 : 64, open_connections_),
      context_(std::make_unique<proxy::Context>(
          proxy::ContextDependencies{.io = io_,
                                     .counters = counters_,
                                     .clock = clock_,
                                     .open_connections = open_connections_,
                                     .open_refusals = open_refusals_,
                                     .descriptors = descriptors_,
                                     .address_connections = address_connections_,
                                     .hold_directory = hold_directory_,
                                     .top_keys = top_keys(),
                                     .retry_after = retry_after(),
                                     .quota_events = quota_events(),
                                     .spans = spans()},
          1)) {
  context_->use(make_generation());
  start_connection();
}

std::unique_ptr<proxy::Generation> World::make_generation() {
  const config::Config& config = *prepared_->config;
  most_retries_ = std::max(most_retries_, config.upstreams[0].retries);
  const auto& counters = *prepared_->counters;
  std::vector<std::unique_ptr<upstream::Pool>> pools;
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const upstream::PoolDependencies dependencies{.servers = context_->server_dependencies(),
                                                  .settings = config.upstreams[i],
                                                  .in_use = counters.servers_in_use[i],
                                                  .tls = nullptr};
    const auto* const before =
        context_->generation ? context_->generation->pools[i].get() : nullptr;
    pools.push_back(std::make_unique<upstream::Pool>(dependencies, before, 1));
  }
  return std::unique_ptr<proxy::Generation>(
      new proxy::Generation{.request_rules = prepared_->request_rules,
                            .store = nullptr,
                            .limiter = std::make_unique<limiter::Limiter>(config.limiter, store_),
                            .counters = prepared_->counters,
                            .access_log = prepared_->log,
                            .pools = std::move(pools),
                            .number = ++generations_});
}

void World::start_connection() {
  int other = -1;
  client_ = Network::get().make_client(other);
  loop::Descriptor socket(other);
  if (setup_.full) {
    proxy::DownstreamConnection::turn_away(*context_, connections_, std::move(socket),
                                           peer_of(setup_));
  } else {
    proxy::DownstreamConnection::start(
        *context_, connections_, std::move(socket), peer_of(setup_),
        {.proxy_protocol = setup_.proxy_protocol, .http2 = false, .tls = {}});
  }
}

void World::perform(const Step& step) {
  has_false_marks_ |= step.text.find(mark.substr(2)) != std::string_view::npos;
  switch (step.what) {
    case 'c':
      client_->send(step.text);
      break;
    case 'x':
      client_->send(std::string(filler(step), 'x'));
      break;
    case 'e':
      client_->end_sending();
      break;
    case 'q':
      client_->close();
      break;
    case 'r':
      client_->reset();
      break;
    case 's':
      client_->stall();
      break;
    case 'n':
      Network::get().connecting = static_cast<Network::Connecting>(step.number(2));
      break;
    case 'i':
      chosen_upstream_ = step.number(100);
      break;
    case 't':
      for (auto left = step.number(50); left > 0 && ticks_ < most_ticks; --left)
        tick();
      return;
    case 'd':
      context_->drain();
      break;
    case 'g':
      reload(step.number(most_configuration));
      break;
    case 'l':
      close_listener();
      break;
    case 'b':
      context_->abort();
      was_aborted_ = true;
      break;
    default:
      perform_upstream(step);
  }
  if (step.is_alone) settle();
}

/// A worker that drains takes no other configuration.
void World::reload(std::size_t configuration) {
  if (context_->draining) return;
  prepared_ = &prepared(configuration);
  context_->use(make_generation());
}

/// As a reload does with a listener that the configuration no longer has.
void World::close_listener() {
  connections_.draining = true;
  for (proxy::DownstreamConnection* connection : context_->connections)
    connection->drain();
}

void World::perform_upstream(const Step& step) {
  End* const end = upstream();
  if (end == nullptr) return;
  switch (step.what) {
    case 'u':
      return end->send(step.text);
    case 'y':
      return end->send(std::string(filler(step), 'y'));
    case 'a':
      return answer(step.number(100'000));
    case 'h':
      return end->end_sending();
    case 'k':
      return end->close();
    case 'z':
      return end->reset();
    case 'w':
      return end->stall();
    default:
      return;
  }
}

/// As a good server does, marked with the request it is for. Odd sizes come in chunks.
void World::answer(std::size_t body_size) {
  filled_ += body_size;
  if (filled_ > most_filler) return;
  End& end = *upstream();
  end.move();
  std::string_view rest = end.received();
  Message request, next;
  while ((next = read_request(rest, false)).has_head) {
    rest.remove_prefix(next.size);
    request = next;
  }
  if (!request.has_head) return;
  std::string head = "HTTP/1.1 200 OK\r\n";
  head.append(mark).append(": ").append(request.first).append(" ").append(request.second);
  std::string body;
  if (body_size % 2 == 0) {
    head.append("\r\nContent-Length: ").append(std::to_string(body_size)).append("\r\n\r\n");
    body.assign(body_size, 'a');
  } else {
    head.append("\r\nTransfer-Encoding: chunked\r\n\r\n");
    append_chunk(body, body_size / 2);
    append_chunk(body, body_size - body_size / 2);
    body.append("0\r\n\r\n");
  }
  // An answer with the mark of another request than the last one that it has read is not an answer
  // to that one.
  const auto sent_with_head = end.sent().size() + head.size();
  const bool knows_all = !end.is_stalled() && !end.has_waiting();
  end.send(head);
  if (request.first != "HEAD") end.send(body);
  end.move();
  has_false_marks_ |= !knows_all || end.sent().size() < sent_with_head;
}

End* World::upstream() const {
  const auto& all = Network::get().upstreams();
  if (all.empty()) return nullptr;
  return all[std::min(chosen_upstream_, all.size() - 1)].get();
}

std::size_t World::filler(const Step& step) {
  const std::size_t size =
      std::min(step.number(most_filler), most_filler - std::min(filled_, most_filler));
  filled_ += size;
  return size;
}

/// Until nothing moves.
void World::settle() {
  for (bool moves = true; moves;) {
    io_.restart();
    moves = io_.poll() > 0;
    moves |= client_->move();
    auto& upstreams = Network::get().upstreams();
    for (std::size_t i = 0; i < upstreams.size(); ++i)
      moves |= upstreams[i]->move();
  }
  check_memory();
}

void World::tick() {
  ++ticks_;
  Network::get().advance(loop::tick_interval);
  context_->tick();
  settle();
}

void World::check_memory() const {
  std::size_t own = client_->memory();
  for (const auto& upstream : Network::get().upstreams())
    own += upstream->memory();
  require(__sanitizer_get_current_allocated_bytes() <= memory_before_ + own + memory_limit,
          "too much memory is held");
}

/// The ticks after which the connection has ended, whatever each of its requests waits for.
std::size_t World::ticks_to_end() const {
  const std::string& sent = client_->sent();
  std::size_t heads = 0;
  for (auto at = sent.find("\r\n\r\n"); at != std::string::npos; at = sent.find("\r\n\r\n", at + 1))
    ++heads;
  return (3 + heads) * patience;
}

void World::finish() {
  settle();
  std::size_t ticks = 0;
  for (std::size_t most = ticks_to_end(); !context_->connections.empty() && ticks < most;) {
    tick();
    if (++ticks == most) most = ticks_to_end();  // more of the client's may have gone out meanwhile
  }
  require(context_->connections.empty(), "the client's connection does not end");
  require(open_connections_ == 0 && open_refusals_ == 0 && connections_.count == 0,
          "a closed connection is still counted");
  require(!context_->generation->is_pinned() &&
              std::none_of(context_->retired.begin(), context_->retired.end(),
                           [](const auto& one) { return one->is_pinned(); }),
          "a generation is pinned without a request");
  context_.reset();
  client_->move();
  const auto& upstreams = Network::get().upstreams();
  for (const auto& upstream : upstreams) {
    upstream->move();
    require(!upstream->is_open() || upstream->is_stalled() || upstream->has_ended(),
            "a connection is left behind");
  }
  std::size_t before_http = 0;
  if (setup_.proxy_protocol && !setup_.full)
    before_http = http::parse_proxy_header(client_->sent()).size;
  Judge({.client = *client_,
         .upstreams = upstreams,
         .before_http = before_http,
         .attempts = static_cast<std::size_t>(most_retries_) + 1,
         .was_aborted = was_aborted_,
         .was_turned_away = setup_.full,
         .has_false_marks = has_false_marks_})
      .judge();
}

}  // namespace weir::fuzz
