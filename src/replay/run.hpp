// Decides the requests of a log with one configuration, on the log's own time.
//
// A request whose end is not in the log ends at the instant when it may pass. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "http/request_view.hpp"
#include "limiter/options.hpp"
#include "limiter/trace.hpp"
#include "offline/instance.hpp"
#include "options/proxy.hpp"
#include "replay/arrival.hpp"
#include "replay/flips.hpp"
#include "replay/key_use.hpp"
#include "replay/rate_study.hpp"
#include "replay/report.hpp"
#include "store/memory_store.hpp"

namespace weir::replay {

class Run {
 public:
  struct Options {
    std::optional<std::int64_t> max_denied{};  ///< for suggestions: the share that may be denied
    /// To compare with; nullptr: none. Its limits have a SharedSecret.
    const offline::Comparison::Configuration* other = nullptr;
  };
  /// The configurations outlive this.
  Run(const options::Proxy& proxy, const limiter::Options& limits,
      const store::MemoryStoreOptions& store, const Options& options);

  /// Decides a request; in the order of time. One that is earlier than another before it is decided
  /// at the instant of that one, and counted as late.
  void receive(const Arrival& arrival);
  /// As receive(), for one that may have a wrong time in the future.
  void receive_ahead(const Arrival& arrival);
  /// Ends the requests in progress. No other is received then.
  void finish();

  /// All but the lines, with this many keys.
  Report report(std::size_t most_keys) const;

 private:
  /// A request that has not ended.
  struct InProgress {
    limiter::RequestEnd how{};
    std::optional<Instant> ends_at{};
    bool is_own = false;
    Arrival::Logged logged{};
    std::string_view file{};
    std::uint64_t line = 0;
  };

  void take_events(Instant until);
  void decided(offline::Request& request, Instant now);
  void end(offline::Request& request, Instant now);
  void count(const offline::Request& request);
  void count_at(Instant at, bool is_denied);
  void compare(const offline::Request& request);
  void count_absent();
  void study(offline::Request& request, const Arrival& arrival);
  std::uint64_t take_label();

  const limiter::Options& limits_;
  const options::Proxy& proxy_;
  offline::Instance instance_;
  KeyUse use_;
  Report totals_;
  Instant now_{};
  bool has_begun_ = false;
  RateStudy study_;
  std::optional<std::int64_t> max_denied_;
  std::optional<Flips> flips_;
  bool is_ahead_ = false;  ///< the request that is being received may have a wrong time
  limiter::Trace trace_;
  std::vector<std::uint64_t> absent_;    ///< by identity
  std::vector<InProgress> in_progress_;  ///< by label
  std::vector<std::uint64_t> free_;      ///< labels
  std::vector<http::FieldView> fields_;  ///< of the response that ends
};

}  // namespace weir::replay
