// Reads the body of a request before the decision, as far as it states reserves
// (decision/stated_reserves.hpp).
//
// The bytes read are kept in the body. Owned by the exchange and reused; used from its worker's
// loop only.
#pragma once

#include "decision/stated_reserves.hpp"
#include "http/received_request.hpp"
#include "limiter/request_evidence.hpp"
#include "proxy/failure.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

class StatedCosts {
 public:
  /// Reads the body as far as it is needed, and adds what it states to the evidence. Then the body
  /// must be rewound before it is forwarded: was_read(). A failure is the client's.
  loop::Task<Failure> read(const http::ReceivedRequest& request, const ClientSide& client,
                           Duration timeout, limiter::RequestEvidence& evidence);
  bool was_read() const { return was_read_; }
  void clear() { was_read_ = false; }

 private:
  loop::Task<Failure> scan(const ClientSide& client, Duration timeout);

  decision::StatedReserves reserves_;
  bool is_whole_ = false;  ///< the end of the body has been read
  bool was_read_ = false;
};

}  // namespace weir::proxy
