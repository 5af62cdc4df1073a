// The shards of one request, locked: each once and in ascending order of address, so that requests
// that share shards never wait for each other in a circle.
#pragma once

#include <algorithm>

#include <boost/container/static_vector.hpp>

#include "store/claim.hpp"
#include "store/shard.hpp"

namespace weir::store {

class HeldShards {
 public:
  template <class Range>
  HeldShards(const Range& range, Shard* (*shard_of)(const typename Range::value_type&)) {
    for (const auto& element : range)
      shards_.push_back(shard_of(element));
    if (shards_.size() > 1) {
      std::ranges::sort(shards_);
      shards_.erase(std::unique(shards_.begin(), shards_.end()), shards_.end());
    }
    for (Shard* const shard : shards_)
      shard->mutex.lock();
  }
  ~HeldShards() {
    for (Shard* const shard : shards_)
      shard->mutex.unlock();
  }
  HeldShards(const HeldShards&) = delete;
  HeldShards& operator=(const HeldShards&) = delete;

  /// Advances all shards to one instant, which is not before the latest of any, and returns it.
  Instant advance_to(Instant now) {
    for (const Shard* const shard : shards_)
      now = std::max(now, shard->latest());
    for (Shard* const shard : shards_)
      shard->advance_to(now);
    return now;
  }

 private:
  boost::container::static_vector<Shard*, claims_per_request> shards_;
};

}  // namespace weir::store
