// A TCP relay on the test's loop, between a Store and its server: counts what arrives, and can hold
// back, cut and forge what is answered.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio.hpp>

namespace weir::redis::test {

class Relay {
 public:
  using Tcp = boost::asio::ip::tcp;
  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  Relay(boost::asio::io_context& io, std::uint16_t server_port)
      : io_(io),
        server_port_(server_port),
        acceptor_(io, Tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)) {
    accept();
  }
  ~Relay() { *present_ = false; }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  /// Bytes of answers that are let through before the connection is reset.
  std::size_t cut_after = all;
  /// Connections are accepted, and nothing is answered.
  bool silent = false;
  /// Replies this to each command instead of the server.
  std::string forged;
  int connections = 0;
  int reads = 0;  ///< from the store: one for each of its writes
  std::size_t bytes = 0;

  void say(const std::string& text) {
    if (link_) boost::asio::write(link_->store, boost::asio::buffer(text));
  }
  void hang_up() {
    if (auto link = std::exchange(link_, nullptr)) link->close();
  }
  void stop() {
    acceptor_.close();
    hang_up();
  }

 private:
  struct Link {
    explicit Link(boost::asio::io_context& io) : store(io), server(io) {}
    void close() {
      boost::system::error_code ignored;
      store.close(ignored);
      server.close(ignored);
    }
    Tcp::socket store, server;
    std::array<char, 1 << 18> question{}, answer{};
  };
  using Shared = std::shared_ptr<Link>;

  void accept() {
    auto link = std::make_shared<Link>(io_);
    acceptor_.async_accept(link->store, [this, link, present = present_](auto ec) {
      if (ec || !*present) return;
      ++connections;
      boost::system::error_code refused;
      link->server.connect(Tcp::endpoint(boost::asio::ip::address_v4::loopback(), server_port_),
                           refused);
      link_ = link;
      from_store(link);
      from_server(link);
      accept();
    });
  }
  void from_store(const Shared& link) {
    link->store.async_read_some(
        boost::asio::buffer(link->question),
        [this, link, present = present_](auto ec, std::size_t size) {
          if (!*present || ec) return link->close();
          ++reads;
          bytes += size;
          boost::system::error_code gone;
          if (!forged.empty())
            boost::asio::write(link->store,
                               boost::asio::buffer(lies({link->question.data(), size})), gone);
          else if (!silent)
            boost::asio::write(link->server, boost::asio::buffer(link->question.data(), size),
                               gone);
          from_store(link);
        });
  }
  std::string lies(std::string_view commands) const {
    std::string out = forged;
    for (auto at = commands.find("\r\n*"); at != commands.npos; at = commands.find("\r\n*", at + 1))
      out += forged;
    return out;
  }
  void from_server(const Shared& link) {
    link->server.async_read_some(
        boost::asio::buffer(link->answer), [this, link, present = present_](auto ec, auto size) {
          if (!*present || ec) return link->close();
          const auto passed = std::min<std::size_t>(size, cut_after);
          boost::system::error_code gone;
          boost::asio::write(link->store, boost::asio::buffer(link->answer.data(), passed), gone);
          if (cut_after == all) return from_server(link);
          cut_after -= passed;
          if (passed == size && cut_after > 0) return from_server(link);
          cut_after = all;
          link->close();
        });
  }

  boost::asio::io_context& io_;
  std::uint16_t server_port_;
  Tcp::acceptor acceptor_;
  Shared link_;
  std::shared_ptr<bool> present_ = std::make_shared<bool>(true);
};

}  // namespace weir::redis::test
