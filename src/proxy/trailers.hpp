// The trailer fields of a chunked message on their way through: which of them go on, and their
// lines (RFC 9110 section 6.5).
//
// They are never merged into a head. Closed until opened: then every field is dropped, which a
// recipient may always do. Keeps copies, as the head's views are gone when trailers arrive; opened
// only for messages that may have some. Not thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/field_guard.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_view.hpp"

namespace weir::proxy {

class Trailers {
 public:
  struct Rules {
    std::span<const http::FieldView> head;      ///< whose Trailer fields announce
    const http::ConnectionOptions& connection;  ///< what it names ends at this hop
    const http::FieldGuard* guard = nullptr;    ///< of a request: these names are dropped too
    bool only_announced = true;
  };

  /// From now on fields are kept that may stand in a trailer section.
  void open(const Rules& rules);

  /// The value of the Trailer field to send; empty if nothing that goes on was announced.
  std::string_view announced() const { return announced_; }

  void add(const http::FieldView& field);
  /// What goes between the last chunk and the empty line.
  std::string_view lines() const { return lines_; }

 private:
  bool is_refused(const http::FieldView& field) const;

  bool open_ = false;
  bool only_announced_ = true;
  const http::FieldGuard* guard_ = nullptr;
  std::string announced_;
  std::string ends_here_;  ///< a list of the names in Connection
  std::string lines_;
};

/// True if the client wants the trailer fields of the answer (RFC 9110 section 10.1.4).
bool wants_trailers(const http::RequestView& request);

}  // namespace weir::proxy
