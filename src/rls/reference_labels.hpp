// The labels of limits in the metrics of envoyproxy/ratelimit. Pure; thread-safe.
//
// Its exporter splits the name of a limit, `DOMAIN.KEY_VALUE.KEY_VALUE`, at every dot, also those
// in values, and leaves out all parts after the third one; before that `:`, `|` and the dots of
// IPv4 addresses become `_` (src/utils/utilities.go and src/stats/prom/default_mapper.yaml there).
#pragma once

#include <string>

namespace weir::rls {

/// The labels of a limit.
struct ReferenceLabels {
  std::string domain, key1, key2;
  friend auto operator<=>(const ReferenceLabels&, const ReferenceLabels&) = default;
};

ReferenceLabels reference_labels(std::string name);

/// Makes all names with the same labels equal; the labels stay the same.
void shorten_to_labels(std::string& name);

}  // namespace weir::rls
