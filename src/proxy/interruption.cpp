#include "proxy/interruption.hpp"

#include <boost/asio/error.hpp>

namespace weir::proxy {

Failure why_interrupted(const Interruptions& interruptions, const UploadState& upload) {
  if (interruptions.client_left || interruptions.aborted) return Failure::downstream_gone;
  if (upload.failure != Failure::none) return upload.failure;
  if (!interruptions.timed_out) return Failure::none;
  const bool upstream_stalled = upload.has_finished || upload.waits_for_upstream;
  return upstream_stalled ? Failure::upstream_timed_out : Failure::body_timed_out;
}

Failure why_not_connected(const Interruptions& interruptions, const boost::system::error_code& ec) {
  namespace error = boost::asio::error;
  if (interruptions.aborted || interruptions.client_left) return Failure::downstream_gone;
  if (interruptions.timed_out || ec == error::timed_out) return Failure::upstream_connect_timeout;
  if (ec == error::no_descriptors) return Failure::overloaded;
  return ec ? Failure::upstream_unreachable : Failure::none;
}

Failure why_body_ended(const Interruptions& interruptions) {
  return interruptions.timed_out ? Failure::body_timed_out : Failure::downstream_gone;
}

}  // namespace weir::proxy
