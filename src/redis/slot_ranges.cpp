#include "redis/slot_ranges.hpp"

#include <hiredis/hiredis.h>
#include <limits>
#include <span>
#include <string>

#include "base/text.hpp"
#include "redis/error_reply.hpp"

namespace weir::redis {
namespace {

using Elements = std::span<redisReply* const>;

Elements elements_of(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

std::optional<HashSlot> slot_in(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER || reply.integer < 0) return std::nullopt;
  if (static_cast<std::size_t>(reply.integer) >= hash_slots) return std::nullopt;
  return static_cast<HashSlot>(reply.integer);
}

/// The value of a name in `[name, value, name, value, ...]`; empty if it is absent.
std::string_view value_of(Elements pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (text_of(*pairs[i]) == name) return text_of(*pairs[i + 1]);
  return {};
}

/// Host, port, id, and since Redis 7 a list of further names. The host is empty if unknown.
std::optional<options::RedisServer> master_of_range(Elements node,
                                                    const options::RedisServer& asked) {
  constexpr std::int64_t last_port = std::numeric_limits<std::uint16_t>::max();
  if (node.size() < 2 || node[1]->type != REDIS_REPLY_INTEGER) return std::nullopt;
  const std::int64_t port = node[1]->integer;
  if (port < 1 || port > last_port) return std::nullopt;
  std::string_view host = text_of(*node[0]);
  if (host.empty()) {
    host = asked.host;
  } else if (host == "?") {
    host = node.size() > 3 ? value_of(elements_of(*node[3]), "ip") : std::string_view{};
  }
  return options::RedisServer{std::string(host), static_cast<std::uint16_t>(port)};
}

/// HOST:PORT; an IPv6 address has no brackets here, so the last colon divides. The host is empty if
/// it is unknown.
std::optional<options::RedisServer> server_in(std::string_view text,
                                              const options::RedisServer& from) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) {
    host = from.host;
  } else if (host == "?") {
    host = {};
  }
  return options::RedisServer{std::string(host), *port};
}

}  // namespace

std::optional<SlotRanges> slot_ranges_in(const redisReply& reply,
                                         const options::RedisServer& asked) {
  if (reply.type != REDIS_REPLY_ARRAY) return std::nullopt;
  SlotRanges ranges;
  for (const redisReply* const entry : elements_of(reply)) {
    const Elements range = elements_of(*entry);
    if (range.size() < 3) return std::nullopt;
    const auto first = slot_in(*range[0]);
    const auto last = slot_in(*range[1]);
    auto master = master_of_range(elements_of(*range[2]), asked);
    if (!first || !last || *last < *first || !master) return std::nullopt;
    if (!master->host.empty()) ranges.push_back({*first, *last, *std::move(master)});
  }
  return ranges;
}

std::optional<SlotRefusal> slot_refusal_in(std::string_view text,
                                           const options::RedisServer& from) {
  using Kind = SlotRefusal::Kind;
  const std::string_view code = take_until(text, ' ');
  if (code == "TRYAGAIN") return SlotRefusal{.kind = Kind::try_again, .server = {}};
  if (code == "CLUSTERDOWN") return SlotRefusal{.kind = Kind::down, .server = {}};
  if (code != "MOVED" && code != "ASK") return std::nullopt;
  const auto slot = parse_number<HashSlot>(take_until(text, ' '));
  auto server = server_in(take_until(text, ' '), from);
  if (!slot || *slot >= hash_slots || !server) return std::nullopt;
  if (server->host.empty())
    return SlotRefusal{.kind = Kind::elsewhere, .slot = *slot, .server = {}};
  return SlotRefusal{.kind = code == "MOVED" ? Kind::moved : Kind::ask,
                     .slot = *slot,
                     .server = *std::move(server)};
}

}  // namespace weir::redis
