// One downstream connection: its requests, one after the other, each through the phases of
// docs/life-of-a-request.md.
//
// A session owns itself: start() spawns its task, which ends it. It runs on its worker's loop only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/deadline_wheel.hpp"
#include "identity/ip_address.hpp"
#include "proxy/body_source.hpp"
#include "proxy/context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/failure.hpp"
#include "proxy/forwarded_head.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"
#include "proxy/upstream_pool.hpp"

namespace weir::proxy {

/// How the connections of a listener begin.
struct Manner {
  bool proxy_protocol = false;
  std::shared_ptr<const tls::ServerContext> tls;  ///< none: plain

  bool begins_with_request() const { return !proxy_protocol && !tls; }
};

/// The sessions of one listener of a worker.
struct ListenerSessions {
  std::size_t count = 0;
  bool draining = false;  ///< the listener is gone: finish what is in flight, then close
};

class KeptBody;
struct FailedTry;
struct Upload;

class Session final : public Deadline {
 public:
  static void start(Context& context, ListenerSessions& listener, Socket socket,
                    const identity::IpAddress& peer, const Manner& manner);
  /// Answers 503 to a connection too many, and ends it.
  static void turn_away(Context& context, ListenerSessions& listener, Socket socket,
                        const identity::IpAddress& peer);
  Session(Context& context, ListenerSessions& listener, Socket socket,
          const identity::IpAddress& peer, bool refused);
  ~Session();

  void on_deadline();
  /// Ends a request whose client has left while its upstream is waited for, before its answer or
  /// within it: nobody reads from the client then, so its going is looked for once in a while.
  void look_after_client();
  /// The worker or the listener stops: an idle connection gets a short grace, a busy one closes
  /// after its answer.
  void drain();
  bool is_of(const ListenerSessions& listener) const { return &listener_ == &listener; }
  void abort();

 private:
  enum class Phase : std::uint8_t {
    open,
    idle,
    head,
    decide,
    delay,
    connect,
    response,
    relay,  ///< the next piece of an answer's body
    body,
    tunnel,
    linger
  };
  struct Answer;
  using MaybeRefusal = std::optional<http::Refusal>;

  static Task<> guard(std::unique_ptr<Session> session, Task<> task);
  void give_up(const std::exception& thrown);
  Task<> run(Manner manner);
  Task<> refuse();
  void begin_exchange();
  Task<> serve();

  // open
  enum class Opening : std::uint8_t {
    closed,
    ready,
    plain,  ///< HTTP, by its first byte, where TLS is expected
  };
  Task<Opening> open(const Manner& manner);
  Task<Opening> open_tls(const std::shared_ptr<const tls::ServerContext>& tls);
  struct Hello {
    Opening opening = Opening::closed;
    bool may_cost_much = false;  ///< the handshake
  };
  Task<Hello> await_hello(const tls::ServerContext& tls);
  Task<> refuse_plain();
  Task<bool> read_proxy_header();
  // read head
  Task<Failure> read_head();
  Failure look_for_head(std::size_t& scanned);
  MaybeRefusal inspect_head();
  // route, decide
  MaybeRefusal find_route();
  bool decide();
  Task<> await_store();
  void conclude(const limiter::Verdict& verdict);
  void report(const limiter::Verdict& verdict);
  Task<> wait_delay();
  // answer
  Task<> answer(const http::Refusal& refusal);
  Task<> answer_ambiguous();
  Task<> answer_denied();
  Task<> answer_fixed();
  bool asks_for_head() const;
  void append_own_answer(std::string& text, std::string_view content_type,
                         std::string_view more_fields, std::string_view body);
  Task<> send_answer(int status, std::string_view content_type, std::string_view more_fields,
                     std::string_view body);
  // forward
  Task<> forward();
  Task<Failure> attempt(UpstreamPool& pool, UpstreamServer& server, KeptBody& kept, bool may_reuse);
  Task<Failure> connect(UpstreamServer& server);
  Failure append_request(Upload& upload);
  void start_upload(Upload& upload);
  std::size_t keeps_up_to() const;
  bool is_repeated(const FailedTry& failed) const;
  void rewind(const KeptBody& kept);
  bool is_servers_fault(Failure failure, bool reused) const;
  bool is_held_back(const Upload& upload) const;
  void note_failure(UpstreamServer& server, Failure failure, bool reused);
  BodySource::State append_body(Upload& upload, std::size_t most);
  Task<> upload_body(Upload& upload);
  Task<> upload_rest(Upload& upload);
  void end_upload(Upload& upload);
  Task<Failure> read_response(Upload& upload);
  Task<Failure> read_response_head(Upload& upload, std::size_t& size);
  Failure take_response_head(std::size_t size, Answer& answer);
  Failure interruption(const Upload& upload) const;
  Task<Failure> answer_interim(const ResponseHead& head);
  bool append_answer(const ResponseHead& head);
  BodySource::State gather_answer(BodySource& source, bool chunk, std::string_view& large);
  Task<Failure> relay_answer(BodySource& source, bool chunk, const Upload& upload);
  void count_upstream(Failure failure);
  // tunnel
  Task<Failure> open_tunnel(const ResponseHead& head);
  // end
  void count();
  void finish();
  bool has_rest_of_body() const;
  Task<bool> discard_body();
  Task<> linger();

  /// Of the exchange.
  const Generation& generation() const { return *generation_; }
  const Settings& settings() const { return generation_->config; }
  /// The connection ends after the request in progress.
  bool is_draining() const { return context_.draining || listener_.draining; }
  bool is_trusted(const identity::IpAddress& peer) const;

  void arm(Phase phase, Duration timeout);
  /// What try_write() could not send at once, within body_timeout.
  Task<error_code> flush(Stream& stream);
  /// To the client; may clobber the scratch buffers.
  Task<error_code> send(std::string_view data);
  /// To the client, of what stays where it is until then.
  Task<error_code> send_from_place(std::string_view data);

  Context& context_;
  ListenerSessions& listener_;
  Stream stream_;
  identity::IpAddress peer_;
  bool peer_is_trusted_;
  std::uint64_t trusted_by_;  ///< the generation that peer_is_trusted_ comes from
  bool refused_;              ///< a connection too many: it does not count towards max_connections
  Phase phase_ = Phase::idle;
  bool timed_out_ = false;
  bool aborted_ = false;
  bool client_left_ = false;
  bool has_own_upstreams_ = false;  ///< idle upstream connections that nobody else may use
  InputBuffer input_{2048};
  std::unique_ptr<InputBuffer>
      body_input_;  ///< while a request body streams: the head's views must stay where they are
  std::unique_ptr<Exchange> exchange_;  ///< none while the connection is idle
  Generation* generation_ = nullptr;    ///< that the exchange pins
  std::unique_ptr<UpstreamConnection> upstream_;
  Timer* delay_ = nullptr;
  Handshake* handshake_ = nullptr;  ///< in progress, or waiting for its turn
  std::uint64_t number_;            ///< of the client connection, unique in the worker
  std::size_t index_;               ///< in the worker's list
};

}  // namespace weir::proxy
