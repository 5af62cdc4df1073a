// The consequences of a failed try: a row per case.
#include "proxy/retry_rule.hpp"

#include "catch.hpp"

namespace weir::proxy {
namespace {

TEST_CASE("a method is idempotent if RFC 9110 section 9.2.2 lists it") {
  for (const char* const method : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}) {
    CAPTURE(method);
    CHECK(is_idempotent(method));
  }
  for (const char* const method : {"POST", "PATCH", "CONNECT", "put", "PUTS", "GE", ""}) {
    CAPTURE(method);
    CHECK_FALSE(is_idempotent(method));
  }
}

constexpr bool idempotent = true, other_method = false;
constexpr bool kept = true, outgrown = false;
constexpr bool begun = true, silent = false;
constexpr bool was_idle = true, was_new = false;
constexpr bool has_another = true, alone = false;

struct Row {
  bool repeated;
  Failure failure;
  bool method, body, answer, connection, servers;
  int retries_left = 1;
};

TEST_CASE("a try is repeated where nothing was processed, or may be processed twice") {
  using enum Failure;
  const Row rows[] = {
      // Nothing was sent: any method, also to the same server.
      {true, upstream_unreachable, idempotent, kept, silent, was_new, has_another},
      {true, upstream_unreachable, idempotent, kept, silent, was_new, alone},
      {true, upstream_unreachable, other_method, kept, silent, was_new, has_another},
      {true, upstream_unreachable, other_method, kept, silent, was_new, alone},
      // An earlier try has used up a part of the body that is not kept.
      {false, upstream_unreachable, idempotent, outgrown, silent, was_new, has_another},
      // Nothing was sent, but the time to connect is over: not to the same server.
      {true, upstream_connect_timeout, idempotent, kept, silent, was_new, has_another},
      {true, upstream_connect_timeout, other_method, kept, silent, was_new, has_another},
      {false, upstream_connect_timeout, idempotent, kept, silent, was_new, alone},
      {false, upstream_connect_timeout, idempotent, outgrown, silent, was_new, has_another},
      // Sent, and the connection ended without an answer: idempotent methods only.
      {true, upstream_broken, idempotent, kept, silent, was_new, has_another},
      {true, upstream_broken, idempotent, kept, silent, was_idle, has_another},
      {true, upstream_broken, idempotent, kept, silent, was_idle, alone},
      {false, upstream_broken, idempotent, kept, silent, was_new, alone},
      {false, upstream_broken, other_method, kept, silent, was_new, has_another},
      {false, upstream_broken, other_method, kept, silent, was_idle, has_another},
      {false, upstream_broken, other_method, kept, silent, was_idle, alone},
      // The same, ended by HTTP/2.
      {true, upstream_refused, idempotent, kept, silent, was_new, has_another},
      {true, upstream_reset, idempotent, kept, silent, was_new, has_another},
      {true, upstream_goaway, idempotent, kept, silent, was_new, has_another},
      {true, upstream_goaway, idempotent, kept, silent, was_idle, alone},
      {false, upstream_reset, idempotent, kept, silent, was_new, alone},
      {false, upstream_reset, other_method, kept, silent, was_new, has_another},
      {false, upstream_goaway, other_method, kept, silent, was_new, has_another},
      {false, upstream_refused, other_method, kept, silent, was_new, has_another},
      // A part of the body is not kept.
      {false, upstream_broken, idempotent, outgrown, silent, was_new, has_another},
      {false, upstream_broken, idempotent, outgrown, silent, was_idle, has_another},
      // The response has begun.
      {false, upstream_broken, idempotent, kept, begun, was_new, has_another},
      {false, upstream_broken, idempotent, kept, begun, was_idle, has_another},
      {false, upstream_reset, idempotent, kept, begun, was_new, has_another},
      // The time is over, or the response is invalid: another server would not help.
      {false, upstream_timed_out, idempotent, kept, silent, was_new, has_another},
      {false, upstream_invalid, idempotent, kept, silent, was_new, has_another},
      {false, upstream_unhealthy, idempotent, kept, silent, was_new, has_another},
      // Failures caused by the client, and by Weir.
      {false, downstream_gone, idempotent, kept, silent, was_new, has_another},
      {false, body_malformed, idempotent, kept, silent, was_new, has_another},
      {false, body_too_large, idempotent, kept, silent, was_new, has_another},
      {false, body_timed_out, idempotent, kept, silent, was_new, has_another},
      {false, overloaded, idempotent, kept, silent, was_new, has_another},
      // No retries are left.
      {false, upstream_unreachable, idempotent, kept, silent, was_new, has_another, 0},
      {false, upstream_broken, idempotent, kept, silent, was_idle, has_another, 0},
      {true, upstream_broken, idempotent, kept, silent, was_idle, has_another, 10},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    CAPTURE(i);
    CHECK(may_repeat({.failure = row.failure,
                      .is_idempotent = row.method,
                      .body_is_kept = row.body,
                      .answer_has_begun = row.answer,
                      .was_idle = row.connection,
                      .has_another = row.servers,
                      .retries_left = row.retries_left}) == row.repeated);
  }
}

TEST_CASE("a request that the server refused to process is repeated whatever its method") {
  FailedTry failed{.failure = GENERATE(Failure::upstream_broken, Failure::upstream_refused,
                                       Failure::upstream_goaway),
                   .is_idempotent = other_method,
                   .body_is_kept = kept,
                   .was_refused = true,
                   .has_another = alone,
                   .retries_left = 1};
  CHECK(may_repeat(failed));
  CHECK_FALSE(is_servers_fault(failed));
  SECTION("unless no retry is left") {
    failed.retries_left = 0;
  }
  SECTION("unless a part of its body is lost") {
    failed.body_is_kept = outgrown;
  }
  SECTION("unless it was not refused") {
    failed.was_refused = false;
  }
  CHECK_FALSE(may_repeat(failed));
}

TEST_CASE("a body is kept for a method that HTTP/2 may refuse") {
  options::Upstream settings;
  http::ReceivedRequest request;
  request.view.method = "POST";
  CHECK(kept_body_limit(settings, request) == 0);
  settings.protocol = GENERATE(options::Protocol::http2, options::Protocol::automatic);
  CHECK(kept_body_limit(settings, request) == settings.retry_body);
}

TEST_CASE("a try is not repeated for a client that has left, or has a part of the response") {
  const FailedTry failed{.failure = Failure::upstream_unreachable,
                         .is_idempotent = true,
                         .body_is_kept = true,
                         .has_another = true,
                         .retries_left = 1};
  CHECK(may_repeat(failed));
  FailedTry gone = failed;
  gone.client_is_gone = true;
  CHECK_FALSE(may_repeat(gone));
  FailedTry begun_response = failed;
  begun_response.response_has_begun = true;
  CHECK_FALSE(may_repeat(begun_response));
}

TEST_CASE("a failure counts towards ejecting the server if the server has caused it") {
  using enum Failure;
  struct FaultRow {
    bool is_fault;
    FailedTry failed;
  };
  const FaultRow rows[] = {
      {true, {.failure = upstream_unreachable}},
      {true, {.failure = upstream_connect_timeout}},
      {true, {.failure = upstream_timed_out}},
      {true, {.failure = upstream_broken}},
      {true, {.failure = upstream_reset}},
      {true, {.failure = upstream_goaway}},
      {false, {.failure = upstream_refused, .was_refused = true}},
      // A server may close an idle connection at any time.
      {false, {.failure = upstream_broken, .was_idle = true}},
      {true, {.failure = upstream_timed_out, .was_idle = true}},
      // The server has sent something, so it is reachable.
      {false, {.failure = upstream_broken, .was_answered = true}},
      {false, {.failure = upstream_timed_out, .was_answered = true}},
      // The server has waited for the client.
      {false, {.failure = upstream_broken, .client_was_awaited = true}},
      {false, {.failure = upstream_timed_out, .client_was_awaited = true}},
      // Neither the method nor the servers left to try change which side is at fault.
      {true,
       {.failure = upstream_broken,
        .is_idempotent = true,
        .body_is_kept = true,
        .has_another = true,
        .retries_left = 1}},
      // Reachable, not tried, or not at fault.
      {false, {.failure = none}},
      {false, {.failure = upstream_invalid}},
      {false, {.failure = upstream_unhealthy}},
      {false, {.failure = downstream_gone}},
      {false, {.failure = body_malformed}},
      {false, {.failure = body_too_large}},
      {false, {.failure = body_timed_out}},
      {false, {.failure = overloaded}},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(is_servers_fault(rows[i].failed) == rows[i].is_fault);
  }
}

TEST_CASE("a body is kept as far as retry_body goes, if the request may be repeated") {
  using Kind = http::Framing::Kind;
  struct BodyRow {
    std::size_t kept;
    const char* method;
    int retries;
    http::Framing framing;
    std::size_t retry_body = 100;
  };
  const BodyRow rows[] = {
      {100, "PUT", 1, {Kind::length, 99}},
      {100, "PUT", 1, {Kind::length, 100}},
      {100, "PUT", 3, {Kind::chunked, 0}},
      // The body will not fit.
      {0, "PUT", 1, {Kind::length, 101}},
      // The request will not be repeated.
      {0, "POST", 1, {Kind::length, 99}},
      {0, "PUT", 0, {Kind::length, 99}},
      {0, "PUT", 1, {Kind::length, 99}, 0},
      {0, "PUT", 1, {Kind::chunked, 0}, 0},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    options::Upstream upstream;
    upstream.retries = rows[i].retries;
    upstream.retry_body = rows[i].retry_body;
    http::ReceivedRequest request;
    request.view.method = rows[i].method;
    request.framing = rows[i].framing;
    request.is_framed = true;
    CHECK(kept_body_limit(upstream, request) == rows[i].kept);
  }
}

}  // namespace
}  // namespace weir::proxy
