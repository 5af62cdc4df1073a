// A request to the rate limit service: reads its message, decides it, and answers in gRPC or JSON.
//
// The methods, by path:
//   /envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit
//   /kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit, Report, Reserve and Commit
//   /grpc.health.v1.Health/Check and Watch
//   POST /json: the message of ShouldRateLimit in proto3 JSON
//   GET /healthcheck
//
// Used from its worker's loop only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/traffic_counters.hpp"
#include "grpc/status.hpp"
#include "http/received_request.hpp"
#include "options/proxy.hpp"
#include "proxy/context.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/failure.hpp"
#include "proxy/generation.hpp"
#include "proxy/request_hold.hpp"
#include "proxy/responder.hpp"
#include "proxy/store_answers.hpp"
#include "rls/messages.hpp"
#include "rls/rate_limit_call.hpp"
#include "store/store.hpp"

namespace weir::proxy {

/// The memory of a call, which is used again.
struct RateLimitMemory {
  explicit RateLimitMemory(asio::io_context& io) : answers(io) {}

  std::string body;  ///< of the request, with the prefix of gRPC
  rls::RateLimitCall call;
  rls::Response response;
  StoreAnswers answers;
  std::vector<std::size_t> pending;  ///< decisions that complete later
  std::string message;               ///< of the answer, likewise
  http::FieldSection trailers;
  GrpcScratch grpc;
};

class RateLimitExchange {
 public:
  struct Dependencies {
    Context& context;
    Generation& generation;
    const ClientSide& client;
    const http::ReceivedRequest& request;
    DecisionRecord& record;  ///< takes the verdict
    Instant begun_at;
    Instant& asked_at;                    ///< set when the store is asked
    std::optional<std::string>& watched;  ///< takes the service of a Watch, which is not answered
  };

  /// The status of a call that is not answered with a message.
  struct Refusal {
    grpc::Status status = grpc::Status::internal;
    std::string_view reason;
  };

  explicit RateLimitExchange(const Dependencies& dependencies);
  ~RateLimitExchange();
  RateLimitExchange(const RateLimitExchange&) = delete;
  RateLimitExchange& operator=(const RateLimitExchange&) = delete;

  /// Reads the message of a Check, for CheckCall. Empty: the call has been refused. One that is too
  /// long is cut, and still longer than a message may be.
  loop::Task<Failure> read_check(std::string& message);
  /// Refuses a call.
  loop::Task<> refuse(Refusal refusal);
  /// Serves the request. Returns the failure if it could not be read; then nothing is answered.
  loop::Task<Failure> run();

 private:
  loop::Task<Failure> serve_grpc();
  loop::Task<Failure> serve_http();
  loop::Task<Failure> read_body();
  loop::Task<> call(rls::Method method, std::string_view message);
  static const Refusal reservations_are_off, too_many_incomplete, name_is_too_long, too_late,
      client_has_left;
  loop::Task<> reserve(std::string_view message);
  loop::Task<> commit(std::string_view message);
  loop::Task<std::optional<Refusal>> decide(rls::Method method, std::string_view message);
  void copy(rls::Method method, std::string_view message, bool is_overridden);
  void count(const limiter::Verdict& verdict);
  void count_call(MethodCounters& method, Instant called_at) const;
  void add_headers(const limiter::Verdict& verdict);
  /// Ends the message that has been begun, and sends it.
  loop::Task<> answer_message();
  loop::Task<> check_health(std::string_view message);
  loop::Task<> watch_health(std::string_view message);
  loop::Task<> answer_text(int status, std::string_view text);
  bool is_late() const;

  const Dependencies in_;
  std::unique_ptr<RateLimitMemory> memory_;
  Grant grant_;  ///< of an admitted Reserve, until its units are kept; views the memory
  std::optional<Instant> deadline_;  ///< grpc-timeout
  bool has_room_ = true;  ///< false: the message has not been read, because the budget is used up
};

}  // namespace weir::proxy
