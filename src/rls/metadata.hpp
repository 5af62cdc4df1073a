// The dynamic metadata of a response: a JSON object with the policy that denied, and the metadata
// of limits that did not. Pure; belongs to one thread.
#pragma once

#include <string>
#include <string_view>

#include "json/read.hpp"

namespace weir::rls {

class MetadataBuilder {
 public:
  void set_policy(std::string_view name) { policy_ = name; }
  /// Adds the metadata of a limit, a JSON object or an empty text. Objects of the same name are
  /// merged; of other values the first one counts.
  void merge(std::string_view metadata);
  /// Appends the object; nothing if it has no member.
  void append(std::string& out) const;

 private:
  std::string_view policy_;
  std::string_view first_;  ///< while there is only one
  json::Value merged_;      ///< of several
};

}  // namespace weir::rls
