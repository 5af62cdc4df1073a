// Reads what the response of an upstream states about its cost while it is relayed, for the limits
// of the request with `cost_from`. The response is neither changed nor delayed.
//
// Pure. Belongs to one request and is reused; not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "http/field_section.hpp"
#include "http/head_parser.hpp"
#include "limiter/held_units.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::decision {

class UsageMeter {
 public:
  /// Prepares for the response to a request that holds these units. True: there is something to
  /// read.
  bool prepare(const limiter::HeldUnits& held);
  void clear() { readings_.clear(); }

  /// True if the upstream has to be asked for a body without content coding.
  bool reads_body() const;
  /// True if a trailer field may state the cost.
  bool reads_fields() const;

  /// Begins the final response.
  void begin(std::span<const http::FieldView> fields);
  void feed(std::string_view piece) {
    for (Reading& one : readings_)
      if (one.needs_body) one.scanner.feed(piece);
  }
  /// Ends a complete response.
  void end(const http::FieldSection& trailers);
  /// Adds the results to the holds. A response that has begun and not ended was cut off.
  void settle(limiter::HeldUnits& held);

 private:
  struct Reading {
    usage::UsageScanner scanner;
    const usage::UsagePlan* plan;
    std::size_t hold;  ///< index into HeldUnits::limits
    bool needs_body = false;
  };

  void add_field(Reading& reading, std::string_view name, std::string_view value);

  std::vector<Reading> readings_;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace weir::decision
