// Finds the limits of a descriptor.
//
// The rules of files match as those of envoyproxy/ratelimit ("Descriptor list definition" in its
// README): entry by entry, first the exact key and value, then patterns in the order of the file,
// then the key alone; the limit is that of the last entry. The PolicyDescriptor with the most
// exact values, if one matches, applies besides.
//
// Built once for a configuration; afterwards read-only and shared by all workers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/siphash.hpp"
#include "identity/descriptor_key.hpp"
#include "identity/identity.hpp"
#include "limiter/options.hpp"
#include "options/rate_limit_service.hpp"
#include "rls/metadata.hpp"

namespace weir::rls {

/// The kind of identity::key_of_entries() for limits of the configuration. Those that a request
/// states have the number of their unit.
inline constexpr std::uint8_t configured_kind = 0;

/// The limit of a descriptor in a file.
struct FileLimit {
  const options::DescriptorLimit* limit = nullptr;  ///< nullptr: no limit
  const Metadata* metadata = nullptr;               ///< of the limit; nullptr: no limit
  /// Its name in reference_metrics has values of requests: append_hits_name().
  bool names_values = false;
  /// The entries that are counted: as in the request, with the pattern in place of a value that
  /// shares the count of its pattern.
  std::span<const identity::DescriptorEntry> counted{};
};

/// The nodes of a list, by their text.
struct DescriptorLevel {
  struct Pattern {
    std::vector<std::string_view> parts;  ///< around each `*`; two or more
    const DescriptorLevel* level = nullptr;
  };
  const options::DescriptorNode* node = nullptr;  ///< whose children they are; nullptr: a domain
  Metadata metadata{};                            ///< of its limit
  bool names_values = false;                      ///< see FileLimit
  std::unordered_map<std::string_view, std::unique_ptr<DescriptorLevel>> children{};
  std::vector<Pattern> patterns{};  ///< of the children with `*`, in the order of the file
};

struct DomainRules {
  DescriptorLevel root{};
  /// The first that matches applies: those with more exact values are before others.
  std::vector<const options::PolicyDescriptor*> policies{};
};

class DescriptorRules {
 public:
  /// `options` outlives this.
  explicit DescriptorRules(const options::RateLimitService& options);

  const options::RateLimitService& options() const { return options_; }
  /// Returns the rules of a domain; nullptr: there are none.
  const DomainRules* find_domain(std::string_view name) const;

 private:
  const options::RateLimitService& options_;
  std::unordered_map<std::string_view, DomainRules> domains_;
};

/// The descriptor of a file that an entry leads to.
struct EntryMatch {
  enum class By : std::uint8_t { value, pattern, key };
  const DescriptorLevel* level = nullptr;  ///< nullptr: nothing matches
  By by = By::value;

  /// Whether the values that match its pattern have one count.
  bool shares_count() const;
};

/// Memory of a search, used again for the next one.
struct SearchScratch {
  std::string text;
  std::vector<identity::DescriptorEntry> counted;
  std::vector<EntryMatch> matches;
};

/// Returns the limit of a file for this descriptor. Views `entries` and `scratch`.
FileLimit find_limit(const DomainRules& domain, std::span<const identity::DescriptorEntry> entries,
                     SearchScratch& scratch);

/// Appends the name that envoyproxy/ratelimit counts the hits of this limit under: DOMAIN, and for
/// each entry `.KEY_VALUE`. With `detailed_metric` all values are those of the request; otherwise
/// the values where the file has one or `value_to_metric`, and the pattern where it has a pattern
/// without that flag. The pattern is in place of values that share its count, whatever the flags
/// are. (GetLimit in src/config/config_impl.go there.) `entries` are those of a limit.
void append_hits_name(std::string& to, std::string_view domain_name, const DomainRules& domain,
                      std::span<const identity::DescriptorEntry> entries, SearchScratch& scratch);

/// Returns the descriptors of a file that the entries lead to, for people: one for each entry,
/// until nothing matches. find_limit() takes the same way.
std::vector<const options::DescriptorNode*> find_nodes(
    const DomainRules& domain, std::span<const identity::DescriptorEntry> entries);

/// Whether the descriptor has the entries of `wanted` and no others, in any order.
bool matches(const options::PolicyDescriptor& wanted,
             std::span<const identity::DescriptorEntry> entries);

/// Returns the key that a matching descriptor is counted for: with an identity the one that a
/// request with this value has, else that of the entries. A value that no request can have as this
/// identity is counted as an entry. `scratch`: memory for the entries.
Hash128 key_of(const options::PolicyDescriptor& descriptor,
               std::span<const identity::DescriptorEntry> entries,
               const identity::ValueOptions& values, const limiter::Options& limits,
               std::vector<identity::DescriptorEntry>& scratch);

/// True if `value` is the parts of a pattern, with any characters between them. Linear in the
/// length of the value.
bool matches_pattern(std::span<const std::string_view> parts, std::string_view value);

}  // namespace weir::rls
