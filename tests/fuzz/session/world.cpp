#include "world.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sanitizer/allocator_interface.h>
#include <string>
#include <sys/socket.h>

#include "base/line_writer.hpp"
#include "config/load.hpp"
#include "judge.hpp"
#include "proxy/proxy_protocol.hpp"
#include "proxy/session.hpp"
#include "proxy/ticks.hpp"

namespace weir::fuzz {
namespace {

constexpr std::size_t most_ticks = 150;            ///< of a script
constexpr std::size_t most_filler = 256 * 1024;    ///< of a script
constexpr std::size_t memory_limit = 1024 * 1024;  ///< of the proxy for one session, in bytes
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

std::string configuration_text(bool low, bool two_servers) {
  std::string text(common_configuration);
  text.append("downstream: {").append(times).append(low ? low_limits : "").append("}\n");
  text.append("upstreams: {up: {servers: [{url: \"http://192.0.2.1:80\"}");
  if (two_servers) text.append(", {url: \"http://192.0.2.2:80\"}");
  text.append("], retries: ").append(two_servers ? "3" : "1").append(upstream_times).append("}}\n");
  if (two_servers) text.append("response_headers: {legacy: x_ratelimit}\nretry_after: http_date\n");
  return text;
}

const config::Config& configuration(const Setup& setup) {
  static std::array<std::shared_ptr<const config::Config>, 4> made;
  auto& config = made[(setup.low_limits ? 1 : 0) + (setup.two_servers ? 2 : 0)];
  if (config) return *config;
  const auto unset = [](const std::string&) -> std::optional<std::string> { return {}; };
  auto loaded = config::load_text(configuration_text(setup.low_limits, setup.two_servers),
                                  {.variable = unset, .directory = "/"});
  if (!loaded) fail(loaded.error().front().to_string());
  config = *loaded;
  return *config;
}

/// Lines are made, for what they are made of must be there; its thread sees them once in a while.
proxy::AccessLog& access_log() {
  static const auto writer = LineWriter::open("/dev/null");
  static proxy::AccessLog log({}, **writer);
  return log;
}

void append_chunk(std::string& out, std::size_t size) {
  if (size == 0) return;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  out.append(digits.data(), end).append("\r\n").append(size, 'a').append("\r\n");
}

identity::IpAddress peer_of(const Setup& setup) {
  return setup.trusted_peer ? identity::IpAddress::v4({10, 0, 0, 1})
                            : identity::IpAddress::v4({192, 0, 2, 99});
}

}  // namespace

World::World(const Setup& setup)
    : setup_(setup),
      config_(configuration(setup)),
      memory_before_(
          (Network::get().reset(setup.small_buffers), __sanitizer_get_current_allocated_bytes())),
      store_({.max_keys = 16}),
      limiter_(config_, store_),
      counters_(config_.routes.size(), config_.upstreams.size()),
      descriptors_(setup.no_descriptors ? 1 : 64, open_connections_),
      context_(std::make_unique<proxy::Context>(
          proxy::ContextShares{.io = io_,
                               .config = config_,
                               .limiter = limiter_,
                               .counters = counters_,
                               .access_log = access_log(),
                               .clock = clock_,
                               .open_connections = open_connections_,
                               .open_refusals = open_refusals_,
                               .descriptors = descriptors_},
          1)) {
  start_session();
}

void World::start_session() {
  int other = -1;
  client_ = Network::get().make_client(other);
  proxy::Socket socket(io_.get_executor(), proxy::asio::generic::stream_protocol(AF_UNIX, 0),
                       other);
  socket.non_blocking(true);
  if (setup_.full) {
    proxy::Session::turn_away(*context_, std::move(socket), peer_of(setup_));
  } else {
    proxy::Session::start(*context_, std::move(socket), peer_of(setup_),
                          {.proxy_protocol = setup_.proxy_protocol, .tls = {}});
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
    case 'b':
      context_->abort();
      was_aborted_ = true;
      break;
    default:
      perform_upstream(step);
  }
  if (step.is_alone) settle();
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
  // An answer that is marked with another request than the one read last is not an answer to that.
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
  Network::get().advance(proxy::tick_interval);
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

/// In which a session ends, whatever each of its requests waits for.
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
  for (std::size_t most = ticks_to_end(); !context_->sessions.empty() && ticks < most;) {
    tick();
    if (++ticks == most) most = ticks_to_end();  // more of the client's may have gone out meanwhile
  }
  require(context_->sessions.empty(), "a session that does not end");
  require(open_connections_ == 0 && open_refusals_ == 0, "a connection stays counted");
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
    before_http = proxy::parse_proxy_header(client_->sent()).size;
  Judge({.client = *client_,
         .upstreams = upstreams,
         .before_http = before_http,
         .attempts = static_cast<std::size_t>(config_.upstreams[0].retries) + 1,
         .was_aborted = was_aborted_,
         .was_turned_away = setup_.full,
         .has_false_marks = has_false_marks_})
      .judge();
}

}  // namespace weir::fuzz
