#include "cli/admin_client.hpp"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace weir::cli {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using Socket = asio::generic::stream_protocol::socket;

constexpr std::size_t most_body = 16 * 1024 * 1024;

asio::awaitable<Socket> connect(const Endpoint& address) {
  const auto executor = co_await asio::this_coro::executor;
  if (address.is_unix()) {
    asio::local::stream_protocol::socket socket(executor);
    const asio::local::stream_protocol::endpoint endpoint(address.unix_path);
    co_await socket.async_connect(endpoint, asio::use_awaitable);
    co_return Socket(std::move(socket));
  }
  asio::ip::tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(address.host, std::to_string(address.port),
                                                     asio::use_awaitable);
  asio::ip::tcp::socket socket(executor);
  co_await asio::async_connect(socket, found, asio::use_awaitable);
  co_return Socket(std::move(socket));
}

asio::awaitable<AdminReply> exchange(const Endpoint& address, const AdminQuestion& question) {
  Socket socket = co_await connect(address);
  beast_http::request<beast_http::string_body> request(beast_http::string_to_verb(question.method),
                                                       question.target, 11);
  request.set(beast_http::field::host, address.is_unix() ? "localhost" : address.to_string());
  request.set(beast_http::field::connection, "close");
  if (!question.token.empty())
    request.set(beast_http::field::authorization, "Bearer " + std::string(question.token.reveal()));
  if (!question.body.empty()) {
    request.set(beast_http::field::content_type, "application/json");
    request.body() = question.body;
    request.prepare_payload();
  }
  co_await beast_http::async_write(socket, request, asio::use_awaitable);
  boost::beast::flat_buffer buffer;
  beast_http::response_parser<beast_http::string_body> parser;
  parser.body_limit(most_body);
  co_await beast_http::async_read(socket, buffer, parser, asio::use_awaitable);
  co_return AdminReply{.status = static_cast<int>(parser.get().result_int()),
                       .body = std::move(parser.get().body())};
}

}  // namespace

Result<AdminReply> ask_admin(const Endpoint& address, const AdminQuestion& question,
                             std::chrono::seconds patience) {
  asio::io_context io(1);
  Result<AdminReply> result =
      Problem{"no answer within " + std::to_string(patience.count()) + " s"};
  const auto done = [&](const std::exception_ptr& error, AdminReply reply) {
    if (!error) {
      result = std::move(reply);
      return;
    }
    try {
      std::rethrow_exception(error);
    } catch (const boost::system::system_error& failure) {
      result = Problem{failure.code().message()};
    }
  };
  asio::co_spawn(io, exchange(address, question), done);
  io.run_for(patience);
  return result;
}

}  // namespace weir::cli
