// A call of envoy.service.auth.v3.Authorization/Check (ext_authz): the request that a proxy asks
// about, and the answer for it.
//
// The request is decided like one that arrives at a listener; only its answer differs. A CheckCall
// holds its head, and is the responder of the exchange until the call is answered. Used from its
// worker's loop only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/request_rules.hpp"
#include "http/header_list.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/grpc_answer.hpp"
#include "proxy/responder.hpp"
#include "rls/check_messages.hpp"

namespace weir::proxy {

/// The path of the method.
inline constexpr std::string_view check_path = "/envoy.service.auth.v3.Authorization/Check";

class CheckCall final : public Responder {
 public:
  /// `request` is that of the call, which `call` answers; `decision` is made before the answer.
  CheckCall(Responder& call, http::ReceivedRequest& request, const DecisionRecord& decision)
      : call_(call), request_(request), decision_(decision) {}

  /// Replaces the request by the one that the message describes. If the peer of the call is a
  /// trusted proxy, the source in the message is the peer of the request. Dropped are the fields
  /// about the connection of the client, and those with which proxies describe another request.
  ///
  /// Refuses a message that is too long with 431, and one that is not valid with 400. Clients of
  /// the proxy can cause both, so the answer is a denial: many proxies serve a request whose call
  /// fails. The request is empty then.
  std::optional<http::Refusal> read(std::string message,
                                    const identity::ClientAddressOptions& settings);
  /// Checks the head of the request and finishes it, as decision::inspect_header_list().
  std::optional<http::Refusal> inspect(const decision::RequestRules& rules);

  /// A status below 300 allows the request, any other one denies it with this answer, such as the
  /// redirect of a route. If nothing could decide, the call has the status UNAVAILABLE, so that the
  /// proxy does what it does on a failure.
  loop::Task<> answer(OwnAnswer answer) override;
  void reset() override { call_.reset(); }

  // Not used: nothing is forwarded.
  loop::Task<error_code> interim(const http::ResponseHead&) override { co_return error_code{}; }
  void begin(const ForwardedAnswer&) override {}
  bool append(std::string_view) override { return true; }
  void end(const http::FieldSection&) override {}
  bool send(error_code&) override { return false; }
  loop::Task<error_code> flush() override { co_return error_code{}; }
  loop::Task<error_code> send_from_place(std::string_view) override { co_return error_code{}; }
  loop::Task<error_code> switch_protocols(const ForwardedAnswer&) override {
    co_return error_code{};
  }
  loop::Task<bool> tunnel(TunnelEnd) override { co_return false; }

 private:
  void swap_requests();
  bool is_undecided() const;
  void fill(const OwnAnswer& answer);

  Responder& call_;
  http::ReceivedRequest& request_;
  const DecisionRecord& decision_;
  std::string message_;
  rls::CheckRequest check_;
  http::HeaderList head_;
  rls::CheckResponse response_;
  std::string body_;
  http::FieldSection trailers_;
  GrpcScratch grpc_;
  // The parts of the call, while the request is another one.
  http::RequestView other_view_;
  std::vector<http::FieldView> other_fields_;
  bool other_is_grpc_call_ = false;
};

}  // namespace weir::proxy
