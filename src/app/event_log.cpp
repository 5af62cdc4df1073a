#include "app/event_log.hpp"

#include <new>
#include <utility>

#include "app/event_json.hpp"
#include "http/request_id.hpp"

namespace weir::app {

LogLine line_of(const limiter::QuotaEvent& event, std::string_view policy) {
  std::string text = "policy ";
  text.append(policy).append(": key ");
  append_hex(text, event.key.identity);
  text += " has reached " + std::to_string(event.percent) +
          " % of its quota: " + std::to_string(event.used) + " of " + std::to_string(event.limit) +
          " units are used";
  if (!event.counts_slots)
    text += "; whole again in " + std::to_string(ceil_seconds(event.whole_after)) + " s";
  return {LogLine::Level::info, std::move(text)};
}

EventLog::EventLog(Dependencies dependencies)
    : with_(std::move(dependencies)),
      random_(with_.seed),
      webhook_({.io = with_.io, .clock = with_.clock, .log = with_.log, .seed = random_.next()}),
      next_(with_.io) {}

bool EventLog::is_shared() const {
  return with_.running.config()->store_type == config::StoreType::redis;
}

void EventLog::use() {
  if (is_finishing_) return;
  webhook_.use(with_.running.webhook_target());
  next_.cancel();
  write();
  wait();
}

bool EventLog::is_needed() const {
  return !with_.running.config()->event_percents.empty() || !questions_.is_empty();
}

void EventLog::wait() {
  if (!is_needed()) return;
  next_.set(interval, [this] {
    write();
    wait();
  });
}

void EventLog::write() {
  const Instant now = with_.clock.now();
  for (const limiter::QuotaEvent& event :
       questions_.take_asked_before(now - EventQuestions::patience))
    report(event);
  const auto events = with_.events.take(questions_.room());
  if (is_shared()) {
    ask(events);
    read_generation();
  } else {
    for (const limiter::QuotaEvent& event : events)
      report(event);
  }
}

/// Sets the marks of the events, on the thread of the shared store.
void EventLog::ask(const std::vector<limiter::QuotaEvent>& events) {
  if (events.empty()) return;
  const Instant now = with_.clock.now();
  const auto& names = with_.running.policy_names();
  std::vector<std::pair<std::uint64_t, store::EventMark>> marks;
  for (const limiter::QuotaEvent& event : events)
    marks.emplace_back(questions_.add(event, now), mark_of(event, names[event.key.policy_id], now));
  with_.with_shared([this, marks = std::move(marks), now](SharedAccess* shared) {
    for (const auto& [number, mark] : marks) {
      const auto done = [this, number = number](const store::MarkReport& report) {
        loop::post(with_.io, [this, number, report] { on_mark(number, report); });
      };
      try {
        if (shared != nullptr) {
          shared->event_marks.mark(mark, now, done);
        } else {
          done({});  // a reload has replaced the store
        }
      } catch (const std::bad_alloc&) {
        // Its patience ends the question.
      }
    }
  });
}

void EventLog::on_mark(std::uint64_t number, const store::MarkReport& mark) {
  const auto event = questions_.take(number);
  if (!event) return;
  const bool is_elsewhere = mark.error == store::Error::none && mark.marked_for > Duration{0};
  if (is_elsewhere) {
    with_.events.adopt(*event, with_.clock.now() + mark.marked_for);
    with_.events.count(*event, limiter::EventResult::elsewhere);
  } else {
    report(*event);
  }
  if (is_finishing_ && questions_.is_empty()) end();
}

void EventLog::report(const limiter::QuotaEvent& event) {
  const std::string& policy = with_.running.policy_names()[event.key.policy_id];
  with_.log(line_of(event, policy));
  with_.events.count(event, limiter::EventResult::logged);
  if (!webhook_.is_in_use()) return;
  const http::UuidText id = http::uuid_v7(with_.clock.now(), random_.next(), random_.next());
  webhook_.add(event_json(event,
                          {.id = {id.data(), id.size()},
                           .instance = with_.instance,
                           .policy = policy,
                           .identity = with_.running.identity_names()[event.identity_id]},
                          wall_clock_offset(with_.clock)));
}

/// A reset removes the marks of a key, and changes the generation, so that instances which remember
/// the key ask again.
void EventLog::read_generation() {
  const Instant now = with_.clock.now();
  if (with_.events.is_unused() || now < generation_due_) return;
  generation_due_ = now + generation_interval;
  with_.with_shared([this](SharedAccess* shared) {
    if (shared == nullptr) return;
    try {
      shared->event_marks.read_generation([this](std::uint64_t generation) {
        loop::post(with_.io, [this, generation] { on_generation(generation); });
      });
    } catch (const std::bad_alloc&) {
      // It is read again.
    }
  });
}

void EventLog::on_generation(std::uint64_t generation) {
  if (generation == 0 || generation == generation_) return;
  generation_ = generation;
  with_.events.forget_all();
}

void EventLog::finish(std::function<void()> done) {
  is_finishing_ = true;
  done_ = std::move(done);
  next_.cancel();
  write();
  if (questions_.is_empty() || is_hurried_) return end();
  next_.set(last_wait, [this] { end(); });
}

void EventLog::end() {
  next_.cancel();
  for (const limiter::QuotaEvent& event : questions_.take_asked_before(Instant::max()))
    report(event);
  if (const auto done = std::exchange(done_, nullptr)) done();
}

void EventLog::finish_webhook(std::function<void()> done) {
  webhook_.finish([this, done = std::move(done)] { loop::post(with_.io, done); });
  if (is_hurried_) webhook_.stop();
}

void EventLog::hurry() {
  is_hurried_ = true;
  if (is_finishing_) stop();
}

void EventLog::stop() {
  end();
  webhook_.stop();
}

}  // namespace weir::app
