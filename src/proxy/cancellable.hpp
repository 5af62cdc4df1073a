// Something that a task waits for and that can be ended from elsewhere, on the same loop.
#pragma once

namespace weir::proxy {

class Cancellable {
 public:
  /// Ends what is being waited for: it fails with operation_aborted. An operation that is about to
  /// complete may complete all the same.
  virtual void cancel() = 0;
  /// Ends it for good: later operations fail as well.
  virtual void close() = 0;

 protected:
  ~Cancellable() = default;
};

}  // namespace weir::proxy
