// Sends the requests of `weir check --probe`. They are written byte by byte, because a client
// library would normalise their forms.
#include <chrono>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "cli/probe.hpp"

namespace weir::cli {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;

constexpr auto probe_timeout = std::chrono::seconds(5);
constexpr std::size_t most_body = 1024 * 1024;

std::string request_text(const ProbeRequest& request, const std::string& host) {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\nHost: " + host +
                     "\r\nUser-Agent: weir-probe\r\nConnection: close\r\n";
  if (request.field) text += request.field->first + ": " + request.field->second + "\r\n";
  return text + "\r\n";
}

asio::awaitable<ProbeAnswer> exchange(const Endpoint& address, const std::string& text) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(address.host, std::to_string(address.port),
                                                     asio::use_awaitable);
  boost::beast::tcp_stream stream(executor);
  co_await stream.async_connect(found, asio::use_awaitable);
  co_await asio::async_write(stream, asio::buffer(text), asio::use_awaitable);
  boost::beast::flat_buffer buffer;
  beast_http::response_parser<beast_http::string_body> parser;
  parser.body_limit(most_body);
  co_await beast_http::async_read(stream, buffer, parser, asio::use_awaitable);
  co_return ProbeAnswer{.status = static_cast<int>(parser.get().result_int()),
                        .body = parser.get().body()};
}

}  // namespace

Ask ask_over_tcp(const ProbeTarget& target) {
  return [target](const ProbeRequest& request) -> Result<ProbeAnswer> {
    asio::io_context io(1);
    Result<ProbeAnswer> result = Problem{"no answer within 5 s"};
    const std::string text = request_text(request, target.host);
    const auto done = [&](const std::exception_ptr& error, ProbeAnswer answer) {
      if (!error) {
        result = std::move(answer);
        return;
      }
      try {
        std::rethrow_exception(error);
      } catch (const boost::system::system_error& failure) {
        result = Problem{"no answer: " + failure.code().message()};
      }
    };
    asio::co_spawn(io, exchange(target.address, text), done);
    io.run_for(probe_timeout);
    return result;
  };
}

}  // namespace weir::cli
