// The level of a key as a reply of the remote store shows it, for algorithms whose state does not
// follow from a reply: see store/remembered_state.hpp. Pure values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "rules/decision.hpp"

namespace weir::store {

/// The instants of a question, on the local clock.
struct Exchange {
  Instant sent_at{};
  Instant answered_at{};
};

/// The level of a key whose state the worker cannot compute.
class ObservedLevel {
 public:
  /// A level that may have risen is shown for this long after the question.
  static constexpr Duration refresh_after = std::chrono::milliseconds(250);

  ObservedLevel() = default;
  ObservedLevel(const rules::Decision& decision, Exchange exchange);

  /// Takes over the retry times of `earlier`, unless units have been charged since.
  void inherit(const ObservedLevel& earlier);
  /// Adds the retry time of a denied cost; empty: it never passes.
  void add_denial(std::int64_t cost, std::optional<Duration> retry_after);

  /// Empty: unknown.
  std::optional<rules::Decision> decide(std::int64_t cost, Instant now) const;
  /// The instant until which this cost is denied at least; empty: it passes.
  std::optional<Instant> denied_until(std::int64_t cost) const;

 private:
  /// A denied cost passes from between two instants on; Instant::max(): never.
  struct Denial {
    std::int64_t cost = 0;
    Instant passes_from{};
    Instant passes_by{};
  };

  std::optional<Denial> denial_of(std::int64_t cost) const;
  std::optional<Denial> denial_between(std::int64_t cost) const;

  std::int64_t limit_ = 0;
  std::int64_t remaining_ = 0;
  Duration reset_after_{0};
  Duration more_after_{0};
  Exchange exchange_;
  std::size_t count_ = 0;  ///< of denials_
  std::array<Denial, 3> denials_{};
};

}  // namespace weir::store
