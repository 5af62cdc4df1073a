// Something that a task waits for and that other code on the same loop can end.
#pragma once

namespace weir::loop {

class Cancellable {
 public:
  /// Ends the wait: the operation fails with operation_aborted. An operation that is about to
  /// complete may still complete.
  virtual void cancel() = 0;
  /// Ends the wait for good: later operations fail as well.
  virtual void close() = 0;
  /// The same. The other side, if there is one, can detect that data is missing.
  virtual void reset() { close(); }

 protected:
  ~Cancellable() = default;
};

}  // namespace weir::loop
