// A link of the chain, for a store whose keys are divided: the claims of one request in different
// divisions are held in parallel, each division by itself, and settled when all have answered.
//
// All or nothing: if every division admits the request, the holds are settled with their cost, else
// with 0 (claims with count_rejected are charged even then, as by one store). The result is known
// after one round trip to the slowest division; the settlements follow it. Until they arrive, the
// units of a request that is denied are not available to others: at most its cost, for about one
// more round trip. Holds never let more pass than the definition (docs/algorithms.md), so neither
// does this.
//
// A request whose claims are in one division is passed on as it is. Every instance must decide the
// policies beside holds. Belongs to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "store/link.hpp"
#include "store/reused.hpp"
#include "store/store.hpp"

namespace weir::store {

/// How the keys of a store are divided. Identities of different divisions cannot be decided in one
/// call.
class Divisions {
 public:
  virtual std::uint32_t division_of(const Hash128& identity) const = 0;

 protected:
  ~Divisions() = default;
};

class SplitRequests final : public Link {
 public:
  SplitRequests(Store& next, const Divisions& divisions) : Link(next), divisions_(divisions) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override;
  using Link::settle;

 private:
  struct Split;
  /// The claims of one division.
  struct Part final : Completion {
    void complete(const Result& its_result, Instant now) noexcept override {
      result = its_result;
      split->link.on_part(*split, now);
    }
    Split* split = nullptr;
    Acquisition acquisition;
    Result result;
  };
  /// A request in parts.
  struct Split {
    explicit Split(SplitRequests& its_link) : link(its_link) {}

    SplitRequests& link;
    Acquisition* acquisition = nullptr;  ///< the request
    Completion* caller = nullptr;
    bool is_peek = false;
    // The claims of the request, those of a part side by side.
    std::array<Claim, claims_per_request> claims;
    std::array<rules::Decision, claims_per_request> decisions;
    std::array<std::size_t, claims_per_request> positions{};  ///< in the request
    std::array<Part, claims_per_request> parts;
    std::size_t size = 0;     ///< parts
    std::size_t waiting = 0;  ///< parts without a result
  };

  bool is_divided(std::span<const Claim> claims) const;
  std::optional<Result> divide(Acquisition& acquisition, Completion& completion, bool is_peek,
                               Instant now);
  void fill(Split& split) const;
  void send(Split& split, Instant now) noexcept;
  void on_part(Split& split, Instant now) noexcept;
  Result join(Split& split, Instant now);
  void settle(Split& split, const Result& result, Instant now);

  const Divisions& divisions_;
  Reused<Split> splits_;
};

}  // namespace weir::store
