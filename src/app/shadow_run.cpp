#include "app/shadow_run.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace weir::app {

using offline::Judgement;

namespace {

offline::Comparison::Configuration compared(const config::Config& config) {
  return {.proxy = config.proxy,
          .limits = config.limiter,
          .service = config.rate_limit_service ? &*config.rate_limit_service : nullptr};
}

}  // namespace

ShadowRun::ShadowRun(Dependencies dependencies, Candidate candidate,
                     const offline::ReloadGuard& guard, TrafficCopies copies, std::uint64_t seed)
    : with_(std::move(dependencies)),
      candidate_(std::move(candidate)),
      guard_(guard),
      copies_(std::move(copies)),
      taken_(copies_.size()),
      comparison_(compared(*candidate_.running), compared(*candidate_.loaded.config),
                  {.max_keys = std::min(most_keys, candidate_.loaded.config->memory.max_keys),
                   .seed = seed}),
      thread_([this] { run(); }) {}

ShadowRun::~ShadowRun() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ShadowRun::begin() {
  show();
  {
    const std::lock_guard lock(mutex_);
    has_begun_ = true;
  }
  changed_.notify_all();
}

std::vector<offline::FlippedKey> ShadowRun::top_keys(std::size_t most) const {
  const std::lock_guard lock(comparison_mutex_);
  return comparison_.top_keys(most);
}

void ShadowRun::drop_unread(std::shared_ptr<const void> content) {
  const std::lock_guard lock(mutex_);
  unread_.push_back(std::move(content));
}

void ShadowRun::run() {
  try {
    Judgement judgement = Judgement::pending;
    while (judgement == Judgement::pending) {
      if (!wait()) return;
      judgement = step();
    }
    with_.judged(judgement, {});
  } catch (const std::exception& thrown) {  // out of memory
    with_.judged(Judgement::failed, thrown.what());
  }
}

/// Returns false if the run is destroyed.
bool ShadowRun::wait() {
  std::vector<std::shared_ptr<const void>> read;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_begun_ || is_stopped_; });
  read.swap(unread_);  // no look-up is in progress here
  changed_.wait_for(lock, interval, [this] { return is_stopped_; });
  return !is_stopped_;
}

/// Decides what the workers have copied. The events of a worker stay in their order; those of
/// several workers are merged by their time.
Judgement ShadowRun::step() {
  const Instant now = with_.clock.now();
  struct Next {
    const decision::CopiedTraffic* traffic;
    std::size_t index;
    Instant at() const { return traffic->events[index].at; }
  };
  std::vector<Next> next;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    copies_[i]->take(taken_[i]);
    skipped_ += taken_[i].skipped;
    with_.shown.skipped.add(taken_[i].skipped);
    if (!taken_[i].events.empty()) next.push_back({.traffic = &taken_[i], .index = 0});
  }
  const std::lock_guard lock(comparison_mutex_);
  comparison_.set_wall_clock_offset(wall_clock_offset(with_.clock));
  while (!next.empty()) {
    const auto first = std::ranges::min_element(next, {}, &Next::at);
    decide(*first->traffic, first->traffic->events[first->index]);
    if (++first->index == first->traffic->events.size()) next.erase(first);
  }
  comparison_.advance(now);
  show();
  const offline::ComparisonCounts& counts = comparison_.counts();
  return offline::judge(guard_,
                        {.decisions = counts.decisions,
                         .flips = counts.flips,
                         .skipped = skipped_ + counts.not_compared},
                        now);
}

void ShadowRun::decide(const decision::CopiedTraffic& traffic, const decision::CopiedEvent& event) {
  if (event.call) return comparison_.call(*event.call, traffic.body_of(event), event.at);
  if (!event.is_end) {
    return comparison_.arrive({.head = traffic.head_of(event),
                               .body = traffic.body_of(event),
                               .peer = event.peer,
                               .label = event.number},
                              event.at);
  }
  offline::RealEnd real{.how = event.how, .served = event.served};
  for (std::size_t i = 0; i < event.cost_count; ++i) {
    const decision::CopiedCost& cost = traffic.costs[event.costs_begin + i];
    real.stated.push_back({.policy = cost.policy, .usage = cost.usage});
  }
  comparison_.end(event.number, std::move(real), event.at);
}

void ShadowRun::show() {
  const offline::ComparisonCounts counts = comparison_.counts();
  with_.shown.decisions.add(counts.decisions - counted_.decisions);
  with_.shown.flips.add(counts.flips - counted_.flips);
  with_.shown.skipped.add(counts.not_compared - counted_.not_compared);
  counted_ = counts;
  with_.shown.set({.stage = admin::ShadowState::Stage::shadow,
                   .hash = candidate_.loaded.hash,
                   .until = guard_.until(),
                   .max_flips = guard_.max_flips,
                   .decisions = counts.decisions,
                   .flips = counts.flips,
                   .skipped = skipped_ + counts.not_compared});
}

}  // namespace weir::app
