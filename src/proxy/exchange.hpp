// One request and what becomes of it: filled in phase by phase, logged and counted at its end.
//
// The views point into the session's input buffer and hold until the exchange ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_view.hpp"
#include "identity/identity.hpp"
#include "limiter/limiter.hpp"
#include "limiter/request_evidence.hpp"
#include "proxy/access_log.hpp"
#include "proxy/generation.hpp"
#include "proxy/settings.hpp"
#include "proxy/store_answer.hpp"
#include "routing/find_routes.hpp"

namespace weir::proxy {

/// What begins anew with each request.
struct ExchangeRecord {
  // read head
  Instant started_at;
  std::size_t head_size = 0;
  http::RequestView request;
  identity::IpAddress client;  ///< the peer until the head has been inspected
  http::ConnectionOptions connection;
  http::Framing body;         ///< how the request's body is delimited
  bool body_is_read = false;  ///< to its end: the next request may follow
  std::string_view scheme = "http";
  bool keep_alive = false;  ///< towards the client, after this answer

  // route
  const Route* route = nullptr;

  // decide
  Instant asked_at;
  Instant decided_at;
  limiter::Outcome outcome = limiter::Outcome::unlimited;
  identity::Ambiguity ambiguity;  ///< of an ambiguous identity
  limiter::Decider decider = limiter::Decider::memory;
  bool shadow_denied = false;
  const limiter::Policy* policy = nullptr;  ///< the deciding one
  std::optional<Hash128> identity;          ///< of the deciding limit
  std::int64_t cost = 0;
  std::int64_t remaining = 0;
  Duration delay{0};
  Duration decision_took{0};
  std::optional<Duration> retry_after;

  // forward
  const upstream::Upstream* upstream = nullptr;
  const upstream::Server* server = nullptr;  ///< the one tried last
  Instant forwarded_at;
  std::optional<Duration> upstream_took;  ///< until its head
  bool was_answered = false;              ///< in this try: the upstream sent something
  bool answer_has_begun = false;          ///< in this try: other than interim answers
  bool body_is_awaited = false;           ///< when the try ended, and for a while

  // answer
  int status = 0;  ///< 0: nothing was answered
  bool head_is_sent = false;
  bool is_counted = false;
  std::uint64_t bytes_in = 0;   ///< of the request body
  std::uint64_t bytes_out = 0;  ///< of everything sent to the client
};

/// Besides it the buffers, which keep their room from one request to the next.
struct Exchange : ExchangeRecord {
  Pin generation;  ///< the configuration that it began with, and keeps until it ends
  std::vector<http::FieldView> fields;
  std::string target_storage;         ///< where the target lies when it is no part of the head
  std::string upgrade;                ///< protocols the client would go on in, as a list
  routing::RoutedRequest routed;      ///< the request as routes see it, and its routes
  limiter::RequestEvidence evidence;  ///< what identities see of it
  limiter::Evaluation evaluation;     ///< what is asked of the store
  StoreAnswer store_answer;
  limiter::Grant grant;                    ///< of an admitted request; views the evaluation
  std::string limit_fields;                ///< the RateLimit lines of the answer, ready
  std::vector<std::string_view> violated;  ///< visible names of the policies that denied

  /// Ready for the next request.
  void reset();
};

/// The exchange as the access log tells it; views into the exchange.
AccessRecord record_of(const Exchange& exchange, Duration took);

}  // namespace weir::proxy
