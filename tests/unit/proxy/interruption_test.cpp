// The reasons that end a wait for the upstream: a row per case.
#include "proxy/interruption.hpp"

#include "catch.hpp"

namespace weir::proxy {
namespace {

constexpr Interruptions nothing{}, timeout{.timed_out = true}, abort{.aborted = true},
    departure{.client_left = true};
constexpr UploadState sent{}, waits_for_client{.has_finished = false},
    waits_for_upstream{.has_finished = false, .waits_for_upstream = true},
    malformed{.failure = Failure::body_malformed};

TEST_CASE("a wait ends for the first of these reasons") {
  using enum Failure;
  struct Row {
    Interruptions interruptions;
    UploadState upload;
    Failure why;
  };
  constexpr Interruptions all{.timed_out = true, .aborted = true, .client_left = true};
  const Row rows[] = {
      {nothing, sent, none},
      {nothing, waits_for_client, none},
      {nothing, waits_for_upstream, none},
      // The client has left, in any other state.
      {departure, sent, downstream_gone},
      {departure, waits_for_client, downstream_gone},
      {departure, malformed, downstream_gone},
      {abort, sent, downstream_gone},
      {abort, malformed, downstream_gone},
      {all, malformed, downstream_gone},
      // The upload has failed.
      {nothing, malformed, body_malformed},
      {timeout, malformed, body_malformed},
      // A timeout is the fault of the side that has not done its part.
      {timeout, sent, upstream_timed_out},
      {timeout, waits_for_upstream, upstream_timed_out},
      {timeout, waits_for_client, body_timed_out},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(why_interrupted(rows[i].interruptions, rows[i].upload) == rows[i].why);
  }
}

}  // namespace
}  // namespace weir::proxy
