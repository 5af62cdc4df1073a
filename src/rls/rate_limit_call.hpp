// The decision about one call of the rate limit service: descriptors -> limits -> claims -> store
// -> statuses.
//
// Owns everything that the call needs on the way and is used again for the next one. It knows no
// connection, loop or clock. It must not move while the store decides. Belongs to one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "grpc/status.hpp"
#include "identity/identity.hpp"
#include "limiter/limiter.hpp"
#include "rls/descriptor_rules.hpp"
#include "rls/messages.hpp"
#include "store/store.hpp"

namespace weir::rls {

/// The effect of a call on the limits.
enum class Method : std::uint8_t {
  decide,   ///< ShouldRateLimit: charges the hits that it admits
  check,    ///< CheckRateLimit of Kuadrant: whether the hits would pass; charges nothing
  reserve,  ///< Reserve of Kuadrant: holds the hits that it admits, all or none
  report,   ///< Report of Kuadrant: charges the hits; those that do not fit use up the limit
};

/// The configuration that a call is decided under.
struct CallRules {
  const DescriptorRules& descriptors;
  const limiter::Options& limits;
  const identity::ValueSettings& values;
};

/// Why a request cannot be decided. The status is that of the reference, where it refuses, too.
struct InvalidRequest {
  grpc::Status status = grpc::Status::invalid_argument;
  std::string_view reason;
};

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

  /// Once all is decided: the verdict about all limits, which views this object. `now`: for the
  /// resets of limits that deny all.
  const limiter::Verdict& verdict(Instant now);
  /// Writes the statuses, the overall code and the metadata. After verdict(), unless its outcome is
  /// `failed`.
  void answer(Response& to, Instant now) const;

  /// Counts the hits of limits of files. After verdict().
  void count_hits() const;

  /// The units that an admitted reserve holds, which the caller settles once. After verdict().
  limiter::HeldUnits& held() { return evaluations_.front()->held; }

  /// Gives negative hits back, unless the call is denied. After verdict().
  void give_back(Instant now) const;
  /// Takes the rest of each limit that has denied several hits. Otherwise a client that reports its
  /// hits afterwards would never reach the limit. Returns false if there is nothing to do, or the
  /// store is done at once; else it passes a result to `completion`, which the caller awaits.
  bool use_up(store::Completion& completion, Instant now);

 private:
  enum class Origin : std::uint8_t { file, request, policy };
  /// A limit that applies to a descriptor.
  struct Applied {
    std::size_t descriptor = 0;
    Origin origin = Origin::file;
    const options::DescriptorLimit* limit = nullptr;  ///< of a file; nullptr: other origins
    const Metadata* metadata = nullptr;               ///< likewise
    CurrentLimit current{};
    limiter::StatedClaim claim{};
    std::int64_t hits = 1;    ///< as asked; negative: given back
    bool denies_all = false;  ///< its quota is 0
    bool is_asked = true;     ///< a store decides; false: the quota of 0 does
    /// A look at a limit that counts denied hits, too: the claim has a quota with one request more,
    /// so that nothing is left of it only when the limit has been exceeded.
    bool looks_beyond = false;
    std::size_t evaluation = 0;  ///< its place there
    std::size_t index = 0;
    rules::Decision decision{};  ///< once decided
    bool is_decided = false;     ///< false: it does not limit the request

    bool is_quota() const { return limit != nullptr && limit->quota_mode; }
  };

  // Return the reason if the request is not valid; nullptr: it is.
  const InvalidRequest* add_limits(const DomainRules& domain, std::size_t descriptor);
  const InvalidRequest* add_file_limit(const FileLimit& found, std::size_t index);
  const InvalidRequest* add_stated(const DomainRules& domain, std::size_t index);
  const InvalidRequest* add_policy(const options::PolicyDescriptor& own, std::size_t index);
  const InvalidRequest* add(std::size_t descriptor, Applied applied);
  const limiter::StatedTerms* stated_terms(const limiter::Policy& policy, std::int64_t count,
                                           options::RateLimitUnit unit);
  void drop_replaced();
  void place();
  bool is_over(const Applied& applied) const;
  bool take(Applied& applied, Instant now) const;
  const limiter::Terms& terms_of(const Applied& applied) const;
  void deny_by_quotas();
  bool is_shown_over(const Applied& applied) const;
  std::int64_t hits_of(const Descriptor& descriptor) const;

  const CallRules* rules_ = nullptr;
  limiter::Limiter* limiter_ = nullptr;
  Method method_ = Method::decide;
  Request request_;
  SearchScratch scratch_;
  std::vector<Applied> applied_;
  std::vector<std::size_t> unlimited_;        ///< descriptors with a limit that is unlimited
  std::vector<std::string_view> replaced_;    ///< names of limits that do not apply
  std::deque<limiter::StatedTerms> stated_;   ///< of this call; claims point to them
  std::vector<limiter::StatedClaim> claims_;  ///< by evaluation
  std::vector<std::unique_ptr<limiter::Evaluation>> evaluations_;  ///< at least decisions_
  limiter::Evaluation rest_;                                       ///< of use_up()
  std::size_t decisions_ = 0;
  std::vector<limiter::LimitVerdict> limits_;
  limiter::Verdict verdict_;
};

}  // namespace weir::rls
