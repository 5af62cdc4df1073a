// The response fields of a limited route: RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-11), the older RateLimit-* or X-RateLimit-* triple,
// Retry-After and the problem body of a denial.
//
// All functions append to their output and allocate nothing else; times are rounded up to whole
// seconds only here. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "http/field_section.hpp"

namespace weir::http {

enum class LegacyFields : std::uint8_t { ratelimit, x_ratelimit, none };
enum class RetryAfterForm : std::uint8_t { seconds, http_date };

struct ResponseFieldOptions {
  bool standard = true;
  LegacyFields legacy = LegacyFields::ratelimit;
  RetryAfterForm retry_after = RetryAfterForm::seconds;
  Duration retry_after_jitter{0};  ///< at most this is added to Retry-After
  bool partition_key = false;      ///< pk: whose quota it is, as a keyed hash
  friend bool operator==(const ResponseFieldOptions&, const ResponseFieldOptions&) = default;
};

/// One visible policy of the request, as the response fields report it.
struct PolicyReport {
  std::string_view
      policy_item;  ///< the ready serialised `"name";q=20;w=2` (policy_item()), made once at load
  std::string_view name_item;  ///< the ready serialised `"name"`
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  Duration reset_after{0};
  Duration more_after{0};
  /// Other numbers than in `policy_item`: `limit` and this refill; empty: `policy_item` is right.
  std::optional<Duration> refill{};
  Hash128 partition{};  ///< the identity that the quota is counted for
};

/// The part of a limit that is left.
struct Standing {
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  Duration reset_after{0};
};
/// Compares by the part of the limit that is left, the smaller first; equal parts by the reset, the
/// later first.
bool is_closer_to_exhaustion(const Standing& a, const Standing& b);

/// `"name";q=QUOTA;w=SECONDS` (RFC 9651 string and integers). `refill` is rounded up, at least 1 s.
/// 0: `"name";q=QUOTA;qu="concurrent-requests"`.
std::string policy_item(std::string_view name, std::int64_t quota, Duration refill);
/// `"name"` with RFC 9651 section 4.1.6 escapes. The name must be printable ASCII (the loader
/// checks it).
std::string name_item(std::string_view name);

/// Adds the fields for the reports in their order. For a policy with several reports only the one
/// closest to exhaustion is listed. The legacy triple describes the
/// policy closest to exhaustion: least remaining share of its limit, then the latest reset.
void add_rate_limit_fields(FieldSection& to, std::span<const PolicyReport> reports,
                           const ResponseFieldOptions& options);

/// Adds Retry-After. `seconds` is already rounded up and jittered (retry_after_seconds).
void add_retry_after(FieldSection& to, std::int64_t seconds, RetryAfterForm form, Instant now);
/// The instant that add_retry_after() states. A date has no fraction, so it is counted from the
/// next whole second.
Instant retry_instant(std::int64_t seconds, RetryAfterForm form, Instant now);
/// Rounds up and adds jitter: `random` is any uniformly distributed number.
std::int64_t retry_after_seconds(Duration retry_after, Duration jitter, std::uint64_t random);

/// `Sun, 06 Nov 1994 08:49:37 GMT`, 29 characters (RFC 9110 section 5.6.7).
void append_http_date(std::string& out, Instant at);

}  // namespace weir::http
