// Reads what the body of a request states for the reserves of its limits, before the decision.
//
// A body of more than 64 KiB states nothing, and neither does one in a format that is not read
// (usage/usage_scanner.hpp). The bytes read are kept in the body. Owned by the exchange and reused;
// used from its worker's loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "http/received_request.hpp"
#include "limiter/request_evidence.hpp"
#include "proxy/failure.hpp"
#include "proxy/responder.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::proxy {

class StatedCosts {
 public:
  /// The largest body that is read, in bytes as received.
  static constexpr std::size_t largest_body = 64 * 1024;

  /// Reads the body as far as it is needed, and adds what it states to the evidence. Then the body
  /// must be rewound before it is forwarded: was_read(). A failure is the client's.
  loop::Task<Failure> read(const http::ReceivedRequest& request, const ClientSide& client,
                           Duration timeout, limiter::RequestEvidence& evidence);
  bool was_read() const { return was_read_; }
  void clear() { was_read_ = false; }

 private:
  struct Sought {
    usage::UsageScanner scanner;
    std::size_t value;  ///< index into values_
  };

  void prepare(const http::ReceivedRequest& request, limiter::RequestEvidence& evidence);
  loop::Task<Failure> scan(const ClientSide& client, Duration timeout);
  void finish();

  std::vector<Sought> sought_;
  std::vector<std::optional<std::int64_t>> values_;  ///< one for each limit of each route
  bool is_whole_ = false;                            ///< the end of the body has been read
  bool was_read_ = false;
};

}  // namespace weir::proxy
