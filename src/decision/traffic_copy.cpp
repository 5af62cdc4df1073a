#include "decision/traffic_copy.hpp"

#include <new>
#include <utility>

namespace weir::decision {
namespace {

constexpr std::string_view chunked = "Transfer-Encoding: chunked\r\n";

/// A head is at most about this much longer than its parts.
constexpr std::size_t head_overhead = 64;

std::size_t size_of(const http::RequestView& request) {
  std::size_t size =
      head_overhead + request.method.size() + request.target.size() + request.authority.size();
  for (const http::FieldView& field : request.fields)
    size += field.name.size() + field.value.size() + std::string_view(": \r\n").size();
  return size;
}

}  // namespace

/// The target may have had an authority, which counts in place of Host (RFC 9112 section 3.2.2).
void append_head(std::string& to, const http::ReceivedRequest& received) {
  const http::RequestView& request = received.view;
  to.append(request.method).append(" ").append(request.target);
  to.append(request.version_minor == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  const bool has_host = request.find(http::FieldId::host) != nullptr;
  if (has_host || !request.authority.empty())
    to.append("Host: ").append(request.authority).append("\r\n");
  for (const http::FieldView& field : request.fields) {
    if (field.id == http::FieldId::host) continue;
    to.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (received.framing.kind == http::Framing::Kind::chunked &&
      request.find(http::FieldId::transfer_encoding) == nullptr)
    to.append(chunked);
  to.append("\r\n");
}

void CopiedTraffic::clear() {
  events.clear();
  text.clear();
  costs.clear();
  skipped = 0;
}

std::uint64_t TrafficCopy::add(const Arrival& arrival) noexcept {
  const std::lock_guard lock{mutex_};
  const std::size_t text = added_.text.size();
  if (text + size_of(arrival.request.view) + arrival.body.size() <= most_text) {
    try {
      return copy(arrival);
    } catch (const std::bad_alloc&) {
      added_.text.resize(text);
    }
  }
  ++added_.skipped;
  return 0;
}

void TrafficCopy::add(CopiedMethod method, std::string_view message, Instant at) noexcept {
  const std::lock_guard lock{mutex_};
  const std::size_t text = added_.text.size();
  if (text + message.size() <= most_text) {
    try {
      return copy(method, message, at);
    } catch (const std::bad_alloc&) {
      added_.text.resize(text);
    }
  }
  ++added_.skipped;
}

void TrafficCopy::copy(CopiedMethod method, std::string_view message, Instant at) {
  CopiedEvent event{.at = at, .call = method};
  event.text_begin = added_.text.size();
  event.body_size = message.size();
  added_.text.append(message);
  added_.events.push_back(event);
}

void TrafficCopy::skip() noexcept {
  const std::lock_guard lock{mutex_};
  ++added_.skipped;
}

std::uint64_t TrafficCopy::copy(const Arrival& arrival) {
  CopiedEvent event{.number = next_, .at = arrival.at, .peer = arrival.request.peer};
  event.text_begin = added_.text.size();
  append_head(added_.text, arrival.request);
  event.head_size = added_.text.size() - event.text_begin;
  event.body_size = arrival.body.size();
  added_.text.append(arrival.body);
  added_.events.push_back(event);
  return next_++;
}

void TrafficCopy::add(const End& end) noexcept {
  const std::lock_guard lock{mutex_};
  const std::size_t costs = added_.costs.size();
  try {
    copy(end);
  } catch (const std::bad_alloc&) {  // the request stays in progress in the copy
    added_.costs.resize(costs);
  }
}

void TrafficCopy::copy(const End& end) {
  CopiedEvent event{.number = end.number, .at = end.at, .is_end = true};
  event.how = end.how;
  event.served = end.served;
  event.costs_begin = added_.costs.size();
  if (end.held != nullptr) {
    for (const limiter::HeldLimit& limit : end.held->limits) {
      if (limit.stated)
        added_.costs.push_back({.policy = limit.policy->name, .usage = *limit.stated});
    }
  }
  event.cost_count = added_.costs.size() - event.costs_begin;
  added_.events.push_back(event);
}

void TrafficCopy::take(CopiedTraffic& taken) {
  taken.clear();
  const std::lock_guard lock{mutex_};
  std::swap(taken, added_);
}

}  // namespace weir::decision
