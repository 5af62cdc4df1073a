// The interface of a store behind a connection, for the circuit breaker.
//
// Belongs to one worker and is used on its loop only.
#pragma once

#include <optional>

#include "store/store.hpp"

namespace weir::store {

class RemoteStore : public Store {
 public:
  /// Whether it is connected and acquire() would send.
  virtual bool is_ready() const = 0;
  /// Whether the last result of this connection was a decision, not an error or a timeout; true if
  /// nothing can be asked.
  virtual bool has_decided() const = 0;
  /// Whether the server has sent nothing for so long that a new connection may help.
  virtual bool is_silent() const = 0;
  /// Closes the connection and opens another.
  virtual void reconnect() = 0;
  /// Requests a decision without a request, to test whether the store decides. One at a time. Only
  /// `error` of the result matters.
  virtual std::optional<Result> probe(Completion& completion, Instant now) = 0;
};

}  // namespace weir::store
