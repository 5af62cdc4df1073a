#include "redis/hold_table.hpp"

#include <algorithm>
#include <utility>

#include "redis/question_command.hpp"
#include "rules/span.hpp"

namespace weir::redis {
namespace {

/// Renewed after a third of the lease, so that two commands can be lost.
constexpr Duration renewed_after = hold_lease / 3;
/// A field that was renewed within this time has its lease when a command arrives.
constexpr Duration certain_for = hold_lease / 2;
/// A field is replaced before its numbers could exceed what a double can count.
constexpr std::int64_t large = rules::exact_limit / 4;

void drop_newest(std::vector<ChargeText>& texts, std::int64_t units) {
  while (units > 0 && !texts.empty()) {
    const std::int64_t dropped = std::min(units, texts.back().units);
    units -= dropped;
    texts.back().units -= dropped;
    if (texts.back().units == 0) texts.pop_back();
  }
}

void drop_confirmed_texts(HeldKey& held) {
  std::int64_t unconfirmed = held.numbers.charged - held.done_charged;
  auto first = held.texts.end();
  while (first != held.texts.begin() && unconfirmed > 0)
    unconfirmed -= (--first)->units;
  held.texts.erase(held.texts.begin(), first);
}

}  // namespace

HeldKey* HoldTable::take(const store::Key& key, rules::Algorithm algorithm) {
  const Place place{key.identity, key.policy_id, algorithm};
  if (const auto found = keys_.find(place); found != keys_.end()) return &found->second;
  if (keys_.size() >= most_keys_) return nullptr;
  Keys::iterator added;
  if (unused_.empty()) {
    // drop_if_idle() must not throw.
    if (unused_.capacity() <= keys_.size()) unused_.reserve(2 * keys_.size() + 8);
    added = keys_.emplace(place, HeldKey{}).first;
  } else {
    Keys::node_type node = std::move(unused_.back());
    unused_.pop_back();
    node.key() = place;
    std::string arguments = std::move(node.mapped().policy_arguments);
    arguments.clear();
    node.mapped() = {};
    node.mapped().policy_arguments = std::move(arguments);
    added = keys_.insert(std::move(node)).position;
  }
  HeldKey& held = added->second;
  held.key = key;
  held.algorithm = algorithm;
  held.numbers.field = random_.next();
  return &held;
}

/// The units that an earlier command may have released stay with the former field.
void HoldTable::begin_field(HeldKey& held) {
  FieldNumbers& numbers = held.numbers;
  if (numbers.formers.size() == numbers.formers.capacity())
    numbers.formers.erase(numbers.formers.begin());
  numbers.formers.push_back({.field = numbers.field, .charged = numbers.sent_charged});
  numbers.taken -= numbers.sent_released;
  numbers.released -= numbers.sent_released;
  numbers.charged -= numbers.sent_charged;
  numbers.field = random_.next();
  numbers.sent_released = numbers.sent_charged = 0;
  held.done_released = held.done_charged = held.written_off = 0;
  held.is_ambiguous = false;
}

HoldTable::Sent HoldTable::begin(HeldKey& held, Instant now) {
  const FieldNumbers& numbers = held.numbers;
  const bool is_large = numbers.taken > large || numbers.charged > large;
  if (held.unanswered == 0 && (held.is_ambiguous || is_large)) begin_field(held);
  ++held.unanswered;
  held.composed_charged = numbers.charged;
  const bool is_certain = held.renewed_at != Instant{} && now < held.renewed_at + certain_for;
  return {
      .held = &held,
      .field = numbers.field,
      .in_flight = held.in_flight(),
      .written_off = held.written_off,
      .released = numbers.released,
      .charged = numbers.charged,
      .refund = std::exchange(held.refund, 0),
      .at = now,
      .has_lease = now != Instant{} && is_certain && numbers.formers.empty() && !held.is_ambiguous};
}

void HoldTable::confirm_sent(const Sent& sent, Instant now) {
  HeldKey& held = *sent.held;
  if (held.numbers.field != sent.field) return;
  held.numbers.sent_released = std::max(held.numbers.sent_released, sent.released);
  held.numbers.sent_charged = std::max(held.numbers.sent_charged, sent.charged);
  held.sent_at = std::max(held.sent_at, now);
}

/// Returns whether the reply is about the present field. Otherwise the key was forgotten.
bool HoldTable::end_command(const Sent& sent) {
  --sent.held->unanswered;
  return sent.field == sent.held->numbers.field;
}

void HoldTable::answered(const Sent& sent, const Reply& reply) {
  HeldKey& held = *sent.held;
  counters_.holds_expired.add(static_cast<std::uint64_t>(reply.ended));
  if (end_command(sent)) {
    held.done_released = std::max(held.done_released, sent.released);
    held.done_charged = std::max(held.done_charged, sent.charged);
    held.renewed_at = std::max(held.renewed_at, sent.at);
    held.numbers.formers.clear();
    drop_confirmed_texts(held);
    if (reply.lost > 0) write_off(held, sent);
    held.numbers.taken += reply.taken;
    counters_.held.add(reply.taken);
  } else {
    // The key was removed after the command.
    held.forgotten += reply.taken;
  }
  drop_if_idle(held);
}

void HoldTable::released_late(const Sent& sent, const Reply& reply) {
  HeldKey& held = *sent.held;
  ++held.unanswered;  // so that the key stays
  const bool is_present = sent.field == held.numbers.field;
  answered(sent, reply);
  --held.unanswered;
  if (!is_present) {
    held.forgotten -= reply.taken;
  } else if (reply.taken > 0) {
    release(held, reply.taken);
    queue(held);
  }
  drop_if_idle(held);
}

void HoldTable::not_run(const Sent& sent) {
  HeldKey& held = *sent.held;
  // A reset of the key leaves nothing to give back.
  if (end_command(sent)) held.refund = std::min(held.refund + sent.refund, rules::exact_limit);
  drop_if_idle(held);
}

void HoldTable::keep_refund(Sent& sent) {
  HeldKey& held = *sent.held;
  const std::int64_t units = std::exchange(sent.refund, 0);
  if (sent.field == held.numbers.field)
    held.refund = std::min(held.refund + units, rules::exact_limit);
}

void HoldTable::lost(const Sent& sent) {
  HeldKey& held = *sent.held;
  if (sent.refund > 0) counters_.settlements_lost.add();
  if (end_command(sent)) held.is_ambiguous = true;
  drop_if_idle(held);
}

/// The field was absent. Replies to commands that were sent before may have shown that already.
void HoldTable::write_off(HeldKey& held, const Sent& sent) {
  const std::int64_t known = held.written_off - sent.written_off;
  const std::int64_t units = std::min(sent.in_flight - known, held.in_flight());
  if (units <= 0 || held.algorithm == rules::Algorithm::concurrency) return;
  held.numbers.taken -= units;
  held.written_off += units;
  counters_.held.add(-units);
  if (sent.has_lease) {
    held.forgotten += units;
    return;
  }
  held.outlived += units;
  counters_.holds_outlived.add(static_cast<std::uint64_t>(units));
}

void HoldTable::release(HeldKey& held, std::int64_t units) {
  const std::int64_t released = std::min(units, held.in_flight());
  held.numbers.released += released;
  counters_.held.add(-released);
}

void HoldTable::note_text(HeldKey& held, std::int64_t units, const store::Settlement& settlement) {
  if (held.texts.size() < most_charge_texts) {
    held.texts.push_back({.units = units, .attributes = joined_attributes(settlement.attributes)});
  } else {
    held.texts.back() = {.units = held.texts.back().units + units, .attributes = {}};
  }
}

/// Charges that no command has are taken back first: see the order in the header.
void HoldTable::refund(HeldKey& held, std::int64_t units) {
  FieldNumbers& numbers = held.numbers;
  const std::int64_t sent = held.unanswered > 0 ? held.composed_charged : numbers.sent_charged;
  const std::int64_t unsent = std::min(units, numbers.charged - sent);
  numbers.charged -= unsent;
  drop_newest(held.texts, unsent);
  held.refund = std::min(held.refund + units - unsent, rules::exact_limit);
}

HeldKey* HoldTable::settle(const store::Settlement& settlement) {
  const rules::Algorithm algorithm = settlement.policy->algorithm;
  const bool charges = algorithm != rules::Algorithm::concurrency;
  const std::int64_t actual =
      charges ? std::clamp(settlement.actual, -rules::exact_limit, rules::exact_limit) : 0;
  const auto found = keys_.find({settlement.key.identity, settlement.key.policy_id, algorithm});
  if (found == keys_.end() && actual == 0) return nullptr;
  HeldKey* const held = found == keys_.end() ? take(settlement.key, algorithm) : &found->second;
  if (held == nullptr) {
    counters_.settlements_lost.add();
    return nullptr;
  }
  const std::int64_t all = std::max<std::int64_t>(settlement.held, 0);
  const std::int64_t forgotten = std::min(held->forgotten, all);
  held->forgotten -= forgotten;
  const std::int64_t units = all - forgotten;
  const std::int64_t gone = std::min(held->outlived, units);
  held->outlived -= gone;
  if (gone > 0) counters_.settlements_lost.add();
  release(*held, units - gone);
  if (actual < 0) {
    refund(*held, -actual);
  } else {
    const std::int64_t due = std::max<std::int64_t>(actual - gone, 0);
    held->numbers.charged = std::min(held->numbers.charged + due, rules::exact_limit);
    if (due > 0 && !settlement.attributes.empty()) note_text(*held, due, settlement);
  }
  queue(*held);
  return held;
}

void HoldTable::forget(const store::Key& key, rules::Algorithm algorithm) {
  const auto found = keys_.find({key.identity, key.policy_id, algorithm});
  // The script takes the slots of requests in progress again.
  if (found == keys_.end() || algorithm == rules::Algorithm::concurrency) return;
  HeldKey& held = found->second;
  counters_.held.add(-held.in_flight());
  held.forgotten += held.in_flight() + held.outlived;
  held.numbers = {.field = random_.next(), .formers = {}};
  held.done_released = held.done_charged = held.written_off = held.outlived = 0;
  held.refund = held.composed_charged = 0;
  held.texts.clear();
  held.is_ambiguous = false;
  held.renewed_at = {};
  drop_if_idle(held);
}

bool HoldTable::is_unconfirmed(const HeldKey& held) {
  return held.numbers.released != held.done_released || held.numbers.charged != held.done_charged ||
         !held.numbers.formers.empty() || held.is_ambiguous || held.refund > 0;
}

bool HoldTable::needs_command(const HeldKey& held, Instant now) {
  const FieldNumbers& numbers = held.numbers;
  if (held.in_flight() > 0 && now >= held.sent_at + renewed_after) return true;
  if (held.unanswered == 0) return is_unconfirmed(held);
  return numbers.released != numbers.sent_released || numbers.charged != numbers.sent_charged ||
         held.refund > 0;
}

void HoldTable::queue(HeldKey& held) {
  if (held.is_queued) return;
  queued_[static_cast<std::size_t>(held.algorithm)].push_back(&held);
  held.is_queued = true;
  ++queued_count_;
}

void HoldTable::queue_due(Instant now) {
  for (auto& [place, held] : keys_) {
    if (needs_command(held, now)) queue(held);
  }
}

void HoldTable::take_queued(rules::Algorithm algorithm, std::size_t most, Instant now,
                            std::vector<HeldKey*>& out) {
  out.clear();
  auto& queued = queued_[static_cast<std::size_t>(algorithm)];
  while (out.size() < most && !queued.empty()) {
    HeldKey& held = *queued.front();
    queued.pop_front();
    held.is_queued = false;
    --queued_count_;
    if (needs_command(held, now)) {
      out.push_back(&held);
    } else {
      drop_if_idle(held);
    }
  }
}

void HoldTable::drop_if_idle(HeldKey& held) {
  if (held.unanswered > 0 || held.is_queued || held.in_flight() > 0 || held.outlived > 0 ||
      held.forgotten > 0 || is_unconfirmed(held))
    return;
  auto node = keys_.extract({held.key.identity, held.key.policy_id, held.algorithm});
  unused_.push_back(std::move(node));
}

}  // namespace weir::redis
