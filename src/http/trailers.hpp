// The trailer fields of a message that are forwarded (RFC 9110 section 6.5): selects and keeps
// them.
//
// They are never merged into a head. Until open() is called every field is dropped, which a
// recipient may always do. Copies are kept, because the views of the head are invalid when trailers
// arrive; open() is called only for messages that may have trailers. Not thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/field_edits.hpp"
#include "http/field_guard.hpp"
#include "http/field_section.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_view.hpp"

namespace weir::http {

class Trailers {
 public:
  struct Rules {
    std::span<const FieldView> head;      ///< its Trailer fields announce the trailers
    const ConnectionOptions& connection;  ///< the fields it names end at this hop
    const FieldGuard* guard = nullptr;    ///< of a request: drops these names too
    bool only_announced = true;
    const FieldEdits* edits = nullptr;  ///< drops the names that are set or removed
  };

  /// From now on keeps the fields that are allowed in a trailer section.
  void open(const Rules& rules);

  /// The value of the Trailer field to send; empty if no field to forward was announced.
  std::string_view announced() const { return announced_; }

  void add(const FieldView& field);
  /// The fields to forward that have arrived.
  const FieldSection& fields() const { return fields_; }

 private:
  bool is_refused(const FieldView& field) const;

  bool open_ = false;
  bool only_announced_ = true;
  const FieldGuard* guard_ = nullptr;
  const FieldEdits* edits_ = nullptr;
  std::string announced_;
  std::string ends_here_;  ///< a list of the names in Connection
  FieldSection fields_;
};

/// True if the client wants the trailer fields of the answer (RFC 9110 section 10.1.4).
bool wants_trailers(const RequestView& request);

}  // namespace weir::http
