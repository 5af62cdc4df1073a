// An instance of Weir without connections, in the time of its caller: decides requests with the
// routes, identities, limits and the memory store of a configuration, and settles what they hold
// when they end.
//
// The caller is the clients, the services and the clock: it passes requests in the order of their
// arrival, and takes the events before each of them. Nothing is read, sent or waited for. A request
// allocates nothing in the steady state, and no text is made. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/time.hpp"
#include "decision/request_rules.hpp"
#include "decision/stated_reserves.hpp"
#include "decision/usage_meter.hpp"
#include "http/request_view.hpp"
#include "limiter/charge.hpp"
#include "limiter/limiter.hpp"
#include "limiter/options.hpp"
#include "limiter/slot_queue.hpp"
#include "limiter/trace.hpp"
#include "offline/request.hpp"
#include "options/proxy.hpp"
#include "store/memory_store.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::offline {

/// A request as its peer sends it. The views are used during the call only.
struct Arrival {
  std::string_view head;    ///< with its empty line
  std::string_view body{};  ///< read only if a limit reserves what it states
  IpAddress peer{};
  std::uint64_t label = 0;       ///< the caller's number of the request
  bool peer_is_trusted = false;  ///< whatever the configuration has
  /// When it asks again or gives up if it waits for a slot, in order, if the caller has seen it: a
  /// worker is a little late. A step that is due up to `latest_step` before one of these happens
  /// then; others happen when they are due.
  std::span<const Instant> steps{};
  Duration latest_step{0};
};

/// The cost that a response has stated for the limits of a policy.
struct StatedCost {
  std::string policy{};  ///< its name
  usage::Usage usage{};
};

/// How a request ends. The views are used during the call only.
struct Ending {
  limiter::RequestEnd how{};
  /// The fields of the response, if it has a status.
  std::span<const http::FieldView> fields{};
  std::string_view body{};
  bool is_whole = true;  ///< false: the response was cut off after `body`
  /// Costs that were read from the response before, in place of its fields and its body.
  std::optional<std::span<const StatedCost>> stated{};
};

class Instance {
 public:
  /// The options outlive the instance.
  Instance(const options::Proxy& proxy, const limiter::Options& limits,
           const store::MemoryStoreOptions& store);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Receives a request, and decides it unless it is refused or waits for a slot. `now` is not
  /// before that of an earlier call: first take all events before it from next(), and those of the
  /// same instant if they come first. `trace`: as for limiter::ClaimMaker::make(). The request is
  /// valid until it has ended and the next one arrives.
  Request& receive(const Arrival& arrival, Instant now, limiter::Trace* trace = nullptr);

  struct Event {
    enum class Kind : std::uint8_t {
      ends,     ///< it is the instant of end_at()
      decided,  ///< the request has waited for a slot, and has its verdict
    };
    Kind kind = Kind::decided;
    Request* request = nullptr;
    Instant at{};
  };
  /// Returns the next event until this instant, included. At the same instant requests end before
  /// others ask for their slots, but after those whose step the caller has stated.
  std::optional<Event> next(Instant until);

  /// Makes an event of this request at `at`, in place of an earlier one.
  void end_at(Request& request, Instant at);
  /// Gives up the place of a request that waits for a slot: it is denied.
  void give_up(Request& request, Instant now);
  /// Ends a request, whatever its verdict: settles its units. Its settlements, if it holds_units(),
  /// have what was charged. To be called once.
  void end(Request& request, const Ending& ending, Instant now);

  limiter::Limiter& limiter() { return limiter_; }
  store::MemoryStore& store() { return store_; }
  const decision::RequestRules& rules() const { return rules_; }
  /// Requests that have not ended.
  std::size_t in_progress() const { return requests_.size() - free_.size(); }

 private:
  /// The memory store decides at once.
  struct NoCompletion final : store::Completion {
    void complete(const store::Result&, Instant) noexcept override {}
  };
  struct Due {
    Instant at{};
    Event::Kind kind = Event::Kind::ends;
    bool is_stated = false;  ///< a step
    std::uint64_t number = 0;
    Request* request = nullptr;
    /// True if it comes after the other.
    bool operator<(const Due& other) const;
  };

  Request& take();
  void decide(Request& request, std::string_view body, Instant now, limiter::Trace* trace);
  void schedule(Request& request, Instant due);
  bool resume(Request& request, Instant now);
  bool carry_out(Request& request, decision::SlotWaitMachine::Step step, Instant now);
  void settle(Request& request, const Ending& ending, Instant now);

  const decision::RequestRules rules_;
  store::MemoryStore store_;
  limiter::SlotQueue queue_;
  limiter::Limiter limiter_;
  NoCompletion nobody_;
  decision::StatedReserves reserves_;
  decision::UsageMeter meter_;
  std::priority_queue<Due> due_;
  std::uint64_t numbers_ = 0;  ///< of events, in their order
  Instant now_{};              ///< of the last event
  std::vector<Request*> called_;
  std::vector<std::unique_ptr<Request, Request::Delete>> requests_;  ///< destroyed first
  std::vector<Request*> free_;
};

}  // namespace weir::offline
