// Decides the requests of all workers in shadow, on a thread of its own: under the running
// configuration and under a candidate, each with a store that starts empty.
//
// A worker only copies its requests and calls of its rate limit service; from begin() on the thread
// takes the copies every 10 ms. It ends when the candidate is judged. The functions may be called
// from any thread; the destructor ends the thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "admin/shadow_reload.hpp"
#include "app/source.hpp"
#include "base/clock.hpp"
#include "decision/traffic_copy.hpp"
#include "offline/comparison.hpp"
#include "offline/reload_guard.hpp"

namespace weir::app {

/// One for each worker.
using TrafficCopies = std::vector<std::shared_ptr<decision::TrafficCopy>>;

class ShadowRun {
 public:
  static constexpr std::chrono::milliseconds interval{10};
  /// The size of each of the two stores, unless the candidate's memory store has fewer.
  static constexpr std::size_t most_keys = 250'000;

  /// `problem`: why the candidate could not be judged; empty: it was.
  using Judged = std::function<void(offline::Judgement, std::string problem)>;
  struct Dependencies {
    const MonotonicClock& clock;
    admin::ShadowReload& shown;  ///< gets the state at begin() and at each step
    Judged judged;               ///< called once, on the thread, unless the run is destroyed before
  };
  struct Candidate {
    std::shared_ptr<const config::Config> running;
    LoadedConfig loaded;
  };
  /// Creates the thread, which waits for begin(). Throws if it cannot be created.
  ShadowRun(Dependencies dependencies, Candidate candidate, const offline::ReloadGuard& guard,
            TrafficCopies copies, std::uint64_t seed);
  ~ShadowRun();
  ShadowRun(const ShadowRun&) = delete;
  ShadowRun& operator=(const ShadowRun&) = delete;

  /// Shows the state, and lets the thread decide. Called once.
  void begin();
  const LoadedConfig& candidate() const { return candidate_.loaded; }
  std::vector<offline::FlippedKey> top_keys(std::size_t most) const;
  /// Drops `content`, which the running configuration no longer uses, when no look-up is in
  /// progress.
  void drop_unread(std::shared_ptr<const void> content);

 private:
  void run();
  bool wait();
  offline::Judgement step();
  void decide(const decision::CopiedTraffic& traffic, const decision::CopiedEvent& event);
  void show();

  Dependencies with_;
  const Candidate candidate_;
  const offline::ReloadGuard guard_;
  const TrafficCopies copies_;
  // Used by the thread only:
  std::vector<decision::CopiedTraffic> taken_;  ///< by worker
  offline::ComparisonCounts counted_;           ///< in the totals
  std::uint64_t skipped_ = 0;

  mutable std::mutex comparison_mutex_;
  offline::Comparison comparison_;
  std::mutex mutex_;
  std::condition_variable changed_;  ///< one of these two:
  bool has_begun_ = false;
  bool is_stopped_ = false;
  std::vector<std::shared_ptr<const void>> unread_;
  std::thread thread_;  ///< started last
};

}  // namespace weir::app
