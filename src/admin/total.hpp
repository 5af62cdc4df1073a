// Sums over the workers, each of which has counters of its own.
#pragma once

#include <vector>

namespace weir::admin {

/// Adds up one counter of every worker.
template <class Worker, class Value>
auto total(const std::vector<Worker>& workers, Value&& value) {
  decltype(value(workers.front())) sum = 0;
  for (const auto& worker : workers)
    sum += value(worker);
  return sum;
}

}  // namespace weir::admin
