// The options of the proxy for connections and requests. Immutable once loaded; shared by all
// workers. Durations are microseconds, sizes bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endpoint.hpp"
#include "base/time.hpp"
#include "http/field_edits.hpp"
#include "http/field_section.hpp"
#include "http/ratelimit_fields.hpp"
#include "identity/client_address.hpp"
#include "limiter/policy.hpp"
#include "routing/matcher.hpp"
#include "routing/path_readings.hpp"
#include "routing/path_rewrite.hpp"
#include "rules/policy.hpp"
#include "tls/material.hpp"
#include "tls/parameters.hpp"

namespace weir::options {

/// The use of the connections of a listener.
enum class Serves : std::uint8_t {
  proxy,
  rate_limit_service,
  both,  ///< a request for a method of the service is the service's, any other one the proxy's
};

struct Listen {
  Endpoint address;
  std::vector<tls::CertificateFiles> certificates{};  ///< none: no TLS; the first is the default
  tls::Parameters tls{};                              ///< ignored without certificates
  bool proxy_protocol = false;  ///< each connection begins with a PROXY header from a trusted peer
  bool http2 = true;            ///< beside HTTP/1.1: by ALPN, or without TLS by prior knowledge
  Serves serves = Serves::proxy;
  friend bool operator==(const Listen&, const Listen&) = default;
};

/// The treatment of fields whose names contain characters other than letters, digits and "-".
enum class UnusualNames : std::uint8_t {
  pass,  ///< forwarded, but 400 if a service may take one for a field used in a decision
  drop,  ///< removed, as in nginx
};

/// Limits of an HTTP/2 connection.
struct Http2 {
  std::size_t max_streams = 100;  ///< in progress at the same time
  std::size_t glitches = 1000;    ///< faults until it is closed (http2/glitches.hpp); 0: no bound
  friend bool operator==(const Http2&, const Http2&) = default;
};

/// Bounds of the connections of one client address, over all workers.
struct PerAddress {
  std::size_t connections = 0;          ///< open at the same time; 0: no bound
  std::optional<rules::Policy> rate{};  ///< of new ones: gcra; nothing: no bound
  bool is_on() const { return connections != 0 || rate; }
  friend bool operator==(const PerAddress&, const PerAddress&) = default;
};

/// Limits and timeouts for clients.
struct Downstream {
  std::size_t max_connections =
      0;  ///< 0: as the file descriptor limit allows; more are answered 503
  std::size_t max_head = 32 * 1024;   ///< request line and fields; 431 beyond it
  std::size_t max_target = 8 * 1024;  ///< 414 beyond it
  std::uint64_t max_body = 0;         ///< 0: no bound; 413 beyond it
  std::size_t max_drain =
      64 * 1024;  ///< unread request body that is read and dropped to keep a connection
  Duration head_timeout =
      std::chrono::seconds(10);  ///< from the first byte to the end of the head: 408
  Duration idle_timeout = std::chrono::seconds(75);  ///< between requests
  Duration body_timeout = std::chrono::seconds(60);  ///< between two reads or writes of a body
  Duration max_age{0};  ///< of a connection, plus up to a tenth; then it drains; 0: no bound
  UnusualNames unusual_field_names = UnusualNames::pass;
  bool raw_target_bytes = false;  ///< lets bytes from 0x80 and "\\" pass in a target; else 400
  std::size_t max_handshakes =
      1024;  ///< TLS handshakes in progress per worker; beyond it the oldest is closed
  Http2 http2{};
  PerAddress per_address{};  ///< a connection beyond a bound is reset
  friend bool operator==(const Downstream&, const Downstream&) = default;
};

/// `respond` of a route.
struct FixedAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain";
  http::FieldSection fields{};
  friend bool operator==(const FixedAnswer&, const FixedAnswer&) = default;
};

/// Data that a route needs before its limits decide, apart from the head of the request.
enum RouteNeeds : std::uint8_t {
  needs_nothing = 0,
  needs_body = 1,         ///< a limit reserves what the body of the request states
  needs_settlements = 2,  ///< with `decide`: the request may settle a hold
};

/// A route, and the answer or the upstream for its requests. With `decide`, `respond` means that
/// the request may pass; nothing is forwarded.
struct Route : routing::Route {
  std::string shown_path{};  ///< of the match, with variables as they are written; empty: none
  std::optional<std::size_t> upstream{};  ///< index into the upstreams; else respond
  FixedAnswer respond{};
  std::vector<limiter::Limit> limits{};
  std::uint8_t needs = needs_nothing;             ///< RouteNeeds
  Duration hold_lease = std::chrono::minutes(1);  ///< with `decide`: of holds that are not settled
  http::FieldSection challenge{};                 ///< WWW-Authenticate for the required identity
  http::FieldEdits request_edits{};
  http::FieldEdits response_edits{};
  routing::PathRewrite rewrite{};
  friend bool operator==(const Route&, const Route&) = default;
};

/// The clients whose traceparent decides whether their requests are recorded.
enum class ParentRule : std::uint8_t {
  all,      ///< a traceparent with the sampled flag is recorded, one without it is not
  trusted,  ///< that of a trusted peer; others are sampled like requests without traceparent
};

/// The treatment of the trace of a request.
struct Tracing {
  bool generates = false;  ///< a traceparent for requests without a valid one
  bool records = false;    ///< spans
  double sample = 0.01;    ///< the share of requests whose traceparent does not decide
  double denied = 1;       ///< the share of denied requests, whatever else decides
  ParentRule parent = ParentRule::all;

  bool is_on() const { return generates || records; }
};

/// Answers of Weir to gRPC calls.
struct Grpc {
  int denied_code = 8;  ///< the status of a denied call, 1 to 16
  friend bool operator==(const Grpc&, const Grpc&) = default;
};

struct Proxy {
  identity::ClientAddressOptions client_address;
  Downstream downstream;
  routing::PathVariants path_variants;
  http::ResponseFieldOptions response_fields;
  Grpc grpc;
  Tracing tracing;
  std::vector<Route> routes;
};

}  // namespace weir::options
