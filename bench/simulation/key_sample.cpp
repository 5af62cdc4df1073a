#include "simulation/key_sample.hpp"

#include <algorithm>
#include <cmath>

namespace weir::simulation {
namespace {

/// The sum of 1 / r^zipf for `count` ranks from `first` on. An integral where it is exact enough.
double mass_of(std::int64_t first, std::int64_t count, double zipf) {
  constexpr std::int64_t exact_below = 1 << 12;
  double sum = 0;
  if (first < exact_below) {
    for (std::int64_t rank = first; rank < first + count; ++rank)
      sum += std::pow(static_cast<double>(rank), -zipf);
    return sum;
  }
  const double from = static_cast<double>(first) - 0.5;
  const double to = static_cast<double>(first + count) - 0.5;
  if (std::abs(zipf - 1) < 1e-9) return std::log(to / from);
  return (std::pow(to, 1 - zipf) - std::pow(from, 1 - zipf)) / (1 - zipf);
}

}  // namespace

KeySample::KeySample(const Settings& settings) {
  std::vector<double> masses;
  double total = 0;
  for (std::int64_t first = 1; first <= settings.keys; first *= 2) {
    const std::int64_t count = std::min(first, settings.keys + 1 - first);
    masses.push_back(mass_of(first, count, settings.zipf));
    total += masses.back();
  }
  std::int64_t first = 1;
  for (const double mass : masses) {
    strata_.push_back({.rate = settings.requests * mass / total});
    take(settings, first, std::min(first, settings.keys + 1 - first), total);
    rate_ += strata_.back().sampled_rate;
    first *= 2;
  }
  build_aliases();
}

void KeySample::take(const Settings& settings, std::int64_t first, std::int64_t count,
                     double total) {
  Stratum& stratum = strata_.back();
  std::int64_t taken = count;
  if (settings.requests > settings.most_simulated) {
    const double part = settings.sampled_of_stratum / stratum.rate;
    taken = std::clamp<std::int64_t>(std::llround(part * static_cast<double>(count)), 1, count);
  }
  for (std::int64_t i = 0; i < taken; ++i) {
    SampledKey& key = keys_.emplace_back();
    key.rank = first + (2 * i + 1) * count / (2 * taken);
    key.stratum = static_cast<std::uint32_t>(strata_.size() - 1);
    key.rate = settings.requests * std::pow(static_cast<double>(key.rank), -settings.zipf) / total;
    stratum.sampled_rate += key.rate;
  }
}

void KeySample::build_aliases() {
  const std::size_t count = keys_.size();
  parts_.resize(count);
  aliases_.resize(count);
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < count; ++i) {
    parts_[i] = keys_[i].rate / rate_ * static_cast<double>(count);
    aliases_[i] = i;
    (parts_[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t filled = small.back();
    small.pop_back();
    aliases_[filled] = large.back();
    double& rest = parts_[large.back()];
    rest -= 1 - parts_[filled];
    if (rest >= 1) continue;
    small.push_back(large.back());
    large.pop_back();
  }
  for (const std::uint32_t full : small)
    parts_[full] = 1;
}

std::size_t KeySample::pick(Random& random) const {
  const double place = std::generate_canonical<double, 53>(random);
  const double scaled = place * static_cast<double>(keys_.size());
  const std::size_t column = std::min(static_cast<std::size_t>(scaled), keys_.size() - 1);
  return scaled - static_cast<double>(column) < parts_[column] ? column : aliases_[column];
}

}  // namespace weir::simulation
