// Something that must not wait until all sockets that are ready have been served.
#pragma once

#include <boost/intrusive/list.hpp>

namespace weir::loop {

/// A pass of the poller calls it first, and again after every few dozen operations
/// (Poller::interleave_after). It leaves the poller when it is destroyed.
class Interleaved : public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Interleaved() = default;
  Interleaved(const Interleaved&) = delete;
  Interleaved& operator=(const Interleaved&) = delete;

  /// May resume tasks, and may destroy this object, but no other one.
  virtual void serve() noexcept = 0;

 protected:
  ~Interleaved() = default;
};

}  // namespace weir::loop
