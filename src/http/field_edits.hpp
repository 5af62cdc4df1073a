// Changes to the fields of a head that is forwarded: fields that are set, added and removed.
//
// Made once when a configuration is loaded; immutable and thread-safe afterwards.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/field_section.hpp"

namespace weir::http {

class FieldEdits {
 public:
  /// Names and values.
  using Fields = std::vector<std::pair<std::string, std::string>>;

  FieldEdits() = default;
  /// `set` replaces the fields of the same name, `add` is sent beside them, `remove` lists names.
  FieldEdits(const Fields& set, const Fields& add, const std::vector<std::string>& remove);

  bool is_empty() const { return taken_out_.empty() && added_.empty(); }
  /// True for a received field that is not forwarded, because it is set or removed.
  bool takes_out(std::string_view name) const;
  /// The names of these fields.
  const std::vector<std::string>& taken_out() const { return taken_out_; }
  /// The fields that are set or added, in their order.
  const FieldSection& added() const { return added_; }
  /// True if a field of this name is set or added.
  bool writes(std::string_view name) const { return added_.contains(name); }
  /// True if an answer that Weir generates has the added field at `index`: the answer has no field
  /// of its own with this name, which are Content-Type, Content-Length, Date, and those in `own`.
  /// An error response has none about caching and content, because they are about another body.
  bool adds_to_answer(std::size_t index, const FieldSection& own, bool is_error) const;

  friend bool operator==(const FieldEdits&, const FieldEdits&) = default;

 private:
  std::vector<std::string> taken_out_;
  FieldSection added_;
  std::vector<bool> is_about_content_;  ///< of each field in added_
};

}  // namespace weir::http
