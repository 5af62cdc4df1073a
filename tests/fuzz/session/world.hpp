// A proxy of one worker, its client, its upstreams and its time. The fuzz target moves all of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "loop/descriptor_budget.hpp"
#include "network.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/context.hpp"
#include "script.hpp"
#include "store/memory_store.hpp"

namespace weir::fuzz {

class World {
 public:
  explicit World(const Setup& setup);

  void perform(const Step& step);
  /// Advances the time until the connection has ended, and judges everything that was sent.
  void finish();

 private:
  struct Prepared;
  static const Prepared& prepared(std::size_t configuration);
  std::unique_ptr<proxy::Generation> make_generation();
  void start_connection();
  void reload(std::size_t configuration);
  void close_listener();
  void perform_upstream(const Step& step);
  void answer(std::size_t body_size);
  void settle();
  void tick();
  void check_memory() const;
  std::size_t ticks_to_end() const;
  std::size_t filler(const Step& step);
  End* upstream() const;

  Setup setup_;
  const Prepared* prepared_;  ///< of the running configuration
  std::size_t memory_before_;
  asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  store::MemoryStore store_;
  TrafficCounters counters_;
  MonotonicClock clock_;
  std::atomic<std::size_t> open_connections_{0};
  std::atomic<std::size_t> open_refusals_{0};
  loop::DescriptorBudget descriptors_;
  proxy::AddressConnections address_connections_{{.key = {.k0 = 1, .k1 = 2}}};
  proxy::HoldDirectory hold_directory_{{.k0 = 1, .k1 = 2}};
  proxy::ListenerConnections connections_;
  std::uint64_t generations_ = 0;
  int most_retries_ = 0;  ///< of all configurations that ran
  std::unique_ptr<proxy::Context> context_;
  std::unique_ptr<End> client_;
  std::size_t chosen_upstream_ = SIZE_MAX;  ///< none: the last one
  std::size_t ticks_ = 0;
  std::size_t filled_ = 0;
  bool was_aborted_ = false;
  bool has_false_marks_ = false;
};

}  // namespace weir::fuzz
