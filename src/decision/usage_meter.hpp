// Reads what the response of an upstream states while it is relayed: its cost, for the limits of
// the request with `cost_from`, and its status of gRPC, for those that charge by it. The response
// is neither changed nor delayed.
//
// The server decides whether a response is one of gRPC, by grpc-status or by its content type. The
// request does not count: servers answer other content types as well, and a client would choose one
// to avoid the charge.
//
// Pure. Belongs to one request and is reused; not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "grpc/status.hpp"
#include "http/field_section.hpp"
#include "http/head_parser.hpp"
#include "limiter/held_units.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::decision {

class UsageMeter {
 public:
  /// Prepares for the response to a request that holds these units, after clear(). True: there is
  /// something to read.
  bool prepare(const limiter::HeldUnits& held);
  void clear() { readings_.clear(); }

  /// True if the upstream has to be asked for a body without content coding.
  bool reads_body() const;
  /// True if a trailer field may state the cost or the status of gRPC.
  bool reads_fields() const;

  /// Begins the final response.
  void begin(std::span<const http::FieldView> fields);
  void feed(std::string_view piece) {
    for (Reading& one : readings_)
      if (one.needs_body) one.scanner.feed(piece);
  }
  /// Ends a complete response.
  void end(const http::FieldSection& trailers);
  /// True from begin() until settle().
  bool has_begun() const { return has_begun_; }
  /// The status of gRPC, once it is known; that of `http_status` if a complete response of gRPC
  /// states none, as for clients. Empty: it is not one of gRPC, or no limit charges by it.
  std::optional<grpc::Status> grpc_status(int http_status) const;
  /// Adds the status of gRPC to the end of the request, in place of one that `how` has. To be
  /// called before settle().
  void add_outcome(limiter::RequestEnd& how) const;
  /// Adds the costs to the holds. A response that has begun and not ended was cut off.
  void settle(limiter::HeldUnits& held);

 private:
  struct Reading {
    usage::UsageScanner scanner;
    const usage::UsagePlan* plan;
    std::size_t hold;  ///< index into HeldUnits::limits
    bool needs_body = false;
  };

  bool is_grpc() const { return grpc_status_ || has_grpc_content_; }
  void add_field(std::string_view name, std::string_view value);

  std::vector<Reading> readings_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool reads_outcome_ = false;     ///< a limit charges by the status of gRPC
  bool has_grpc_content_ = false;  ///< reads_outcome_, and the content type is one of gRPC
  std::optional<grpc::Status> grpc_status_;  ///< of the trailers, or else of the head
};

}  // namespace weir::decision
