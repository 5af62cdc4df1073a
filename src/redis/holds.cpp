#include "redis/holds.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <hiredis/hiredis.h>
#include <new>

#include <boost/asio/post.hpp>

#include "redis/answer.hpp"
#include "redis/error_reply.hpp"
#include "redis/node.hpp"

namespace weir::redis {
namespace {

/// Leases and failed settlements are looked at so often.
constexpr auto tick = std::chrono::milliseconds(500);

constexpr AlgorithmSet held_set(rules::Algorithm algorithm) {
  return static_cast<AlgorithmSet>(set_of(algorithm) | with_holds);
}

}  // namespace

Holds::Holds(const Dependencies& with)
    : with_(with), table_(with.seed, with.counters), timer_(with.io.get_executor()) {}

// ---- questions ----

std::optional<std::size_t> Holds::compose(std::string& command, QuestionHolds& holds,
                                          std::span<const store::Claim> claims,
                                          std::optional<Instant> script_time,
                                          ScriptLoader& loader) {
  try {
    const std::size_t script = with_.catalog.scripts().find_or_add(
        static_cast<AlgorithmSet>(algorithms_of(claims) | with_holds));
    if (append(command, holds, script, claims, script_time, loader)) return script;
  } catch (const std::bad_alloc&) {
    not_run(holds);
    throw;
  }
  not_run(holds);
  return std::nullopt;
}

bool Holds::append(std::string& command, QuestionHolds& holds, std::size_t script,
                   std::span<const store::Claim> claims, std::optional<Instant> script_time,
                   ScriptLoader& loader) {
  if (script_time) script_time_ = std::max(script_time_, *script_time);
  for (const store::Claim& claim : claims) {
    if (!claim.holds || claim.demand.cost <= 0) {
      holds.emplace_back();
      continue;
    }
    HeldKey* const held = table_.take({claim.identity, claim.policy_id}, claim.policy->algorithm);
    if (held == nullptr) return false;
    holds.push_back(table_.begin(*held, with_.clock.now()));
    if (held->policy_arguments.empty()) write_policy_arguments(*held, *claim.policy, arguments_);
  }
  append_held_question(command, loader.name_of(script), with_.catalog.keys(), claims, holds,
                       script_time);
  return true;
}

void Holds::on_sent(const QuestionHolds& holds) noexcept {
  const Instant now = with_.clock.now();
  for (const HoldTable::Sent& one : holds) {
    if (one.held != nullptr) table_.confirm_sent(one, now);
  }
  arm();
}

template <class End>
void Holds::end(QuestionHolds& holds, End&& end_one) noexcept {
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (holds[i].held == nullptr) continue;
    try {
      end_one(holds[i], i);
    } catch (const std::bad_alloc&) {
      // The numbers are up to date; the timer sends them.
    }
  }
  holds.clear();
  if (table_.has_queued()) post_flush();
}

store::Result Holds::result_of(QuestionHolds& holds, const redisReply& reply,
                               const store::Acquisition& acquisition) noexcept {
  HoldReplies replies(holds.size());
  const store::Result result = held_result_of(reply, acquisition, {replies.data(), replies.size()});
  if (result.error != store::Error::none) {
    on_loss(holds);
  } else {
    end(holds,
        [&](const HoldTable::Sent& one, std::size_t i) { table_.answered(one, replies[i]); });
  }
  return result;
}

void Holds::on_late_reply(QuestionHolds& holds, const redisReply& reply) noexcept {
  if (reply.type == REDIS_REPLY_ERROR) return not_run(holds);
  HoldReplies replies(holds.size());
  if (!read_holds(reply, {replies.data(), replies.size()})) return on_loss(holds);
  end(holds,
      [&](const HoldTable::Sent& one, std::size_t i) { table_.released_late(one, replies[i]); });
}

void Holds::not_run(QuestionHolds& holds) noexcept {
  end(holds, [this](const HoldTable::Sent& one, std::size_t) { table_.not_run(one); });
}

void Holds::on_loss(QuestionHolds& holds) noexcept {
  end(holds, [this](const HoldTable::Sent& one, std::size_t) { table_.lost(one); });
}

// ---- settlements ----

void Holds::settle(std::span<const store::Settlement> settlements, Instant now) noexcept {
  script_time_ = std::max(script_time_, now);
  for (const store::Settlement& settlement : settlements) {
    try {
      HeldKey* const held = table_.settle(settlement);
      if (held != nullptr) write_policy_arguments(*held, *settlement.policy, arguments_);
    } catch (const std::bad_alloc&) {
      with_.counters.settlements_lost.add();
    }
  }
  if (table_.has_queued()) post_flush();
  arm();
}

void Holds::forget(const store::Key& key) noexcept {
  for (std::size_t i = 0; i < rules::algorithm_count; ++i)
    table_.forget(key, static_cast<rules::Algorithm>(i));
}

bool Holds::are_forgotten(const QuestionHolds& holds) {
  return std::ranges::any_of(holds, [](const HoldTable::Sent& one) {
    return one.held != nullptr && one.field != one.held->numbers.field;
  });
}

void Holds::on_ready() noexcept {
  if (table_.is_empty()) return;
  try {
    table_.queue_due(with_.clock.now());
  } catch (const std::bad_alloc&) {
    // The timer does it.
  }
  post_flush();
}

void Holds::post_flush() noexcept {
  if (std::exchange(flush_posted_, true)) return;
  asio::post(with_.io, flush_handler_([this, watch = presence_.watch()] {
               if (watch.expired()) return;
               flush_posted_ = false;
               flush();
             }));
}

void Holds::flush() noexcept {
  try {
    for (std::size_t i = 0; i < rules::algorithm_count; ++i) {
      while (send_batch(static_cast<rules::Algorithm>(i))) {
      }
    }
  } catch (const std::bad_alloc&) {
    // The timer sends the rest.
  }
}

/// Sends the keys that are first in the queue, or leaves them to the timer if their node is not
/// connected. Returns false if the queue is empty.
bool Holds::send_batch(rules::Algorithm algorithm) {
  table_.take_queued(algorithm, with_.keys_per_call, with_.clock.now(), queued_);
  if (queued_.empty()) return false;
  Node* const node = with_.nodes.node_at(slot_of(queued_.front()->key.identity));
  if (node != nullptr && node->is_ready()) send_batch(algorithm, *node, false);
  return true;
}

/// Sends the keys in queued_.
void Holds::send_batch(rules::Algorithm algorithm, Node& node, bool asking) {
  auto batch = batches_.borrow(*this);
  batch->node = &node;
  batch->algorithm = algorithm;
  batch->sent.clear();
  for (HeldKey* const held : queued_)
    batch->sent.push_back(table_.begin(*held, with_.clock.now()));
  bool is_sent = false;
  try {
    batch->script = with_.catalog.scripts().find_or_add(held_set(algorithm));
    const auto script_time = with_.catalog.scripts().clock() == Clock::argument
                                 ? std::optional(script_time_)
                                 : std::nullopt;
    command_.clear();
    append_settlements(command_, node.loader().name_of(batch->script), with_.catalog.keys(),
                       batch->sent, script_time);
    is_sent = node.connection().send(command_, *batch, asking);
  } catch (const std::bad_alloc&) {
    is_sent = false;
  }
  for (const HoldTable::Sent& one : batch->sent) {
    if (is_sent) {
      table_.confirm_sent(one, with_.clock.now());
    } else {
      table_.not_run(one);
    }
  }
  if (!is_sent) return;
  ++batches_in_flight_;
  batch.keep();
}

void Holds::give_back(Batch& batch) noexcept {
  --batches_in_flight_;
  batches_.give_back(batch);
}

void Holds::on_batch(Batch& batch, const redisReply& reply) noexcept {
  std::array<HoldTable::Reply, most_keys_per_call> replies{};
  if (read_settled(reply, {replies.data(), batch.sent.size()}))
    return end_batch(batch, replies.data());
  const std::string_view text = reply.type == REDIS_REPLY_ERROR ? text_of(reply) : "";
  if (error_of(text) != store::Error::script_missing || !may_repeat())
    return on_refused(batch, text);
  Node& node = *batch.node;
  const std::size_t script = batch.script;
  end_batch(batch, nullptr);
  try {
    node.loader().load(script);
    table_.queue_due(with_.clock.now());
    post_flush();
  } catch (const std::bad_alloc&) {
    // The timer sends them again.
  }
}

/// If the keys are at another node, sends them there at once, else with the next tick.
void Holds::on_refused(Batch& batch, std::string_view text) noexcept {
  const NodeLookup::Redirect redirect = with_.nodes.on_refused(*batch.node, text);
  if (redirect.node != nullptr && redirect.node->is_ready() && may_repeat()) {
    try {
      queued_.assign({batch.sent.front().held});
      table_.keep_refund(batch.sent.front());
      send_batch(batch.algorithm, *redirect.node, redirect.asking);
    } catch (const std::bad_alloc&) {
      // The timer sends it again.
    }
  }
  end_batch(batch, nullptr);
}

/// `replies`: nullptr if Redis returned an error.
void Holds::end_batch(Batch& batch, const HoldTable::Reply* replies) noexcept {
  for (std::size_t i = 0; i < batch.sent.size(); ++i) {
    if (replies != nullptr) {
      table_.answered(batch.sent[i], replies[i]);
    } else {
      table_.not_run(batch.sent[i]);
    }
  }
  give_back(batch);
}

void Holds::arm() noexcept {
  if (is_armed_ || table_.is_empty()) return;
  try {
    timer_.expires_after(tick);
    timer_.async_wait(timer_handler_([this, watch = presence_.watch()](error_code ec) {
      if (watch.expired()) return;
      is_armed_ = false;
      if (ec) return;
      repeats_left_ = repeats_per_tick;
      on_ready();
      arm();
    }));
    is_armed_ = true;
  } catch (const std::bad_alloc&) {
    // The next question or settlement arms it.
  }
}

}  // namespace weir::redis
