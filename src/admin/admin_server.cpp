#include "admin/admin_server.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "admin/endpoints.hpp"
#include "admin/listen.hpp"
#include "http/ratelimit_fields.hpp"

namespace weir::admin {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using boost::system::error_code;
using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;
using Parser = http::request_parser<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr std::uint32_t most_head = 8 * 1024;
constexpr std::size_t most_drained = 64 * 1024;
constexpr auto patience = std::chrono::seconds(5);
constexpr auto accept_pause = std::chrono::milliseconds(100);

/// One of the open connections, oldest first, for as long as it lives.
class Registration {
 public:
  Registration(std::list<Stream*>& open, Stream& stream)
      : open_(open), place_(open.insert(open.end(), &stream)) {}
  ~Registration() { open_.erase(place_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  std::list<Stream*>& open_;
  std::list<Stream*>::iterator place_;
};

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// The value of the field; empty if there are several, so that none of them is accepted.
std::optional<std::string_view> value_of(const http::request_header<>& head, http::field name) {
  const auto count = head.count(name);
  if (count == 0) return std::nullopt;
  return count == 1 ? view(head[name]) : std::string_view{};
}

AdminAnswer answer_to(const http::request_header<>& head, const Instruments& instruments) {
  const std::string_view target = view(head.target());
  const auto hosts = head.count(http::field::host);
  // RFC 9112 section 3.2.
  if (hosts > 1 || (hosts == 0 && head.version() > 10))
    return problem_answer(400, "the request needs exactly one Host field");
  return answer({.method = view(head.method_string()),
                 .path = target.substr(0, target.find('?')),
                 .authorization = view(head[http::field::authorization]),
                 .from = {.host = value_of(head, http::field::host),
                          .origin = value_of(head, http::field::origin)}},
                instruments);
}

/// The answer to a head that could not be read; an empty status means that nobody waits for one.
AdminAnswer answer_to(const error_code& failure) {
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow) {
    return problem_answer(431, "the request head is larger than 8 KiB");
  }
  if (failure.category() == make_error_code(http::error::bad_method).category() &&
      failure != http::error::end_of_stream && failure != http::error::partial_message) {
    return problem_answer(400, "malformed request");
  }
  return {.status = 0};
}

Response response_of(AdminAnswer answer, bool keep_alive) {
  Response response(http::int_to_status(static_cast<unsigned>(answer.status)), 11,
                    std::move(answer.body));
  response.set(http::field::content_type, answer.content_type);
  response.set(http::field::cache_control, "no-store");
  std::string date;
  weir::http::append_http_date(
      date, std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
  response.set(http::field::date, date);
  if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
  if (answer.status == 401) response.set(http::field::www_authenticate, "Bearer");
  response.keep_alive(keep_alive);
  response.prepare_payload();
  return response;
}

bool has_body(const Parser& parser) {
  return parser.chunked() || parser.content_length().value_or(0) > 0;
}

asio::awaitable<void> send(Stream& stream, const Response& response, bool is_head) {
  stream.expires_after(patience);
  http::response_serializer<http::string_body> serializer(response);
  if (is_head) {
    co_await http::async_write_header(stream, serializer, asio::use_awaitable);
  } else {
    co_await http::async_write(stream, serializer, asio::use_awaitable);
  }
}

/// Closing over unread bytes would reset the connection and may take the answer with it.
asio::awaitable<void> close_gently(Stream& stream) {
  error_code ended;
  stream.socket().shutdown(asio::socket_base::shutdown_send, ended);
  stream.expires_after(patience);
  boost::beast::flat_buffer ignored(most_drained);
  for (std::size_t drained = 0; !ended && drained < most_drained;) {
    const auto room = ignored.prepare(4096);
    drained +=
        co_await stream.async_read_some(room, asio::redirect_error(asio::use_awaitable, ended));
  }
}

/// Reads a head and answers it. True if another may follow.
asio::awaitable<bool> exchange(Stream& stream, boost::beast::flat_buffer& buffer,
                               const Instruments& instruments) {
  Parser parser;
  parser.header_limit(most_head);
  stream.expires_after(patience);
  error_code failure;
  co_await http::async_read_header(stream, buffer, parser,
                                   asio::redirect_error(asio::use_awaitable, failure));
  const auto& head = parser.get();
  auto answer = failure ? answer_to(failure) : answer_to(head, instruments);
  if (answer.status == 0) co_return false;
  const bool keep_alive = !failure && head.keep_alive() && !has_body(parser);
  const Response response = response_of(std::move(answer), keep_alive);
  co_await send(stream, response, !failure && head.method() == http::verb::head);
  if (!keep_alive) co_await close_gently(stream);
  co_return keep_alive;
}

}  // namespace

class AdminServer::Loop {
 public:
  explicit Loop(Instruments instruments) : instruments_(std::move(instruments)) {}
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Result<void> start(const Endpoint& address);
  void stop();
  const Endpoint& address() const { return address_; }

 private:
  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(Acceptor::protocol_type::socket socket);

  const Instruments instruments_;
  Endpoint address_;
  std::list<Stream*>
      open_;  // outlives the loop: unfinished connections leave it when the loop is destroyed
  asio::io_context io_{1};
  Acceptor acceptor_{io_};
  std::thread thread_;
};

Result<void> AdminServer::Loop::start(const Endpoint& address) {
  const auto bound = listen(acceptor_, address);
  if (!bound) return bound.error();
  address_ = *bound;
  asio::co_spawn(io_, accept_all(), asio::detached);
  thread_ = std::thread([this] { io_.run(); });
  return {};
}

void AdminServer::Loop::stop() {
  if (!thread_.joinable()) return;
  io_.stop();
  thread_.join();
  error_code ignored;
  acceptor_.close(ignored);
  remove_socket_file(address_);
}

asio::awaitable<void> AdminServer::Loop::accept_all() {
  asio::steady_timer pause(io_);
  for (;;) {
    error_code failure;
    auto socket =
        co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failure));
    if (failure) {
      // Out of descriptors, most likely: the connection stays queued, and asking at once would
      // spin.
      pause.expires_after(accept_pause);
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    if (open_.size() >= most_connections) open_.front()->close();
    asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> AdminServer::Loop::serve(Acceptor::protocol_type::socket socket) {
  Stream stream(std::move(socket));
  const Registration registration(open_, stream);
  boost::beast::flat_buffer buffer(2 * most_head);
  try {
    bool again = true;
    while (again)
      again = co_await exchange(stream, buffer, instruments_);
  } catch (const boost::system::system_error&) {
    // The client went away or was too slow; nobody is left to tell.
  }
}

AdminServer::AdminServer(Instruments instruments)
    : loop_(std::make_unique<Loop>(std::move(instruments))) {}
AdminServer::~AdminServer() = default;

Result<void> AdminServer::start(const Endpoint& address) {
  return loop_->start(address);
}
void AdminServer::stop() {
  loop_->stop();
}
const Endpoint& AdminServer::address() const {
  return loop_->address();
}

}  // namespace weir::admin
