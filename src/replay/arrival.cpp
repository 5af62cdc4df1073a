#include "replay/arrival.hpp"

#include <algorithm>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"
#include "replay/own_log.hpp"

namespace weir::replay {
namespace {

/// True if the text has a byte below this one, or DEL. Examines eight at a time.
bool has_byte_below(std::string_view text, unsigned char bound) {
  std::uint64_t found = 0;
  while (text.size() >= sizeof found) {
    const std::uint64_t bytes = eight_bytes(text.data());
    found |= less_than(bytes, bound) | zeros_in(bytes ^ in_each_byte(0x7f));
    text.remove_prefix(sizeof found);
  }
  const auto is_found = [&](char c) { return static_cast<unsigned char>(c) < bound || c == 0x7f; };
  return found != 0 || std::ranges::any_of(text, is_found);
}

/// True for bytes that would end a field or the head; logs unescape them.
bool ends_a_line(std::string_view text) {
  return has_byte_below(text, 0x20);
}
/// Likewise a target, which a blank ends, too.
bool ends_target(std::string_view text) {
  return has_byte_below(text, 0x21);
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  if (value.empty() || ends_a_line(value)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

/// As Exchange::settle: an error that Weir generates is not a response.
bool has_response(const OwnRecord& own) {
  return own.upstream.empty() || own.has_response;
}

/// `began_at`: when the request arrived.
void fill_own(Arrival& arrival, const OwnRecord& own, Instant began_at) {
  constexpr int client_closed_request = 499;
  constexpr int deadline_exceeded = 4;
  arrival.client_has_left = own.aborted_by == "client" || arrival.status == client_closed_request;
  if (!has_response(own) || arrival.status == client_closed_request) arrival.status.reset();
  if (own.grpc_status) arrival.grpc_status = static_cast<int>(*own.grpc_status);
  Arrival::Logged& logged = arrival.logged;
  logged.decision = own.decision;
  logged.policy = own.policy;
  logged.remaining = own.remaining;
  logged.identities.clear();
  logged.costs.clear();
  logged.queue_steps.clear();
  logged.was_interrupted = !own.aborted_by.empty() || arrival.client_has_left ||
                           arrival.grpc_status == deadline_exceeded;
  for (const std::int64_t us : own.queue_us.subspan(own.queue_us.empty() ? 0 : 1))
    logged.queue_steps.push_back(began_at + Duration{us});
  const auto add = [&](std::string_view policy, const auto& limit) {
    if (const auto hash = hash_from_hex(limit.identity))
      logged.identities.push_back({.name = std::string(limit.identity_kind), .hash = *hash});
    if (limit.reserved && limit.cost)
      logged.costs.push_back({.policy = std::string(policy),
                              .field = cost_field(policy),
                              .units = std::to_string(*limit.cost)});
  };
  add(own.policy, own);
  for (const OwnLimit& other : own.others)
    add(other.policy, other);
}

/// True for a call of the rate limit service. It has a decision without a route, unless no limit
/// applied: then it has its path only.
bool is_call_of_service(const LoggedRequest& logged) {
  const OwnRecord& own = *logged.own;
  return own.route.empty() &&
         (!own.decision.empty() ||
          logged.target.starts_with("/envoy.service.ratelimit.v3.RateLimitService/") ||
          logged.target.starts_with("/kuadrant.service.ratelimit.v1.RateLimitService/"));
}

/// True for a line about a request that Weir did not decide: the report of another proxy, a request
/// that it refused before, or one whose client had left.
bool is_undecided(const LoggedRequest& logged) {
  const OwnRecord& own = *logged.own;
  return own.decision == "settled" || own.route.empty() || (own.decision.empty() && !logged.status);
}

}  // namespace

void fill(Arrival& arrival, const LoggedRequest& logged, std::string_view host) {
  arrival.at = logged.decided_at.value_or(logged.at);
  if (logged.own && !logged.own->queue_us.empty())
    arrival.at = logged.at + Duration{logged.own->queue_us.front()};
  arrival.peer = logged.client.value_or(IpAddress());
  arrival.status = logged.status;
  arrival.ends_at.reset();
  if (logged.duration) arrival.ends_at = std::max(arrival.at, logged.at + *logged.duration);
  arrival.grpc_status.reset();
  arrival.client_has_left = false;
  arrival.is_own = logged.own.has_value();
  if (logged.own) fill_own(arrival, *logged.own, logged.at);
  std::string& head = arrival.head;
  head.clear();
  arrival.is_service_call = logged.own && is_call_of_service(logged);
  if (logged.own && is_undecided(logged)) return;
  if (!http::is_token(logged.method) || logged.target.empty() || ends_target(logged.target)) return;
  head.append(logged.method).append(" ").append(logged.target).append(" HTTP/1.1\r\n");
  append_field(head, "Host", logged.host.empty() ? host : logged.host);
  append_field(head, "User-Agent", logged.user_agent);
  append_field(head, "Referer", logged.referer);
  for (const LoggedField& field : logged.fields)
    append_field(head, field.name, field.value);
  if (logged.own) append_own_fields(head, *logged.own, logged.method);
  head += "\r\n";
}

}  // namespace weir::replay
