#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "cli/admin_url.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Socket = asio::generic::stream_protocol::socket;
using Answer = http::response<http::string_body>;

constexpr auto patience = std::chrono::seconds(2);

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

asio::awaitable<Answer> get_readyz(const Endpoint& address) {
  Socket socket = co_await connect(address);
  http::request<http::empty_body> request(http::verb::get, "/readyz", 11);
  request.set(http::field::host, address.is_unix() ? "localhost" : address.to_string());
  request.set(http::field::connection, "close");
  co_await http::async_write(socket, request, asio::use_awaitable);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(64 * 1024);
  co_await http::async_read(socket, buffer, parser, asio::use_awaitable);
  co_return parser.release();
}

/// Returns why the instance is not ready; nothing if it is.
std::optional<std::string> ask(const Endpoint& address) {
  asio::io_context io(1);
  std::optional<std::string> complaint = "no answer within 2 s";
  const auto done = [&](const std::exception_ptr& error, const Answer& answer) {
    if (error) {
      try {
        std::rethrow_exception(error);
      } catch (const boost::system::system_error& failure) {
        complaint = failure.code().message();
      }
    } else if (answer.result_int() == 200) {
      complaint.reset();
    } else {
      complaint = "answered " + std::to_string(answer.result_int()) + ": " + answer.body();
    }
  };
  asio::co_spawn(io, get_readyz(address), done);
  io.run_for(patience);
  return complaint;
}

int health(const std::string& url) {
  const auto address = parse_admin_url(url);
  if (!address) {
    std::cerr << "weir health: --admin: " << address.error().message << '\n';
    return refused;
  }
  const auto complaint = ask(*address);
  if (!complaint) return succeeded;
  std::cerr << "weir health: " << url << ": " << complaint->substr(0, complaint->find('\n'))
            << '\n';
  return failed;
}

}  // namespace

void add_health(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("health", "Check whether a running instance is ready");
  const auto url = std::make_shared<std::string>("http://127.0.0.1:9090");
  command->add_option("--admin", *url, "Its admin server: http://HOST:PORT or unix:/path")
      ->type_name("URL")
      ->capture_default_str();
  command->footer(
      "Exit code 0 if it is ready, 1 with a line that gives the reason if not; waits at most 2 s.");
  command->callback([&chosen, url] { chosen = [url] { return health(*url); }; });
}

}  // namespace weir::cli
