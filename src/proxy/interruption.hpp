// Determines why a wait for the upstream or for the client's body was interrupted. Pure.
#pragma once

#include <boost/system/error_code.hpp>

#include "proxy/failure.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

/// The state of the upload, which runs concurrently with the response.
struct UploadState {
  Failure failure = Failure::none;
  bool has_finished = true;         ///< true too if there is no upload
  bool waits_for_upstream = false;  ///< the upstream accepts no more bytes
};

/// Returns Failure::none if nothing ended the wait. After a timeout the upstream is at fault if it
/// has the whole request or accepts no more of it, otherwise the client.
Failure why_interrupted(const Interruptions& interruptions, const UploadState& upload);

/// The result of an attempt to connect that ended with `ec`. If the client has left, the server is
/// not at fault: a stream of HTTP/2 may be reset in that phase.
Failure why_not_connected(const Interruptions& interruptions, const boost::system::error_code& ec);

/// Why no more of a request body was received.
Failure why_body_ended(const Interruptions& interruptions);

}  // namespace weir::proxy
