// What ended a wait for the upstream from elsewhere. Pure.
#pragma once

#include "proxy/failure.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

/// The upload beside the response.
struct UploadState {
  Failure failure = Failure::none;
  bool has_finished = true;         ///< or there is none
  bool waits_for_upstream = false;  ///< which takes no more
};

/// Returns Failure::none if nothing ended the wait. After a timeout the upstream is at fault if it
/// has the whole request or accepts no more of it, otherwise the client.
Failure why_interrupted(const Interruptions& interruptions, const UploadState& upload);

}  // namespace weir::proxy
