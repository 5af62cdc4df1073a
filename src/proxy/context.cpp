#include "proxy/context.hpp"

#include <algorithm>
#include <iterator>

#include "http/characters.hpp"
#include "http/ratelimit_fields.hpp"
#include "proxy/exchange.hpp"
#include "proxy/session.hpp"
#include "proxy/ticks.hpp"

namespace weir::proxy {

namespace {

constexpr std::size_t most_spare_exchanges = 64;
constexpr std::size_t most_spare_body_buffers = 16;
constexpr std::size_t body_buffer_size = 16 * 1024;

constexpr std::string_view too_many_handshakes =
    "more TLS handshakes than downstream.max_handshakes are in progress on a worker; the oldest "
    "are closed";

void add_fields_of(const identity::Source& source, std::vector<std::string>& names) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const auto* const header = std::get_if<identity::FromHeader>(&part.from))
      names.push_back(header->name);
  });
}

std::vector<std::string> fields_of_identities(const Settings& config) {
  std::vector<std::string> names;
  for (const auto& identity : config.identities)
    add_fields_of(identity.source, names);
  return names;
}

void add_fields_of_routes(const Settings& config, std::vector<std::string>& names) {
  for (const auto& route : config.routes) {
    for (const auto& [name, value] : route.match.headers)
      names.push_back(name);
  }
}

std::vector<std::string> fields_of_identities_and_routes(const Settings& config) {
  std::vector<std::string> names = fields_of_identities(config);
  add_fields_of_routes(config, names);
  // Each request is searched for each name, and many routes may name the same one.
  const auto is_before = [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return http::to_lower(x) < http::to_lower(y);
    });
  };
  std::sort(names.begin(), names.end(), is_before);
  names.erase(std::unique(names.begin(), names.end(),
                          [](const auto& a, const auto& b) { return http::iequals(a, b); }),
              names.end());
  return names;
}

http::FieldGuard field_guard_of(const Settings& config) {
  http::FieldGuardSettings settings{
      .client_field = config.client_address.header_name,
      .own = fields_of_identities(config),
      .removes_untrusted = config.client_address.removes_untrusted_fields,
      .untrusted = config.client_address.untrusted_fields,
      .drops_unusual = config.downstream.unusual_field_names == UnusualNames::drop};
  add_fields_of_routes(config, settings.observed);
  for (const auto& policy : config.policies) {
    for (const auto& attribute : policy.attributes)
      add_fields_of(attribute.source, settings.observed);
  }
  return http::FieldGuard(settings);
}

routing::RouteTable table_of(const Settings& config) {
  std::vector<routing::RouteTable::Entry> entries;
  for (const Route& route : config.routes) {
    entries.push_back(
        {.match = &route.match,
         .tolerated = {.slashes = route.encoded_slashes, .doubled = route.double_encoding},
         .decides = route.decide,
         .refuses = !route.upstream && !route.decide && route.respond.status >= 400 &&
                    route.match.path && route.match.path->has_literal()});
  }
  return {std::move(entries), config.path_variants};
}

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

Context::Context(const ContextShares& shares, std::uint64_t seed)
    : ContextShares(shares),
      kept_fields(fields_of_identities_and_routes(config)),
      field_guard(field_guard_of(config)),
      route_table(table_of(config)),
      random(seed | 1),
      turns(io),
      handshakes(io, config.downstream.max_handshakes, counters.handshakes,
                 [this] { warn(std::string(too_many_handshakes)); }) {
  spare_exchanges_.reserve(most_spare_exchanges);
  spare_body_buffers_.reserve(most_spare_body_buffers);
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const auto& upstream = config.upstreams[i];
    auto& in_use = counters.upstreams[i].in_use;
    in_use = std::vector<Gauge>(upstream.servers.size());
    pools.push_back(
        std::make_unique<UpstreamPool>(UpstreamNeeds{.io = io,
                                                     .turns = turns,
                                                     .descriptors = descriptors,
                                                     .give_up_idle = [this] { give_up_idle(); }},
                                       upstream, in_use, next_random()));
  }
}

Context::~Context() = default;

void Context::give_up_idle() {
  for (auto& pool : pools)
    pool->close_idle();
}

void Context::close_idle_of(std::uint64_t client) {
  for (auto& pool : pools)
    pool->close_idle_of(client);
}

// xorshift64 (Marsaglia, 2003): spreads Retry-After, nothing secret depends on it.
std::uint64_t Context::next_random() {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random;
}

std::unique_ptr<Exchange> Context::take_exchange() {
  if (spare_exchanges_.empty()) return std::make_unique<Exchange>();
  auto exchange = std::move(spare_exchanges_.back());
  spare_exchanges_.pop_back();
  exchange->reset();
  return exchange;
}

void Context::give_back(std::unique_ptr<Exchange> exchange) {
  if (spare_exchanges_.size() < most_spare_exchanges)
    spare_exchanges_.push_back(std::move(exchange));
}

std::unique_ptr<InputBuffer> Context::take_body_buffer() {
  if (spare_body_buffers_.empty()) return std::make_unique<InputBuffer>(body_buffer_size);
  auto buffer = std::move(spare_body_buffers_.back());
  spare_body_buffers_.pop_back();
  return buffer;
}

void Context::give_back(std::unique_ptr<InputBuffer> buffer) {
  const bool is_large = buffer->capacity() > 4 * body_buffer_size;
  if (is_large || spare_body_buffers_.size() == most_spare_body_buffers) return;
  buffer->consume(buffer->data().size());
  spare_body_buffers_.push_back(std::move(buffer));
}

void Context::warn(const std::string& what, std::string_view about) {
  constexpr std::size_t most_warnings = 8;
  if (!log || warned_.size() == most_warnings) return;
  const std::string_view key = about.empty() ? what : about;
  if (std::find(warned_.begin(), warned_.end(), key) != warned_.end()) return;
  warned_.emplace_back(key);
  log(what);
}

void Context::warn_of(const std::exception& thrown, std::string_view what) noexcept {
  try {
    warn(std::string(what).append(": ").append(thrown.what()));
  } catch (const std::exception&) {
    // nor is there memory for the words
  }
}

void Context::tick() {
  wheel.advance(wheel.now() + 1,
                [](Deadline& deadline) { static_cast<Session&>(deadline).on_deadline(); });
  if (!draining) {
    for (auto& pool : pools)
      pool->on_tick(wheel.now());
  }
  constexpr std::uint64_t sweep_ticks = ticks_in(std::chrono::seconds(1));
  if (wheel.now() % sweep_ticks != 0) return;
  warned_.clear();
  for (Session* session : sessions)
    session->look_after_client();
  for (std::size_t i = 0; i < pools.size(); ++i) {
    pools[i]->sweep(wheel.now(), [&](std::size_t server, bool in_use) {
      if (when_server_changed) when_server_changed(i, server, in_use);
    });
  }
}

void Context::drain() {
  draining = true;
  for (auto& pool : pools)
    pool->stop();
  for (Session* session : sessions)
    session->drain();
  if (sessions.empty() && when_empty) when_empty();
}

void Context::abort() {
  for (Session* session : sessions)
    session->abort();
}

}  // namespace weir::proxy
