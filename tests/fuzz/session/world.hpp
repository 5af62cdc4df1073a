// A proxy of one worker and one client, its upstreams and its time, all moved by the fuzz target.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/clock.hpp"
#include "config/config.hpp"
#include "limiter/limiter.hpp"
#include "network.hpp"
#include "proxy/context.hpp"
#include "proxy/descriptor_budget.hpp"
#include "script.hpp"
#include "store/memory_store.hpp"

namespace weir::fuzz {

class World {
 public:
  explicit World(const Setup& setup);

  void perform(const Step& step);
  /// Time passes until the session has ended; then everything is looked at.
  void finish();

 private:
  void start_session();
  void perform_upstream(const Step& step);
  void answer(std::size_t body_size);
  void settle();
  void tick();
  void check_memory() const;
  std::size_t ticks_to_end() const;
  std::size_t filler(const Step& step);
  End* upstream() const;

  Setup setup_;
  const config::Config& config_;
  std::size_t memory_before_;
  proxy::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  store::MemoryStore store_;
  limiter::Limiter limiter_;
  TrafficCounters counters_;
  MonotonicClock clock_;
  std::atomic<std::size_t> open_connections_{0};
  std::atomic<std::size_t> open_refusals_{0};
  proxy::DescriptorBudget descriptors_;
  std::unique_ptr<proxy::Context> context_;
  std::unique_ptr<End> client_;
  std::size_t chosen_upstream_ = SIZE_MAX;  ///< none: the last one
  std::size_t ticks_ = 0;
  std::size_t filled_ = 0;
  bool was_aborted_ = false;
  bool has_false_marks_ = false;
};

}  // namespace weir::fuzz
