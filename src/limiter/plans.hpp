// Plans: named sets of numbers that replace those of policies, and the sources of a request's plan.
//
// Immutable once loaded, except that the table of a file is replaced as a whole; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/replaceable.hpp"
#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/plan_table.hpp"

namespace weir::limiter {

/// The largest number of plans; the loader refuses more.
inline constexpr std::size_t plan_limit = 1000;

/// The value of a field, which counts only from a trusted proxy.
struct PlanFromHeader {
  std::string name;  ///< in lower case
  friend bool operator==(const PlanFromHeader&, const PlanFromHeader&) = default;
};

/// The value of a claim of a verified token.
struct PlanFromClaim {
  identity::Source source;  ///< identity::FromClaim
  friend bool operator==(const PlanFromClaim&, const PlanFromClaim&) = default;
};

/// The plan that a file lists for an identity of the request.
struct PlanFromFile {
  std::size_t identity = 0;  ///< index into Options::identities
  std::string shown;         ///< the file's name for people
  Replaceable<PlanTable> table{PlanTable()};
};

struct PlanSource {
  std::variant<PlanFromHeader, PlanFromClaim, PlanFromFile> from;
};

/// Describes a source for logs and `weir explain`: `header x-plan`, `claim plan of idp`,
/// `file plans.tsv`.
std::string describe(const PlanSource& source);

struct Plans {
  std::vector<std::string> names;   ///< by plan
  std::vector<PlanSource> sources;  ///< in the order in which they are tried
  std::optional<std::size_t> default_plan{};

  /// Ready for find(): `names` are complete.
  void index_names();
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::vector<std::uint16_t> by_name_;  ///< plans in the order of their names
};

/// The outcome of looking for the plan of a request.
struct PlanReading {
  enum class State : std::uint8_t { none, found, ambiguous };
  State state = State::none;
  std::size_t plan = 0;                 ///< found
  std::optional<std::size_t> source{};  ///< the source that names a plan; none: the default counts
  bool is_unknown = false;              ///< that source names no plan of the configuration
  /// The token that the source reads is invalid, so the default counts and the request is refused.
  std::optional<identity::TokenFault> token_fault{};
  std::string_view unknown_name{};  ///< its name, if the source is not a file
  identity::Ambiguity ambiguity{};  ///< ambiguous: of the identity of a file, or of a token

  std::optional<std::size_t> found() const {
    return state == State::found ? std::optional(plan) : std::nullopt;
  }
};

/// Finds the plan of a request: of the first source that names one; the default if that name is
/// unknown, or if no source names one. `resolve(index)` returns the Resolution of an identity; it
/// is called for sources with a file only. Without an identity such a source names no plan.
template <class Resolve>
PlanReading read_plan(const Plans& plans, const identity::Evidence& evidence,
                      identity::TokenReadings& tokens, Resolve&& resolve);

/// As read_plan(), for one source. Empty: it names no plan.
std::optional<PlanReading> read_header(const Plans& plans, const PlanFromHeader& from,
                                       const identity::Evidence& evidence);
std::optional<PlanReading> read_claim(const Plans& plans, const PlanFromClaim& from,
                                      const identity::Evidence& evidence,
                                      identity::TokenReadings& tokens);
std::optional<PlanReading> read_file(const PlanFromFile& from,
                                     const identity::Resolution& identity);
/// Returns the plan of an identity whose request nobody has seen: that of the first file for it,
/// else the default.
std::optional<std::size_t> plan_of(const Plans& plans, std::size_t identity, const Hash128& key);
/// The plan without a source that counts.
PlanReading default_reading(const Plans& plans);

template <class Resolve>
PlanReading read_plan(const Plans& plans, const identity::Evidence& evidence,
                      identity::TokenReadings& tokens, Resolve&& resolve) {
  PlanReading fallback = default_reading(plans);
  for (std::size_t i = 0; i < plans.sources.size(); ++i) {
    const auto* const header = std::get_if<PlanFromHeader>(&plans.sources[i].from);
    const auto* const claim = std::get_if<PlanFromClaim>(&plans.sources[i].from);
    const auto* const file = std::get_if<PlanFromFile>(&plans.sources[i].from);
    std::optional<PlanReading> reading = header != nullptr ? read_header(plans, *header, evidence)
                                         : claim != nullptr
                                             ? read_claim(plans, *claim, evidence, tokens)
                                             : read_file(*file, resolve(file->identity));
    if (!reading) continue;
    reading->source = i;
    if (!reading->is_unknown && !reading->token_fault) return *reading;
    fallback.source = i;
    fallback.is_unknown = reading->is_unknown;
    fallback.token_fault = reading->token_fault;
    fallback.unknown_name = reading->unknown_name;
    break;
  }
  return fallback;
}

}  // namespace weir::limiter
