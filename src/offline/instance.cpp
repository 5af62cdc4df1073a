#include "offline/instance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "decision/head_inspection.hpp"
#include "decision/hold_report.hpp"
#include "decision/refusals.hpp"
#include "identity/client_address.hpp"
#include "limiter/waiting.hpp"

namespace weir::offline {

using Step = decision::SlotWaitMachine::Step;

namespace {

/// Adds the costs that are known by the names of policies.
void add_stated(limiter::HeldUnits& held, std::span<const StatedCost> stated) {
  for (limiter::HeldLimit& limit : held.limits) {
    if (limit.charge == nullptr || !limit.charge->cost_from) continue;
    const auto found = std::ranges::find(stated, limit.policy->name, &StatedCost::policy);
    if (found != stated.end()) limit.stated = found->usage;
  }
}

}  // namespace

bool Instance::Due::operator<(const Due& other) const {
  return std::tuple(other.at, !other.is_stated, other.kind, other.number) <
         std::tuple(at, !is_stated, kind, number);
}

Instance::Instance(const options::Proxy& proxy, const limiter::Options& limits,
                   const store::MemoryStoreOptions& store)
    : rules_(proxy, limits),
      store_(store),
      limiter_(limits, store_, store::Decider::memory, {}, {}, nullptr, &queue_) {}

Request& Instance::receive(const Arrival& arrival, Instant now, limiter::Trace* trace) {
  now_ = std::max(now_, now);
  Request& request = take();
  request.label_ = arrival.label;
  request.head_.assign(arrival.head);
  request.arrived_at_ = request.decided_at_ = request.stepped_at_ = now;
  request.steps_.assign(arrival.steps.begin(), arrival.steps.end());
  request.latest_step_ = arrival.latest_step;
  http::ReceivedRequest& received = request.received_;
  received.clear();
  received.peer = received.client = arrival.peer;
  received.peer_is_trusted =
      arrival.peer_is_trusted || identity::is_trusted(rules_.options.client_address, arrival.peer);
  request.is_limited_ = false;
  request.decision_.clear();
  request.state_ = Request::State::malformed;
  request.refusal_ = decision::refuse_large_head(rules_.options.downstream, request.head_);
  if (!request.refusal_) request.refusal_ = decision::inspect_head(rules_, request.head_, received);
  if (request.refusal_) return request;
  request.state_ = Request::State::unrouted;
  request.refusal_ = request.decision_.find_routes(rules_, received);
  if (!request.refusal_) decide(request, arrival.body, now, trace);
  return request;
}

std::optional<Instance::Event> Instance::next(Instant until) {
  for (;;) {
    while (!called_.empty()) {
      Request& request = *called_.front();
      called_.erase(called_.begin());
      if (request.state_ != Request::State::waiting) continue;
      if (request.step_after(now_).value_or(now_) > now_)
        schedule(request, now_);
      else if (resume(request, now_))
        return Event{.kind = Event::Kind::decided, .request = &request, .at = now_};
    }
    if (due_.empty() || due_.top().at > until) return std::nullopt;
    const Due due = due_.top();
    due_.pop();
    Request& request = *due.request;
    const bool ends = due.kind == Event::Kind::ends;
    if (due.number != (ends ? request.end_number_ : request.wait_number_)) continue;
    now_ = std::max(now_, due.at);
    if (ends || resume(request, now_))
      return Event{.kind = due.kind, .request = &request, .at = now_};
  }
}

void Instance::end_at(Request& request, Instant at) {
  request.end_number_ = ++numbers_;
  due_.push(
      {.at = at, .kind = Event::Kind::ends, .number = request.end_number_, .request = &request});
}

void Instance::give_up(Request& request, Instant now) {
  carry_out(request, request.machine_->on_pause_end(now, true), now);
}

void Instance::end(Request& request, const Ending& ending, Instant now) {
  now_ = std::max(now_, now);
  if (request.holds_units()) settle(request, ending, now);
  request.wait_number_ = request.end_number_ = 0;
  free_.push_back(&request);
}

Request& Instance::take() {
  if (!free_.empty()) {
    Request& request = *free_.back();
    free_.pop_back();
    return request;
  }
  requests_.emplace_back(new Request(called_));
  free_.reserve(requests_.size());
  return *requests_.back();
}

/// As Exchange::prepare and Exchange::decide.
void Instance::decide(Request& request, std::string_view body, Instant now, limiter::Trace* trace) {
  const std::uint8_t needs = request.decision_.routes().needs();
  if ((needs & options::needs_settlements) != 0) {
    const auto report = decision::read_hold_report(request.received_.view);
    request.refusal_ = report ? decision::unknown_hold : report.error();
    return;
  }
  request.state_ = Request::State::decided;
  if ((needs & options::needs_body) != 0 &&
      reserves_.begin(request.received_, request.decision_.routes().gathered()) &&
      body.size() <= decision::largest_stating_body) {
    reserves_.feed(body);
    reserves_.finish();
  }
  if (!request.decision_.is_limited()) return;
  request.is_limited_ = true;
  request.decision_.decide(limiter_, nobody_, now, trace);
  if (!request.decision_.waits()) {
    request.decision_.take_refusing_route(rules_.options);
    return;
  }
  request.state_ = Request::State::waiting;
  request.machine_.emplace(limiter_, request.decision_.evaluation(), request);
  carry_out(request, request.machine_->begin(now), now);
}

/// Makes the next step of a waiting request an event, in place of an earlier one.
void Instance::schedule(Request& request, Instant due) {
  const auto stated = request.step_after(due);
  request.wait_number_ = ++numbers_;
  due_.push({.at = stated.value_or(due),
             .kind = Event::Kind::decided,
             .is_stated = stated.has_value(),
             .number = request.wait_number_,
             .request = &request});
}

/// Returns true if the request has its verdict.
bool Instance::resume(Request& request, Instant now) {
  request.stepped_at_ = now;
  return carry_out(request, request.machine_->on_pause_end(now, false), now);
}

/// Carries out the steps of a waiting request until it pauses. Returns true if it has its verdict.
bool Instance::carry_out(Request& request, Step step, Instant now) {
  decision::SlotWaitMachine& machine = *request.machine_;
  while (step == Step::look || step == Step::ask) {
    const bool look = step == Step::look;
    const store::Result result =
        limiter_.ask_again(request.decision_.evaluation(), look, nobody_, now).value();
    step = look ? machine.on_look(result, now, 0) : machine.on_answer(result, now, 0);
  }
  if (step == Step::pause) {
    schedule(request, std::max(machine.pause_until(), now));
    return false;
  }
  request.machine_.reset();
  request.wait_number_ = 0;
  request.state_ = Request::State::decided;
  request.decided_at_ = now;
  return true;
}

/// As RequestHold::settle_units.
void Instance::settle(Request& request, const Ending& ending, Instant now) {
  limiter::HeldUnits& held = request.decision_.evaluation().held;
  if (ending.stated) {
    add_stated(held, *ending.stated);
  } else if (ending.how.status && meter_.prepare(held)) {
    meter_.begin(ending.fields);
    meter_.feed(ending.body);
    if (ending.is_whole) meter_.end({});
    meter_.settle(held);
    meter_.clear();
  }
  limiter::end(held, ending.how);
  limiter_.count_settled(held);
  store_.settle(held.settlements, now);
  limiter::report_released(queue_, held);
}

}  // namespace weir::offline
