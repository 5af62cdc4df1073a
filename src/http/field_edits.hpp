// Changes to the fields of a head that is forwarded: fields that are set, added and removed.
//
// Made once when a configuration is loaded; immutable and thread-safe afterwards. The lines that
// are added are ready to be copied.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/appender.hpp"

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
  /// The names of the fields that are set or added, in their order.
  std::vector<std::string> written() const;
  /// True if a field of this name is set or added.
  bool writes(std::string_view name) const;

  /// The lines of the fields that are set and added.
  std::string_view lines() const { return lines_; }
  /// Appends these lines to the head of an answer that Weir generates, except fields that the
  /// answer has itself: Content-Type, Content-Length and Date, and those in `own`, field lines. In
  /// an error response, fields about caching and content are left out, because they are about
  /// another body.
  void append_to_answer(Appender& out, std::string_view own, bool is_error) const;

  friend bool operator==(const FieldEdits&, const FieldEdits&) = default;

 private:
  /// A field that is set or added.
  struct Line {
    std::string name;
    std::string text;  ///< with its CRLF
    bool is_about_content = false;
    friend bool operator==(const Line&, const Line&) = default;
  };

  std::vector<std::string> taken_out_;
  std::vector<Line> added_;
  std::string lines_;
};

/// True if `lines`, field lines that each end in CRLF, contain a field of this name.
bool has_field_line(std::string_view lines, std::string_view name);

}  // namespace weir::http
