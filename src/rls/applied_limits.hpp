// The limits that apply to the descriptors of a call, before they are decided.
//
// Used again for the next call. Belongs to one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/named_hits.hpp"
#include "grpc/status.hpp"
#include "identity/identity.hpp"
#include "limiter/limiter.hpp"
#include "rls/descriptor_rules.hpp"
#include "rls/messages.hpp"

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
  const identity::ValueOptions& values;
};

/// Why a request cannot be decided. The status is that of the reference, where it refuses, too.
struct InvalidRequest {
  grpc::Status status = grpc::Status::invalid_argument;
  std::string_view reason;
};

/// A limit that applies to a descriptor.
struct AppliedLimit {
  enum class Origin : std::uint8_t { file, request, policy };
  std::size_t descriptor = 0;
  Origin origin = Origin::file;
  const options::DescriptorLimit* limit = nullptr;  ///< of a file; nullptr: other origins
  const Metadata* metadata = nullptr;               ///< likewise
  CurrentLimit current{};
  limiter::StatedClaim claim{};
  std::int64_t hits = 1;      ///< as asked; negative: given back
  bool denies_all = false;    ///< its quota is 0
  bool names_values = false;  ///< its hits are counted by a name with values of the request
  bool is_asked = true;       ///< a store decides; false: the quota of 0 does
  /// A limit that counts denied hits, too, is asked with a quota with so many requests more, if the
  /// claim charges nothing: the store does not report how far a limit has been exceeded. A look has
  /// one more, so that nothing is left only when it has been; a refund has its hits more.
  std::int64_t beyond = 0;
  std::size_t evaluation = 0;  ///< its place there
  std::size_t index = 0;
  rules::Decision decision{};  ///< once decided; as the response shows it
  std::int64_t found = 0;      ///< Decision::remaining of the store
  bool is_decided = false;     ///< false: it does not limit the request

  bool is_quota() const { return limit != nullptr && limit->quota_mode; }
  bool limits() const { return !is_asked || is_decided; }
};

class AppliedLimits {
 public:
  /// Finds the limits of the request. Empty: they are found. `request`, its text, and `rules`
  /// outlive their use.
  std::optional<InvalidRequest> find(const Request& request, const CallRules& rules, Method method,
                                     limiter::Limiter& limiter);

  /// In the order of the descriptors. Their claims point to terms of this object.
  std::span<AppliedLimit> all() { return all_; }
  std::span<const AppliedLimit> all() const { return all_; }
  /// The descriptors with a limit that is unlimited.
  std::span<const std::size_t> unlimited() const { return unlimited_; }
  /// The counters of a limit of a file: those of its name in `names` if that has values of the
  /// request and there is room for it, else those of its policy.
  HitCounters& counters_of(const AppliedLimit& applied, NamedHits& names);

 private:
  // Return the reason if the request is not valid; nullptr: it is.
  const InvalidRequest* add_limits(const DomainRules& domain, std::size_t index);
  const InvalidRequest* add_file_limit(const FileLimit& found, std::size_t index);
  const InvalidRequest* add_stated(const DomainRules& domain, std::size_t index);
  const InvalidRequest* add_policy(const options::PolicyDescriptor& own, std::size_t index);
  const InvalidRequest* add(std::size_t descriptor, AppliedLimit applied);
  const limiter::StatedTerms* stated_terms(const limiter::Policy& policy, std::int64_t count,
                                           options::RateLimitUnit unit);
  void drop_replaced();
  std::int64_t hits_of(const Descriptor& descriptor) const;

  const Request* request_ = nullptr;
  const CallRules* rules_ = nullptr;
  limiter::Limiter* limiter_ = nullptr;
  Method method_ = Method::decide;
  SearchScratch scratch_;
  std::string name_;  ///< of counters_of()
  std::vector<AppliedLimit> all_;
  std::vector<std::size_t> unlimited_;
  std::vector<std::string_view> replaced_;   ///< names of limits that do not apply
  std::deque<limiter::StatedTerms> stated_;  ///< of this call; claims point to them
};

}  // namespace weir::rls
