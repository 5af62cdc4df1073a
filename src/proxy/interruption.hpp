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

/// Failure::none: nothing has. Whoever did not do its part within the timeout is at fault: the
/// upstream if it has the whole request or takes no more of it, else the client.
Failure why_interrupted(const Interruptions& interruptions, const UploadState& upload);

}  // namespace weir::proxy
