#include "simulation/measures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::simulation {
namespace {

constexpr double growth = 1.125;
constexpr std::uint64_t least_requests =
    200;  // of an instance, for a ratio that is not mostly noise

}  // namespace

void Latencies::add(Nanoseconds latency, double weight) {
  const double us = static_cast<double>(latency) / static_cast<double>(microsecond);
  const double position = us < 1 ? 0 : 1 + std::log(us) / std::log(growth);
  buckets_[std::min(static_cast<std::size_t>(position), buckets_.size() - 1)] += weight;
  total_ += weight;
  sum_us_ += us * weight;
}

double Latencies::quantile_us(double part) const {
  double sum = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    sum += buckets_[i];
    if (sum >= part * total_) return i == 0 ? 0 : std::pow(growth, static_cast<double>(i));
  }
  return 0;
}

void Measures::note(const Decided& decided) {
  OfInstance& first = first_key_[decided.instance];
  if (decided.key == 0 && decided.is_leased && decided.is_admitted)
    note_units(decided.instance, -1);
  if (!decided.is_measured) return;
  const std::uint32_t stratum = sample_.keys()[decided.key].stratum;
  Counts& counts = strata_[stratum];
  ++counts.requests;
  counts.leased += decided.is_leased ? 1 : 0;
  counts.alone += decided.is_alone ? 1 : 0;
  latencies_.add(decided.latency, sample_.strata()[stratum].weight());
  if (decided.key != 0) return;
  ++first.requests;
  if (decided.is_admitted) {
    ++first.admitted;
    return;
  }
  ++denials_;
  stranded_ += static_cast<double>(unused_ - first.unused);
}

void Measures::note_work(std::uint32_t key, double calls, Nanoseconds work) {
  recent_work_[key] += static_cast<double>(work);
  if (!is_measuring_) return;
  Counts& counts = strata_[sample_.keys()[key].stratum];
  counts.calls += calls;
  counts.work += static_cast<double>(work);
}

Measures::Work Measures::take_work(std::uint32_t hot, std::uint32_t masters) {
  Work work{.simulated = std::vector<double>(masters)};
  for (std::size_t i = 0; i < recent_work_.size(); ++i) {
    const double recent = std::exchange(recent_work_[i], 0);
    const std::uint32_t stratum = sample_.keys()[i].stratum;
    if (stratum < hot) continue;
    work.others += sample_.strata()[stratum].weight() * recent;
    work.simulated[i % masters] += recent;
  }
  return work;
}

void Measures::note_units(std::uint32_t instance, std::int64_t change) {
  unused_ += change;
  first_key_[instance].unused += change;
}

Counts Measures::total() const {
  Counts sum{.work = shared_work_};
  for (std::size_t i = 0; i < strata_.size(); ++i) {
    const double weight = sample_.strata()[i].weight();
    sum.requests += weight * strata_[i].requests;
    sum.calls += weight * strata_[i].calls;
    sum.leased += weight * strata_[i].leased;
    sum.alone += weight * strata_[i].alone;
    sum.work += weight * strata_[i].work;
  }
  return sum;
}

double Measures::admission_ratio() const {
  std::uint64_t requests = 0;
  std::uint64_t admitted = 0;
  for (const OfInstance& one : first_key_) {
    requests += one.requests;
    admitted += one.admitted;
  }
  return requests > 0 ? static_cast<double>(admitted) / static_cast<double>(requests) : 0;
}

Measures::Unfairness Measures::unfairness() const {
  const double all = admission_ratio();
  Unfairness found{.largest = 0, .mean = 0};
  std::size_t count = 0;
  for (const OfInstance& one : first_key_) {
    if (one.requests == 0) continue;
    if (one.requests < least_requests) return {};
    ++count;
    const double ratio = static_cast<double>(one.admitted) / static_cast<double>(one.requests);
    const double difference = std::abs(ratio - all);
    found.largest = std::max(found.largest, difference);
    found.mean += difference;
  }
  if (count == 0) return {};
  found.mean /= static_cast<double>(count);
  return found;
}

}  // namespace weir::simulation
