#include "limiter/slot_queue.hpp"

#include <algorithm>
#include <iterator>

namespace weir::limiter {

bool SlotQueue::has_waiting(const store::Key& key) const {
  if (is_empty()) return false;
  const std::lock_guard lock(mutex_);
  return lines_.contains(key);
}

bool SlotQueue::join(QueueTicket& ticket, const store::Key& key, std::int64_t places,
                     Instant asks_at) {
  const std::lock_guard lock(mutex_);
  return insert(ticket, {.key = key, .number = ++numbers_, .places = places, .asks_at = asks_at});
}

bool SlotQueue::move(QueueTicket& ticket, const store::Key& key, std::int64_t places,
                     Instant asks_at) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ticket.number_;
  remove(ticket, true);
  return insert(ticket, {.key = key, .number = number, .places = places, .asks_at = asks_at});
}

Instant SlotQueue::due(QueueTicket& ticket) {
  const std::lock_guard lock(mutex_);
  ticket.is_called_ = false;
  const Line& line = lines_.at(ticket.key_);
  return &line.tickets.front() == &ticket ? line.asks_at : Instant::max();
}

void SlotQueue::begin(QueueTicket& ticket) {
  const std::lock_guard lock(mutex_);
  ticket.releases_ = lines_.at(ticket.key_).releases;
}

void SlotQueue::denied(QueueTicket& ticket, Instant earliest, Instant poll_at) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_.at(ticket.key_);
  line.earliest = earliest;
  line.asks_at = line.releases == ticket.releases_ ? poll_at : earliest;
  // A ticket that has arrived earlier may have come from another line in the meantime.
  if (&line.tickets.front() != &ticket) call_first(line);
}

void SlotQueue::leave(QueueTicket& ticket, Leaves how) {
  if (ticket.number_ == 0) return;
  const std::lock_guard lock(mutex_);
  remove(ticket, how == Leaves::admitted);
}

void SlotQueue::released(const store::Key& key) {
  if (is_empty()) return;
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(key);
  if (found == lines_.end()) return;
  Line& line = found->second;
  ++line.releases;
  line.asks_at = std::min(line.asks_at, line.earliest);
  call_first(line);
}

std::size_t SlotQueue::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

bool SlotQueue::insert(QueueTicket& ticket, const Place& place) {
  const auto found = lines_.find(place.key);
  const std::size_t before = found == lines_.end() ? 0 : found->second.tickets.size();
  if (static_cast<std::int64_t>(before) >= place.places) return false;
  Line& line = found == lines_.end() ? lines_[place.key] : found->second;
  if (before == 0) line.asks_at = line.earliest = place.asks_at;
  auto position = line.tickets.end();
  while (position != line.tickets.begin() && std::prev(position)->number_ > place.number)
    --position;
  line.tickets.insert(position, ticket);
  ticket.key_ = place.key;
  ticket.number_ = place.number;
  ticket.is_called_ = false;
  tickets_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void SlotQueue::remove(QueueTicket& ticket, bool next_is_due) {
  const auto found = lines_.find(ticket.key_);
  Line& line = found->second;
  const bool was_first = &line.tickets.front() == &ticket;
  line.tickets.erase(line.tickets.iterator_to(ticket));
  ticket.number_ = 0;
  tickets_.fetch_sub(1, std::memory_order_relaxed);
  if (line.tickets.empty()) {
    lines_.erase(found);
  } else if (was_first) {
    if (next_is_due) line.asks_at = line.earliest = Instant{};
    call_first(line);
  }
}

void SlotQueue::call_first(Line& line) {
  QueueTicket& first = line.tickets.front();
  if (!first.is_called_) first.is_called_ = first.call();
}

}  // namespace weir::limiter
