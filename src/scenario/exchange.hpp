// One request of a scenario in progress: when it ends and how, and the response that its client
// gets. As proxy::Exchange, with an upstream whose response is written down. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "http/head_parser.hpp"
#include "limiter/trace.hpp"
#include "offline/instance.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/grpc_answer.hpp"
#include "proxy/own_answers.hpp"
#include "scenario/happened.hpp"
#include "scenario/scenario.hpp"

namespace weir::scenario {

class Exchange {
 public:
  /// Begins a request of this step, which arrives at `at`.
  void begin(const Step& its_step, std::int64_t its_repetition, Instant at);

  /// The request has its verdict. Returns when it ends.
  Instant decided(const config::Config& config, Instant start, const offline::Request& request);
  /// The client leaves before the request has ended.
  bool client_leaves_before(Instant end) const { return leaves_at_ && *leaves_at_ < end; }
  std::optional<Instant> leaves_at() const { return leaves_at_; }
  void client_left() { has_left_ = true; }

  /// Ends the request, and returns what happened.
  Happened end(const config::Config& config, offline::Instance& instance, offline::Request& request,
               Instant now);

  const Step& step() const { return *step_; }
  std::int64_t repetition() const { return repetition_; }
  limiter::Trace& trace() { return trace_; }

 private:
  enum class Kind : std::uint8_t {
    own_answer,  ///< answer_
    response,    ///< of the upstream
    fixed,       ///< `respond` of the route
    report,      ///< the other proxy reports the end
    lease,       ///< it does not
  };

  void answer(const config::Config& config, const offline::Request& request);
  void answer_call(const config::Config& config);
  std::optional<int> grpc_status() const;
  Instant end_of_response(Instant start, Instant passed_at) const;
  const std::string& upstream_head();
  offline::Ending ending();
  void respond(const config::Config& config, const offline::Request& request, Instant now,
               Happened& to);

  const Step* step_ = nullptr;
  std::int64_t repetition_ = 0;
  std::optional<Instant> leaves_at_;
  bool has_left_ = false;
  Kind kind_ = Kind::own_answer;
  limiter::Trace trace_;
  proxy::DecisionRecord recorded_;
  proxy::OwnAnswer answer_;  ///< views the two texts
  http::FieldSection fields_;
  std::string body_;
  bool is_response_ = false;  ///< the own answer counts as a response for `charge`
  bool is_call_ = false;      ///< of gRPC, and is answered as such
  int answer_status_ = 0;     ///< of the own answer, before it is one of gRPC
  proxy::GrpcScratch grpc_;   ///< viewed by the answer
  // The response of the upstream; the fields view the head.
  std::string upstream_head_;
  http::StatusLine status_line_;
  std::vector<http::FieldView> response_fields_;
};

}  // namespace weir::scenario
