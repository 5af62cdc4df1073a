#include "app/webhook_queue.hpp"

#include <algorithm>
#include <utility>

namespace weir::app {
namespace {

/// Between half of the pause and all of it.
Duration pause_after(int failures, std::uint64_t random) {
  Duration pause = WebhookQueue::first_pause;
  for (int i = 1; i < failures && pause < WebhookQueue::longest_pause; ++i)
    pause *= 2;
  pause = std::min(pause, WebhookQueue::longest_pause);
  const auto half = static_cast<std::uint64_t>(to_us(pause) / 2);
  return pause - Duration{static_cast<std::int64_t>(random % (half + 1))};
}

}  // namespace

Delivery delivery_of(const Result<fetch::Answer>& answer) {
  if (!answer) return Delivery::again;
  const int status = answer->status;
  if (status >= 200 && status <= 299) return Delivery::done;
  const bool is_temporary = status == 408 || status == 425 || status == 429 || status >= 500;
  return is_temporary ? Delivery::again : Delivery::rejected;
}

std::string undelivered_because(const Result<fetch::Answer>& answer) {
  if (!answer) return answer.error().message;
  const std::string text = "it answered " + std::to_string(answer->status);
  const bool is_redirect = answer->status >= 300 && answer->status <= 399;
  return is_redirect ? text + "; redirects are not followed, so set the URL that it leads to"
                     : text;
}

bool WebhookQueue::add(std::string body, Instant now) {
  if (waiting_.size() >= most_waiting) return false;
  waiting_.push_back({.number = ++last_number_, .body = std::move(body), .added_at = now});
  return true;
}

std::vector<WebhookQueue::Post> WebhookQueue::start(Instant now) {
  expired_ +=
      std::erase_if(waiting_, [now](const Post& post) { return now >= post.added_at + lifetime; });
  std::vector<Post> started;
  if (now < std::max(resumes_at_, asked_until_)) return started;
  while (!waiting_.empty() && in_flight_.size() < most_at_once()) {
    started.push_back(waiting_.front());
    in_flight_.emplace(waiting_.front().number, std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return started;
}

std::optional<Instant> WebhookQueue::next_at() const {
  if (waiting_.empty() || in_flight_.size() >= most_at_once()) return std::nullopt;
  return std::max(resumes_at_, asked_until_);
}

std::size_t WebhookQueue::take_expired() {
  return std::exchange(expired_, 0);
}

void WebhookQueue::on_done(std::uint64_t number) {
  in_flight_.erase(number);
  failures_ = 0;
  resumes_at_ = {};
}

void WebhookQueue::on_failed(std::uint64_t number, Instant now, std::optional<Duration> retry_after,
                             std::uint64_t random) {
  if (const auto found = in_flight_.extract(number)) waiting_.push_back(std::move(found.mapped()));
  if (now >= resumes_at_) {  // else another request of the same time has failed before
    ++failures_;
    resumes_at_ = now + pause_after(failures_, random);
  }
  if (retry_after)
    asked_until_ = std::max(asked_until_, now + std::min(*retry_after, longest_retry_after));
}

void WebhookQueue::on_new_receiver() {
  failures_ = 0;
  resumes_at_ = asked_until_ = {};
}

std::size_t WebhookQueue::clear() {
  const std::size_t count = size();
  waiting_.clear();
  in_flight_.clear();
  return count;
}

}  // namespace weir::app
