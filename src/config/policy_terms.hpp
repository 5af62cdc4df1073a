// The numbers of a policy, as the policy itself or a plan writes them: rate, rates, burst, limit,
// queue and max_delay. rules::compile() checks them; these functions add positions to its faults.
#pragma once

#include "config/config.hpp"
#include "config/cursor.hpp"

namespace weir::config {

void read_rate(const Cursor& in, rules::Definition& to);
void read_rates(const Cursor& in, rules::Definition& to);
void read_burst(const Cursor& in, rules::Definition& to);
void read_limit(const Cursor& in, rules::Definition& to);
void read_queue(const Cursor& in, rules::Definition& to);
void read_max_delay(const Cursor& in, rules::Definition& to);

/// Reports `rate` and `rates` in one map.
bool has_both_rates(const Cursor& in);

/// The policy that a definition is for.
struct TermsFor {
  const Config& config;
  const limiter::Policy& policy;  ///< its name and on_failure
  bool hides_numbers = false;     ///< a number comes from a variable, so messages show none
};

/// Computes the terms of `definition`, or reports every fault at its key in the map `in`, or at the
/// map if the key is elsewhere. Without rates does nothing: that has been reported.
void compile_terms(const Cursor& in, const TermsFor& about, const rules::Definition& definition,
                   limiter::Terms& to);

}  // namespace weir::config
