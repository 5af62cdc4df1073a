#include "app/webhook.hpp"

#include <algorithm>
#include <utility>

namespace weir::app {

Webhook::Webhook(Dependencies dependencies)
    : with_(std::move(dependencies)), random_(with_.seed), next_(with_.io), finish_(with_.io) {}

Webhook::~Webhook() {
  for (const auto& [number, call] : calls_)
    call->cancel();
}

void Webhook::use(std::optional<WebhookTarget> target) {
  const bool is_other = target_ && target && target_->settings != target->settings;
  target_ = std::move(target);
  if (is_other) queue_.on_new_receiver();
  if (!target_) {
    for (const auto& [number, call] : calls_)
      call->cancel();
    calls_.clear();
    counters_.removed.add(queue_.clear());
  }
  advance();
}

void Webhook::add(std::string body) {
  if (!target_ || !queue_.add(std::move(body), with_.clock.now())) {
    counters_.queue_full.add();
    return log(report_.dropped());
  }
  advance();
}

/// Sends the events that are due, and sets the time of the next ones.
void Webhook::advance() {
  const Instant now = with_.clock.now();
  for (WebhookQueue::Post& post : queue_.start(now))
    send(std::move(post));
  counters_.expired.add(queue_.take_expired());
  counters_.pending.set(static_cast<std::int64_t>(queue_.size()));
  next_.cancel();
  const auto next_at = queue_.next_at();
  if (ends_at_ && calls_.empty() && (!next_at || *next_at >= *ends_at_)) return stop();
  if (next_at) next_.set(std::max(*next_at - now, Duration{1}), [this] { advance(); });
}

void Webhook::send(WebhookQueue::Post post) {
  const config::Webhook& settings = target_->settings;
  fetch::Request request{.method = "POST",
                         .url = settings.url,
                         .fields = settings.fields,
                         .json = std::move(post.body),
                         .tls = target_->tls,
                         .timeout = settings.timeout,
                         .reads_body = false};
  calls_[post.number] =
      fetch::Call::start(with_.io, std::move(request),
                         [this, number = post.number](const Result<fetch::Answer>& answer) {
                           calls_.erase(number);
                           on_answer(number, answer);
                           advance();
                         });
}

void Webhook::on_answer(std::uint64_t number, const Result<fetch::Answer>& answer) {
  const Instant now = with_.clock.now();
  switch (delivery_of(answer)) {
    case Delivery::done:
      queue_.on_done(number);
      counters_.delivered.add();
      return log(report_.delivered());
    case Delivery::rejected:
      queue_.on_rejected(number);
      counters_.rejected.add();
      return log(report_.rejected(undelivered_because(answer), now));
    case Delivery::again:
      queue_.on_failed(number, now, answer ? answer->retry_after : std::nullopt, random_.next());
      counters_.failures.add();
      return log(report_.failed(undelivered_because(answer), now));
  }
}

void Webhook::finish(std::function<void()> done) {
  done_ = std::move(done);
  const Duration longest = target_ ? target_->settings.timeout : Duration{0};
  ends_at_ = with_.clock.now() + longest;
  finish_.set(longest, [this] { stop(); });
  advance();
}

void Webhook::stop() {
  next_.cancel();
  finish_.cancel();
  for (const auto& [number, call] : calls_)
    call->cancel();
  calls_.clear();
  if (const std::size_t left = queue_.clear(); left > 0) {
    counters_.shutdown.add(left);
    with_.log(
        {LogLine::Level::warning,
         "events.webhook: events that were not delivered before the end: " + std::to_string(left)});
  }
  counters_.pending.set(0);
  if (const auto done = std::exchange(done_, nullptr)) done();
}

void Webhook::log(const std::optional<LogLine>& line) const {
  if (line) with_.log(*line);
}

}  // namespace weir::app
