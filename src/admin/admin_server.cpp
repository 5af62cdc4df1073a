#include "admin/admin_server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "admin/messages.hpp"
#include "admin/status_feed.hpp"

namespace weir::admin {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using boost::system::error_code;
using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

constexpr auto patience = std::chrono::seconds(5);
constexpr std::string_view too_many_pages =
    "too many status pages are open; close one, or read /v1/status";
constexpr auto accept_pause = std::chrono::milliseconds(100);

/// One of the open connections, oldest first, for as long as it lives or until it is left out.
class Registration {
 public:
  Registration(std::list<Stream*>& open, Stream& stream)
      : open_(open), position_(open.insert(open.end(), &stream)) {}
  ~Registration() { leave_out(); }
  void leave_out() {
    if (position_ != open_.end()) open_.erase(position_);
    position_ = open_.end();
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  std::list<Stream*>& open_;
  std::list<Stream*>::iterator position_;
};

asio::awaitable<void> send(Stream& stream, const Response& response, bool is_head) {
  stream.expires_after(patience);
  beast_http::response_serializer<beast_http::string_body> serializer(response);
  if (is_head) {
    co_await beast_http::async_write_header(stream, serializer, asio::use_awaitable);
  } else {
    co_await beast_http::async_write(stream, serializer, asio::use_awaitable);
  }
}

asio::awaitable<void> send_continue(Stream& stream) {
  constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  co_await asio::async_write(stream, asio::buffer(text), asio::use_awaitable);
}

/// Reads what the client still sends until it closes or `patience` has passed. Closing a socket
/// with unread bytes resets the connection, and the client may lose the answer.
asio::awaitable<void> close_gently(Stream& stream) {
  error_code ended;
  stream.socket().shutdown(asio::socket_base::shutdown_send, ended);
  stream.expires_after(patience);
  std::array<char, 16 * 1024> ignored;
  while (!ended) {
    co_await stream.async_read_some(asio::buffer(ignored),
                                    asio::redirect_error(asio::use_awaitable, ended));
  }
}

}  // namespace

class AdminServer::Listener {
 public:
  Listener(asio::io_context& io, loop::BoundAddress bound)
      : acceptor(io), endpoint(std::move(bound.endpoint)), file_(std::move(bound.file)) {
    loop::Descriptor& socket = bound.sockets.front();
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    ::getsockname(socket.native(), reinterpret_cast<sockaddr*>(&local), &size);
    acceptor.assign({local.ss_family, local.ss_family == AF_UNIX ? 0 : IPPROTO_TCP},
                    socket.release());
    acceptor.non_blocking(true);
  }

  void close() {
    error_code ignored;
    acceptor.close(ignored);
    file_ = {};
  }

  Acceptor acceptor;
  const Endpoint endpoint;
  bool is_closed = false;

 private:
  SocketFile file_;
};

class AdminServer::Loop {
 public:
  Loop(std::vector<AdminEndpoint> endpoints, ReadTopKeys read_top);
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void serve_at(std::optional<loop::BoundAddress> bound);
  void show(std::shared_ptr<const Instruments> instruments);
  void stop();
  bool is_serving() const { return listener_ != nullptr; }
  const Endpoint& address() const { return listener_->endpoint; }

 private:
  asio::awaitable<void> accept_all(std::shared_ptr<Listener> listener);
  void accept(Acceptor::protocol_type::socket socket);
  void close(Listener& listener);
  asio::awaitable<void> serve(Acceptor::protocol_type::socket socket);
  asio::awaitable<bool> exchange(Stream& stream, Registration& registration,
                                 boost::beast::flat_buffer& buffer);
  asio::awaitable<void> stream_events(Stream& stream, Registration& registration,
                                      const beast_http::request_header<>& head);
  struct Pending;
  asio::awaitable<AdminAnswer> answer_of(const AdminEndpoint& endpoint, AdminCall call);
  std::shared_ptr<const Instruments> instruments();

  StatusFeed feed_;  // outlives the loop, as open_ does
  std::vector<AdminEndpoint> endpoints_;
  std::mutex mutex_;  // of instruments_
  std::shared_ptr<const Instruments> instruments_;
  // Outlives the loop: unfinished connections leave it when the loop is destroyed.
  std::list<Stream*> open_;
  asio::io_context io_{1};
  std::shared_ptr<Listener> listener_;  // of the owner's thread
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::thread thread_;
};

AdminServer::Loop::Loop(std::vector<AdminEndpoint> endpoints, ReadTopKeys read_top)
    : feed_(
          io_, [this] { return instruments(); }, std::move(read_top)),
      endpoints_(std::move(endpoints)) {
  std::ranges::move(feed_.endpoints(), std::back_inserter(endpoints_));
}

void AdminServer::Loop::serve_at(std::optional<loop::BoundAddress> bound) {
  if (listener_) {
    std::promise<void> closed;
    asio::post(io_, [&] {
      close(*listener_);
      closed.set_value();
    });
    closed.get_future().wait();  // so that the next reload may use the address again
  }
  listener_ = bound ? std::make_shared<Listener>(io_, std::move(*bound)) : nullptr;
  if (listener_) asio::co_spawn(io_, accept_all(listener_), asio::detached);
  if (listener_ && !thread_.joinable()) thread_ = std::thread([this] { io_.run(); });
}

/// Accepts the connections that the kernel has accepted already, so that none of them is reset.
void AdminServer::Loop::close(Listener& listener) {
  listener.is_closed = true;
  error_code failure;
  for (std::size_t i = 0; !failure && i < most_connections; ++i) {
    Acceptor::protocol_type::socket socket(io_);
    listener.acceptor.accept(socket, failure);
    if (!failure) accept(std::move(socket));
  }
  listener.close();
}

void AdminServer::Loop::show(std::shared_ptr<const Instruments> instruments) {
  const std::lock_guard lock(mutex_);
  instruments_.swap(instruments);
}

std::shared_ptr<const Instruments> AdminServer::Loop::instruments() {
  const std::lock_guard lock(mutex_);
  return instruments_;
}

void AdminServer::Loop::stop() {
  if (!thread_.joinable()) return;
  io_.stop();
  thread_.join();
  if (listener_) listener_->close();
  listener_ = nullptr;
}

asio::awaitable<void> AdminServer::Loop::accept_all(std::shared_ptr<Listener> listener) {
  asio::steady_timer pause(io_);
  while (!listener->is_closed) {
    error_code failure;
    auto socket = co_await listener->acceptor.async_accept(
        asio::redirect_error(asio::use_awaitable, failure));
    if (listener->is_closed && failure) co_return;
    if (failure) {
      // Most likely out of descriptors: the connection stays queued, and an immediate retry would
      // spin.
      pause.expires_after(accept_pause);
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    accept(std::move(socket));
  }
}

void AdminServer::Loop::accept(Acceptor::protocol_type::socket socket) {
  if (open_.size() >= most_connections) open_.front()->close();
  try {
    asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
  } catch (const std::bad_alloc&) {
    // The connection is closed; there may be memory for the next one.
  }
}

asio::awaitable<void> AdminServer::Loop::serve(Acceptor::protocol_type::socket socket) {
  Stream stream(std::move(socket));
  Registration registration(open_, stream);
  boost::beast::flat_buffer buffer(2 * most_head);
  try {
    bool again = true;
    while (again)
      again = co_await exchange(stream, registration, buffer);
  } catch (const boost::system::system_error&) {
    // The client has left or was too slow.
  }
}

/// Reads a head and answers it. Returns true if another request may follow.
asio::awaitable<bool> AdminServer::Loop::exchange(Stream& stream, Registration& registration,
                                                  boost::beast::flat_buffer& buffer) {
  Parser parser;
  parser.header_limit(most_head);
  parser.body_limit(boost::none);  // with the default, the head of a large body counts as malformed
  stream.expires_after(patience);
  error_code failure;
  co_await beast_http::async_read_header(stream, buffer, parser,
                                         asio::redirect_error(asio::use_awaitable, failure));
  const auto& head = parser.get();
  const Found found = failure ? Found(answer_to(failure)) : find(endpoints_, head, *instruments());
  AdminAnswer answer = found ? AdminAnswer{} : found.error();
  if (answer.status == 0) co_return false;
  bool is_whole = !failure && !has_body(parser);
  if (found && head.method() == beast_http::verb::put) {
    parser.body_limit(most_body);
    stream.expires_after(patience);
    if (parser.content_length().value_or(0) > most_body) {
      failure = beast_http::error::body_limit;
    } else {
      if (expects_continue(head)) co_await send_continue(stream);
      co_await beast_http::async_read(stream, buffer, parser,
                                      asio::redirect_error(asio::use_awaitable, failure));
    }
    is_whole = !failure;
    if (failure) answer = body_answer(failure);
    if (answer.status == 0) co_return false;
  }
  if (found && (*found)->is_stream && !feed_.is_full()) {
    co_await stream_events(stream, registration, head);
    co_return false;
  }
  if (found && (*found)->is_stream) answer = problem_answer(503, too_many_pages);
  stream.expires_never();  // while the answer is made
  if (found && !failure && (*found)->handle) {
    answer = co_await answer_of(**found, call_of(parser.get(), instruments()->options));
  }
  const bool keep_alive = !failure && head.keep_alive() && is_whole;
  const Response response = response_of(std::move(answer), keep_alive);
  co_await send(stream, response, !failure && head.method() == beast_http::verb::head);
  if (!keep_alive) co_await close_gently(stream);
  co_return keep_alive;
}

/// A stream is not among the connections of which the oldest is closed: it has a limit of its own.
/// It ends when a reload changes the token.
asio::awaitable<void> AdminServer::Loop::stream_events(Stream& stream, Registration& registration,
                                                       const beast_http::request_header<>& head) {
  registration.leave_out();
  co_await feed_.serve(stream, head.method() == beast_http::verb::head, [this, &head] {
    return find(endpoints_, head, *instruments()).has_value();
  });
}

/// An answer that may be made on another thread and come after the end of the server.
struct AdminServer::Loop::Pending {
  explicit Pending(asio::io_context& io) : over(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer over;
  AdminAnswer answer;
};

/// The loop owns the timer, and an answer that arrives after the end of the server is ignored.
asio::awaitable<AdminAnswer> AdminServer::Loop::answer_of(const AdminEndpoint& endpoint,
                                                          AdminCall call) {
  const auto pending = std::make_shared<Pending>(io_);
  const auto shown = instruments();
  endpoint.handle(std::move(call), *shown,
                  [this, awaited = std::weak_ptr(pending)](AdminAnswer answer) {
                    asio::post(io_, [awaited, answer = std::move(answer)]() mutable {
                      const auto waiting = awaited.lock();
                      if (!waiting) return;
                      waiting->answer = std::move(answer);
                      waiting->over.cancel();
                    });
                  });
  error_code cancelled;
  co_await pending->over.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  co_return std::move(pending->answer);
}

AdminServer::AdminServer(std::vector<AdminEndpoint> endpoints, ReadTopKeys read_top)
    : loop_(std::make_unique<Loop>(std::move(endpoints), std::move(read_top))) {}
AdminServer::~AdminServer() = default;

void AdminServer::serve(std::optional<loop::BoundAddress> bound) {
  loop_->serve_at(std::move(bound));
}
void AdminServer::show(std::shared_ptr<const Instruments> instruments) {
  loop_->show(std::move(instruments));
}
void AdminServer::stop() {
  loop_->stop();
}
bool AdminServer::is_serving() const {
  return loop_->is_serving();
}
const Endpoint& AdminServer::address() const {
  return loop_->address();
}

}  // namespace weir::admin
