// The decision about one call of the rate limit service: descriptors -> limits -> claims -> store
// -> statuses.
//
// Owns everything that the call needs on the way and is used again for the next one. It knows no
// connection, loop or clock. It must not move while the store decides. Belongs to one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/named_hits.hpp"
#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "rls/applied_limits.hpp"
#include "rls/messages.hpp"
#include "store/store.hpp"

namespace weir::rls {

class RateLimitCall {
 public:
  RateLimitCall() = default;
  RateLimitCall(const RateLimitCall&) = delete;
  RateLimitCall& operator=(const RateLimitCall&) = delete;

  /// The request, which is read before prepare().
  Request& request() { return request_; }
  /// Finds the limits of the request. Empty: decide next. `rules` and the text of the request
  /// outlive the call.
  std::optional<InvalidRequest> prepare(const CallRules& rules, Method method,
                                        limiter::Limiter& limiter);

  /// The number of decisions of the store: all claims together, or each by itself.
  std::size_t decisions() const { return decisions_; }
  /// Asks the store. Returns false if it passes its result to `completion` later: then call
  /// conclude() with it.
  bool decide(std::size_t decision, store::Completion& completion, Instant now);
  void conclude(std::size_t decision, const store::Result& result);

  /// Once all is decided: makes the counts those of the response. Negative hits are given back,
  /// unless the call is denied. If it is denied only by a look or by quotas, what the others have
  /// charged is given back. Each limit that has denied several hits is used up: otherwise a client
  /// that reports its hits afterwards would never reach the limit. Returns true if the store passes
  /// a result to `completion`: then await it, and call conclude_rest(). A call whose client does
  /// not wait any more does without this.
  bool settle(store::Completion& completion, Instant now);
  void conclude_rest(const store::Result& result);

  /// Afterwards: the verdict about all limits, which views this object. `now`: for the resets of
  /// limits that deny all.
  const limiter::Verdict& verdict(Instant now);
  /// Writes the statuses, the overall code and the metadata. After verdict(), unless its outcome is
  /// `failed`.
  void answer(Response& to, Instant now) const;

  /// Counts the hits of limits of files: in `names` if the file names them by values of requests,
  /// and the configuration has reference_metrics. After verdict().
  void count_hits(NamedHits& names);

  /// True if an override decides one of the limits. After verdict().
  bool is_overridden() const;
  /// The units that an admitted reserve holds, which the caller settles once. After verdict().
  limiter::HeldUnits& held() { return evaluations_.front()->held; }

 private:
  void place();
  const limiter::Policy& policy_of(const AppliedLimit& applied) const;
  const limiter::Verdict* failure() const;
  bool is_over(const AppliedLimit& applied) const;
  void judge(Instant now);
  void take(AppliedLimit& applied, Instant now) const;
  void give_back(const AppliedLimit& applied, std::int64_t units, bool alone, Instant now) const;
  void give_back_hits(Instant now);
  void give_back_charges(Instant now);
  bool use_up(store::Completion& completion, Instant now);
  const limiter::Terms& terms_of(const AppliedLimit& applied) const;
  const AppliedLimit* denying_quota() const;
  bool is_shown_over(const AppliedLimit& applied) const;

  const CallRules* rules_ = nullptr;
  limiter::Limiter* limiter_ = nullptr;
  Method method_ = Method::decide;
  Request request_;
  AppliedLimits applied_;
  std::vector<limiter::StatedClaim> claims_;                       ///< by evaluation
  std::vector<std::unique_ptr<limiter::Evaluation>> evaluations_;  ///< at least decisions_
  limiter::Evaluation rest_;                                       ///< of use_up()
  std::vector<AppliedLimit*> used_up_;                             ///< by its claims
  std::size_t decisions_ = 0;
  bool is_judged_ = false;  ///< the decisions have been taken out of the evaluations
  bool is_denied_ = false;  ///< then: by a limit, or by the quotas
  std::vector<limiter::LimitVerdict> limits_;
  limiter::Verdict verdict_;
};

}  // namespace weir::rls
