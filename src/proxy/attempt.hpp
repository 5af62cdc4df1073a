// One try of the forward phase, on one upstream connection: connect or take an idle one, send the
// request, read the response and relay it.
//
// Used from its worker's loop only.
#pragma once

#include <memory>
#include <optional>

#include "proxy/failure.hpp"
#include "proxy/forward_phase.hpp"
#include "proxy/http1_upstream_stream.hpp"
#include "proxy/http2_upstream_stream.hpp"
#include "proxy/retry_rule.hpp"
#include "proxy/upload.hpp"
#include "upstream/pooled_server.hpp"

namespace weir::proxy {

class Attempt {
 public:
  Attempt(const ForwardPhase& phase, upstream::PooledServer& server);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// `may_reuse`: an idle connection may be used. Failure::none: the whole response has been
  /// relayed.
  loop::Task<Failure> run(bool may_reuse);
  /// Describes a failed try for the retry rules, except the part that depends on other servers.
  FailedTry failed(Failure failure) const;
  /// Reports a failed try to the log and to the server.
  void report(const FailedTry& failed);

 private:
  struct Response;

  bool take_open_connection(bool may_reuse);
  void hold(std::unique_ptr<upstream::Connection> connection);
  void share(std::shared_ptr<upstream::Http2Connection> connection, bool was_used);
  loop::Task<Failure> connect();
  loop::Task<error_code> await_opening(upstream::Http2Connections& shared);
  loop::Task<Failure> share_connection(upstream::Http2Connections& shared);
  loop::Task<Failure> open_connection();
  Failure build_request();
  loop::Task<error_code> flush();
  loop::Task<Failure> read_response();
  void take_head(Response& response);
  Failure interruption() const;
  Failure why_ended() const;
  loop::Task<Failure> relay(Response& response);
  BodyState gather(std::string_view& large, const Response& response);
  loop::Task<Failure> open_tunnel(const http::ResponseHead& head);

  const ForwardPhase& phase_;
  Watchdog& watchdog_;
  Responder& responder_;
  upstream::PooledServer& server_;
  std::optional<Http1UpstreamStream> http1_;
  std::unique_ptr<Http2UpstreamStream> http2_;
  UpstreamStream* stream_ = nullptr;  ///< one of them
  Upload upload_;
  bool was_answered_ = false;      ///< a byte was received
  bool answer_has_begun_ = false;  ///< a byte of the final response; interim responses do not count
  bool client_was_awaited_ = false;  ///< at the end of the try, and for some time before
};

}  // namespace weir::proxy
