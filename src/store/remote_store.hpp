// A store that is asked over a connection, as the circuit breaker sees it.
//
// Belongs to one worker and is used on its loop only.
#pragma once

#include <optional>

#include "store/store.hpp"

namespace weir::store {

class RemoteStore : public Store {
 public:
  /// Connected, and acquire() will send what it is given.
  virtual bool is_ready() const = 0;
  /// The last result of this connection was a decision, not an error or a timeout; or there is
  /// nothing that could be asked.
  virtual bool has_decided() const = 0;
  /// The server has sent nothing for so long that another connection may find a better one.
  virtual bool is_silent() const = 0;
  /// Closes this connection, whose server does not answer, and opens another.
  virtual void reconnect() = 0;
  /// While has_decided() is false: asks for a decision that no request needs, to learn whether the
  /// store decides. One at a time. Only `error` of the result matters.
  virtual std::optional<Result> probe(Completion& completion, Instant now) = 0;
};

}  // namespace weir::store
