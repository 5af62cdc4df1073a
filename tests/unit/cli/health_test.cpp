#include <sstream>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "catch.hpp"
#include "cli/cli.hpp"

namespace {

namespace asio = boost::asio;

int health(const std::string& url) {
  std::string arguments[] = {"weir", "health", "--admin", url};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), nullptr};
  return weir::cli::run(4, argv);
}

/// Answers one connection with a fixed text.
class OneAnswer {
 public:
  explicit OneAnswer(std::string text) : text_(std::move(text)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswer() { thread_.join(); }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void serve() {
    auto socket = acceptor_.accept();
    boost::system::error_code ignored;
    std::string request;
    asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", ignored);
    asio::write(socket, asio::buffer(text_), ignored);
  }
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::make_address("127.0.0.1"), 0}};
  std::string text_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("weir health is 0 for a ready instance only") {
  struct Row {
    const char* answer;
    int code;
  };
  for (const auto& row :
       {Row{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0},
        Row{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno", 1},
        Row{"HTTP/1.1 204 No Content\r\n\r\n", 1}, Row{"SSH-2.0\r\n\r\n", 1}, Row{"", 1}}) {
    CAPTURE(row.answer);
    {
      OneAnswer instance(row.answer);
      CHECK(health(instance.url()) == row.code);
    }
  }
}

TEST_CASE("weir health without a server is 1") {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
  const auto port = acceptor.local_endpoint().port();
  acceptor.close();
  CHECK(health("http://127.0.0.1:" + std::to_string(port)) == 1);
  CHECK(health("unix:/nonexistent/admin.sock") == 1);
}

TEST_CASE("weir health with an invalid URL is 2") {
  CHECK(health("9090") == 2);
}
