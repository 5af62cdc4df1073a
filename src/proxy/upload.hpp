// A request body on its way up beside the answer (docs/adr/0009-upload-beside-the-answer.md).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "proxy/body_source.hpp"
#include "proxy/failure.hpp"
#include "proxy/kept_body.hpp"
#include "proxy/trailers.hpp"

namespace weir::proxy {

/// Up to this much of a body is gathered into one send; larger pieces go out from where they lie.
inline constexpr std::size_t gather_limit = 16 * 1024;

/// The request body on its way up, when it has not arrived whole with its head.
struct Upload {
  BodySource source;
  KeptBody& kept;
  bool chunk;
  Trailers trailers{};
  bool finished = true;
  bool sent_whole = false;          ///< the upstream connection stands at the end of the request
  bool unwanted = false;            ///< the answer is complete: stop where you are
  bool waits_for_upstream = false;  ///< which takes no more
  std::uint64_t began_at = 0;       ///< tick at which the client was first waited for
  Failure failure = Failure::none;
  std::exception_ptr thrown{};  ///< by the upload: for whoever waits for its end
  std::optional<Timer> done;
};

}  // namespace weir::proxy
