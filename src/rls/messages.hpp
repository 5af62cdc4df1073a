// The messages of the rate limit service: envoy.service.ratelimit.v3.RateLimitRequest and
// RateLimitResponse (envoy/service/ratelimit/v3/rls.proto,
// envoy/extensions/common/ratelimit/v3/ratelimit.proto).
//
// Plain values, reused from one call to the next. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "http/field_section.hpp"
#include "identity/descriptor_key.hpp"
#include "options/rate_limit_service.hpp"
#include "rls/metadata.hpp"

namespace weir::rls {

// Bounds of a request; one beyond them is INVALID_ARGUMENT.
inline constexpr std::size_t most_message_bytes = 64 * 1024;
inline constexpr std::size_t most_descriptors = 64;
inline constexpr std::size_t most_entries = 64;  ///< of one descriptor

/// The decoded texts of a request that is not written as its views are. Only moved: the views of a
/// copy would be views of the original.
class Texts {
 public:
  Texts() = default;
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  ~Texts() = default;

  /// Removes all texts, and has room for texts of this many bytes together.
  void reset(std::size_t capacity) {
    bytes_.clear();
    bytes_.reserve(capacity);
  }
  /// Returns the copy of `text`, valid until reset(). The room for it has been reserved.
  std::string_view add(std::string_view text) {
    const std::size_t begin = bytes_.size();
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return {bytes_.data() + begin, text.size()};
  }

 private:
  std::vector<char> bytes_;
};

using Entry = identity::DescriptorEntry;

/// A limit that the request states itself, in place of that of the configuration.
struct StatedLimit {
  std::uint32_t requests_per_unit = 0;
  options::RateLimitUnit unit = options::RateLimitUnit::unknown;
  friend bool operator==(const StatedLimit&, const StatedLimit&) = default;
};

struct Descriptor {
  std::size_t first_entry = 0;  ///< index into Request::entries
  std::size_t entry_count = 0;
  std::optional<StatedLimit> limit{};
  std::optional<std::uint64_t> hits_addend{};  ///< 0: looks, and charges nothing
  bool is_negative_hits = false;               ///< gives the hits back
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

struct Request {
  std::string_view domain;
  std::vector<Entry> entries;  ///< of all descriptors
  std::vector<Descriptor> descriptors;
  std::uint32_t hits_addend = 0;  ///< for descriptors without their own; 0 means 1
  Texts texts{};                  ///< what the views refer to, if they are not views of the message

  std::span<const Entry> entries_of(const Descriptor& descriptor) const {
    return std::span(entries).subspan(descriptor.first_entry, descriptor.entry_count);
  }
  void clear() {
    domain = {};
    entries.clear();
    descriptors.clear();
    hits_addend = 0;
  }
};

/// RateLimitResponse.Code.
enum class Code : std::uint8_t { unknown = 0, ok = 1, over_limit = 2 };

struct CurrentLimit {
  std::uint32_t requests_per_unit = 0;
  options::RateLimitUnit unit = options::RateLimitUnit::unknown;
  std::string_view name{};
};

struct DescriptorStatus {
  Code code = Code::ok;
  std::optional<CurrentLimit> current_limit{};
  std::uint32_t limit_remaining = 0;
  std::optional<Duration> duration_until_reset{};
};

struct Response {
  Code overall_code = Code::unknown;
  std::vector<DescriptorStatus> statuses;  ///< one for each descriptor, in the order of the request
  http::FieldSection response_headers_to_add;
  DynamicMetadata dynamic_metadata;

  void clear() {
    overall_code = Code::unknown;
    statuses.clear();
    response_headers_to_add.clear();
    dynamic_metadata.clear();
  }
};

}  // namespace weir::rls
