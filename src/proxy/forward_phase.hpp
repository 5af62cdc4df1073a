// The part of an exchange that the classes of its forward phase use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "base/traffic_counters.hpp"
#include "decision/usage_meter.hpp"
#include "grpc/status.hpp"
#include "http/received_request.hpp"
#include "proxy/context.hpp"
#include "proxy/failure.hpp"
#include "proxy/generation.hpp"
#include "proxy/responder.hpp"
#include "upstream/pool.hpp"

namespace weir::proxy {

/// Counts one request in the counters of its route, exactly once, in whichever phase it ends.
class RequestCount {
 public:
  /// `unrouted`: the counters of a request without a route.
  void begin(RouteCounters& unrouted, Instant now) {
    counters_ = &unrouted;
    started_at_ = now;
    is_done_ = false;
  }
  void use(RouteCounters& route) { counters_ = &route; }
  /// The request is denied, and still to be counted.
  void count_denial() { counters_->denied.add(); }
  /// Counts the request. Status 0, no response, is not counted. Later calls do nothing.
  void count(int status, Instant now) {
    if (!is_done_ && status != 0) counters_->count(status, now - started_at_);
    is_done_ = true;
  }
  /// Counts the status of gRPC, besides count(). Empty: it has none, or the response was not
  /// complete.
  void count_grpc(std::optional<grpc::Status> status) {
    if (status) [[unlikely]]
      counters_->by_grpc_status[static_cast<std::size_t>(*status)].add();
  }

 private:
  RouteCounters* counters_ = nullptr;
  Instant started_at_;
  bool is_done_ = false;
};

/// The results of the forward phase that the access log and the connection use.
struct ForwardingRecord {
  const options::Upstream* upstream = nullptr;  ///< none: the request was not forwarded
  const options::Server* server = nullptr;      ///< the one tried last
  std::string_view server_authority{};          ///< its authority()
  Instant begun_at;
  Failure failure = Failure::none;        ///< of the last try
  std::uint32_t http2_error = 0;          ///< the code that answer_to() takes, too
  std::optional<Duration> upstream_took;  ///< until the head of its response arrived
  bool is_due_at_deadline = false;        ///< the last wait ends at the deadline of the call
  bool has_own_connection = false;  ///< a connection was given back that only this client may reuse
};

/// The part of an exchange that its forward phase uses, and that outlives the phase.
struct ForwardPhase {
  Context& context;
  const Generation& generation;
  const ClientSide& client;
  const http::ReceivedRequest& request;
  const http::FieldSection* limit_fields;  ///< for the response
  upstream::Pool& pool;
  UpstreamCounters& counters;
  ForwardingRecord& record;
  RequestCount& count;
  std::string_view target{};                         ///< for the upstream; empty: as received
  const http::FieldEdits* request_edits = nullptr;   ///< nullptr: none
  const http::FieldEdits* response_edits = nullptr;  ///< nullptr: none
  decision::UsageMeter* meter = nullptr;             ///< nullptr: no charge is in the response
  std::optional<Instant> deadline{};                 ///< of a gRPC call

  const options::Upstream& upstream() const { return pool.settings(); }
  /// The longest wait for the head of a response, or for the next piece of a body, that begins now:
  /// until the timeout, or until the deadline of the call if that is earlier.
  Duration response_timeout() const { return until_deadline(upstream().response_timeout); }
  Duration body_timeout() const {
    return until_deadline(generation.options.downstream.body_timeout);
  }
  /// True if the call has no time left: a wait would end at the next tick only.
  bool is_past_deadline() const { return deadline && *deadline <= context.pass_clock.now(); }
  /// The side at fault if something has not arrived in time: the client chooses the deadline, so
  /// the server must not be ejected for it.
  Failure blame(Failure failure) const {
    const bool is_timeout =
        failure == Failure::upstream_timed_out || failure == Failure::body_timed_out;
    return is_timeout && record.is_due_at_deadline ? Failure::deadline_passed : failure;
  }

 private:
  Duration until_deadline(Duration timeout) const {
    record.is_due_at_deadline = deadline && *deadline - context.pass_clock.now() < timeout;
    return record.is_due_at_deadline ? *deadline - context.pass_clock.now() : timeout;
  }
};

}  // namespace weir::proxy
