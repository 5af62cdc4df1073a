#include "proxy/interruption.hpp"

namespace weir::proxy {

Failure why_interrupted(const Interruptions& interruptions, const UploadState& upload) {
  if (interruptions.client_left || interruptions.aborted) return Failure::downstream_gone;
  if (upload.failure != Failure::none) return upload.failure;
  if (!interruptions.timed_out) return Failure::none;
  const bool upstream_stalled = upload.has_finished || upload.waits_for_upstream;
  return upstream_stalled ? Failure::upstream_timed_out : Failure::body_timed_out;
}

}  // namespace weir::proxy
