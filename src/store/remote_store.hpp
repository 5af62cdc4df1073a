// The interface of a store behind a connection, for the circuit breaker.
//
// Belongs to one worker and is used on its loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "store/store.hpp"

namespace weir::store {

/// Receives the generation of the overrides.
class GenerationReceiver {
 public:
  virtual void on_generation(std::uint64_t generation, Instant now) noexcept = 0;
  /// It could not be read.
  virtual void on_no_generation() noexcept = 0;

 protected:
  ~GenerationReceiver() = default;
};

class RemoteStore : public Store {
 public:
  /// Whether it is connected and acquire() would send.
  virtual bool is_ready() const = 0;
  /// Whether the last result of this connection was a decision, not an error or a timeout; true if
  /// nothing can be asked.
  virtual bool has_decided() const = 0;
  /// Replies of any kind that have arrived so far: in time, late, or of a handshake.
  virtual std::uint64_t replies() const = 0;
  /// Questions and other commands that were sent and have no reply yet, also those that have timed
  /// out.
  virtual std::size_t unanswered() const = 0;
  /// Whether the server has sent nothing for so long that a new connection may help.
  virtual bool is_silent() const = 0;
  /// Closes the connection and opens another.
  virtual void reconnect() = 0;
  /// Requests a decision without a request, to test whether the store decides. One at a time. Only
  /// `error` of the result matters.
  virtual std::optional<Result> probe(Completion& completion, Instant now) = 0;
  /// Reads a number that changes with every change of overrides, after the questions that were sent
  /// before. Calls the receiver once, later; false: nothing was sent. One at a time.
  virtual bool read_generation(GenerationReceiver& receiver) = 0;
};

}  // namespace weir::store
