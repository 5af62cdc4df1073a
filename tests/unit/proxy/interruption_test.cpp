// The reasons that end a wait for the upstream: a row per case.
#include "proxy/interruption.hpp"

#include <boost/asio/error.hpp>

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

TEST_CASE("an attempt to connect ends for the first of these reasons") {
  using enum Failure;
  namespace error = boost::asio::error;
  struct Row {
    Interruptions interruptions;
    boost::system::error_code ec;
    Failure why;
  };
  constexpr Interruptions both{.timed_out = true, .aborted = true};
  const Row rows[] = {
      {nothing, {}, none},
      {departure, {}, downstream_gone},
      {nothing, error::connection_refused, upstream_unreachable},
      {departure, error::operation_aborted, downstream_gone},
      {nothing, error::no_descriptors, overloaded},  // of this process, not of the server
      {nothing, error::timed_out, upstream_connect_timeout},
      {timeout, {}, upstream_connect_timeout},
      {timeout, error::operation_aborted, upstream_connect_timeout},
      {timeout, error::no_descriptors, upstream_connect_timeout},
      {abort, {}, downstream_gone},
      {abort, error::connection_refused, downstream_gone},
      {both, error::timed_out, downstream_gone},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(why_not_connected(rows[i].interruptions, rows[i].ec) == rows[i].why);
  }
}

TEST_CASE("a body that ends early has timed out, or its client has left") {
  CHECK(why_body_ended(timeout) == Failure::body_timed_out);
  CHECK(why_body_ended(nothing) == Failure::downstream_gone);
  CHECK(why_body_ended(departure) == Failure::downstream_gone);
  CHECK(why_body_ended(abort) == Failure::downstream_gone);
}

}  // namespace
}  // namespace weir::proxy
