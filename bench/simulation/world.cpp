#include "simulation/world.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "rules/share.hpp"
#include "simulation/bucket_check.hpp"

namespace weir::simulation {
namespace {

/// Without a limit in the settings, the first key demands so many times its own.
constexpr double demand_of_first_key = 4;
constexpr Nanoseconds background_interval = 100 * millisecond;
/// Ranks that have a master each in a large deployment: 1 to 63.
constexpr std::uint32_t hot_strata = 6;
constexpr std::size_t slots = 16'384;
/// The sets of the tables of all instances together.
constexpr std::size_t most_sets = 400'000;

rules::Policy policy_of(std::int64_t limit) {
  rules::Definition definition;
  definition.rates = {{.count = limit, .per = std::chrono::seconds(1)}};
  return rules::compile(definition).value();
}

std::int64_t limit_of(const Settings& settings, const KeySample& sample) {
  if (settings.limit > 0) return settings.limit;
  return std::max<std::int64_t>(std::llround(sample.keys().front().rate / demand_of_first_key), 1);
}

}  // namespace

World::World(const Settings& settings)
    : settings_(settings),
      random_(settings.seed),
      sample_(settings),
      is_sampled_(settings.requests > settings.most_simulated),
      limit_(limit_of(settings, sample_)),
      policy_(policy_of(limit_)),
      measures_(sample_, settings.instances),
      admissions_(sample_.keys().size()),
      alone_(sample_.keys().size()) {
  if (const auto share = rules::share_of(policy_, settings.instances)) share_ = *share;
  const std::uint32_t masters =
      is_sampled_ ? std::min(settings.masters, settings.most_masters) : settings.masters;
  for (std::uint32_t i = 0; i < masters; ++i)
    masters_.push_back(std::make_unique<Master>(sample_.keys().size() / masters, random_()));
  const std::size_t sets = std::min<std::size_t>(1024, most_sets / settings.instances);
  for (std::uint32_t i = 0; i < settings.instances; ++i)
    instances_.push_back(std::make_unique<Instance>(*this, i, std::bit_floor(sets)));
  events_.add(background_interval, *this);
}

Nanoseconds World::latency() {
  std::exponential_distribution<double> jitter(1 / static_cast<double>(settings_.mean_jitter));
  return settings_.least_latency + static_cast<Nanoseconds>(jitter(random_));
}

std::uint32_t World::slot_of(std::uint32_t key) const {
  if (settings_.masters == 1) return 0;
  return static_cast<std::uint32_t>((key + 1) * 0x9e3779b97f4a7c15 >> 32) % slots;
}

void World::run() {
  const auto warm = static_cast<Nanoseconds>(settings_.warm_up * second);
  const Nanoseconds end = warm + static_cast<Nanoseconds>(settings_.seconds * second);
  std::exponential_distribution<double> gap(sample_.rate() / second);
  const auto growth = [&](double at) {
    if (settings_.starts_cold) return 1.0;
    return std::clamp(2 * at / static_cast<double>(warm), 0.05, 1.0);
  };
  double next_request = gap(random_);
  while (now_ < end) {
    const auto request_at = static_cast<Nanoseconds>(next_request);
    const bool is_event = events_.has_before(request_at + 1);
    now_ = is_event ? events_.next_at() : request_at;
    if (now_ >= warm && !measures_.is_measuring()) {
      measures_.begin();
      for (const auto& master : masters_)
        worked_.push_back(master->worked() + master->background_worked());
    }
    if (is_event) {
      events_.run_next();
    } else {
      begin_request();
      next_request += gap(random_) / growth(next_request);
    }
  }
}

/// A master has its hottest keys, and of all other keys as much as each master of the deployment.
void World::act(int, Nanoseconds now) {
  events_.add(now + background_interval, *this);
  if (!is_sampled_) return;
  const Measures::Work work = measures_.take_work(hot_strata, master_count());
  for (std::uint32_t i = 0; i < master_count(); ++i) {
    const double all = work.others / static_cast<double>(settings_.masters);
    const double missing = std::max(all - work.simulated[i], 0.0);
    const double load = missing / static_cast<double>(background_interval);
    masters_[i]->set_background(now, std::min(load, 0.95), settings_.call + settings_.decision);
  }
}

// ---- requests ----

World::Request& World::take_request() {
  if (free_requests_.empty()) return requests_.emplace_back(*this);
  Request& request = *free_requests_.back();
  free_requests_.pop_back();
  return request;
}

Call& World::take_call() {
  if (free_calls_.empty()) return calls_.emplace_back();
  Call& call = *free_calls_.back();
  free_calls_.pop_back();
  return call;
}

std::uint32_t World::instance_of(std::uint32_t key) {
  const auto number = static_cast<std::uint32_t>(random_());
  if (settings_.spread == 0) return number % settings_.instances;
  const auto first = static_cast<std::uint32_t>(identity_of(key).low >> 33);
  return (first + number % settings_.spread) % settings_.instances;
}

void World::begin_request() {
  Request& request = take_request();
  request.key = static_cast<std::uint32_t>(sample_.pick(random_));
  request.instance = instance_of(request.key);
  request.arrived_at = now_;
  request.decision = {.limit = policy_.capacity};
  request.claim = {.policy = &policy_,
                   .local_policy = share_ ? &*share_ : nullptr,
                   .identity = identity_of(request.key),
                   .on_failure = share_ ? store::OnFailure::local : store::OnFailure::deny,
                   .demand = {},
                   .attributes = {},
                   .lease = settings_.has_leases ? &units_ : nullptr};
  request.acquisition = {.claims = {&request.claim, 1},
                         .decisions = {&request.decision, 1},
                         .arrived_at = instant_at(now_)};
  store::Store& front = instances_[request.instance]->front();
  if (const auto result = front.acquire(request.acquisition, request, instant_at(now_)))
    finish(request, *result);
}

void World::finish(Request& request, const store::Result& result) {
  const bool is_decided = result.error == store::Error::none;
  const bool is_alone = !is_decided || result.decider == store::Decider::local;
  const bool is_admitted = is_decided && result.admitted;
  // Remembered denials need no call either; they are no leases.
  const bool is_leased =
      !is_alone && !request.acquisition.asked_at && (is_admitted || request.decision.by_holds);
  if (is_admitted && is_alone) alone_[request.key].push_back(now_ / microsecond);
  if (is_admitted && is_leased) note_admission(request.key, now_);
  const auto warm = static_cast<Nanoseconds>(settings_.warm_up * second);
  measures_.note({.key = request.key,
                  .instance = request.instance,
                  .latency = now_ - request.arrived_at,
                  .is_measured = request.arrived_at >= warm,
                  .is_admitted = is_admitted,
                  .is_leased = is_leased,
                  .is_alone = is_alone});
  free_requests_.push_back(&request);
}

void World::note_admission(std::uint32_t key, Nanoseconds at) {
  admissions_[key].push_back(at / microsecond);
}

// ---- results ----

World::Load World::load() const {
  Load load;
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    const Nanoseconds worked =
        masters_[i]->worked() + masters_[i]->background_worked() - worked_[i];
    const double part = static_cast<double>(worked) / (settings_.seconds * second);
    load.busiest = std::max(load.busiest, part);
    load.mean += part / static_cast<double>(masters_.size());
  }
  return load;
}

std::int64_t World::excess() const {
  std::int64_t most = 0;
  for (const auto* const lists : {&admissions_, &alone_}) {
    for (const auto& list : *lists)
      most = std::max(most, excess_of(list, limit_, limit_));
  }
  return most;
}

}  // namespace weir::simulation
