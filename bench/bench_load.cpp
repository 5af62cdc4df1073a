// The load and the upstream of script/bench in one process: clients that send the next request as
// soon as they have a response, and servers that answer at once.
//
// It must need less CPU time than any proxy, so that the proxy's core is fully used: otherwise a
// faster proxy sleeps and wakes more often, and is charged for it. One thread, epoll, no waiting.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "load_counts.hpp"
#include "load_messages.hpp"
#include "load_settings.hpp"
#include "load_stream.hpp"

namespace weir::bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
  Stream stream;
  bool is_client;
  bool is_tunnel = false;  ///< upgraded
  std::string arrived{};   ///< the beginning of a message that is not complete
  Clock::time_point asked_at{};
};

class Load {
 public:
  explicit Load(const Settings& settings)
      : settings_(settings), requests_(requests_for(settings)), number_(settings.first) {
    if (settings.tls) tls_.emplace();
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    listener_ = listen_on(settings.upstream_port);
    watch(listener_, nullptr);
  }

  Counts run() {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < settings_.connections; ++i)
      begin(add(connect(), true));
    std::array<epoll_event, 256> events{};
    for (auto now = start; now < start + settings_.time; now = Clock::now()) {
      const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 100);
      now_ = Clock::now();
      for (int i = 0; i < count; ++i) {
        auto* const connection =
            static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        connection == nullptr ? accept_one() : serve(*connection);
      }
    }
    return std::move(counts_);
  }

 private:
  void watch(int descriptor, Connection* connection) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  }

  Connection& add(Stream stream, bool is_client) {
    connections_.push_back(std::make_unique<Connection>(Connection{std::move(stream), is_client}));
    Connection& connection = *connections_.back();
    watch(connection.stream.descriptor(), &connection);
    return connection;
  }

  Stream connect() const { return Stream::connect(settings_.port, tls_ ? &*tls_ : nullptr); }

  void accept_one() {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) add(Stream(descriptor), false);
  }

  /// Sends the first request of a client's connection, after the handshake.
  void begin(Connection& client) {
    client.asked_at = now_;
    if (client.stream.handshake()) ask(client);
  }

  void ask(Connection& client) {
    // The step has no factor in common with 1,000, 10,000 and 100,000: every key and every route
    // comes before one comes again, and not in the order of any table.
    number_ = (number_ + 61'803) % requests_.size();
    send(client, requests_[number_]);
  }

  void send(Connection& connection, std::string_view data) {
    if (!connection.stream.send(data)) ++counts_.failed;
  }

  void serve(Connection& connection) {
    if (!connection.stream.is_ready()) {
      if (connection.stream.handshake()) ask(connection);
      return;
    }
    std::array<char, 16 * 1024> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    do {
      std::size_t size = 0;
      const Received received = connection.stream.receive(room, size);
      if (received == Received::nothing_yet) return;
      if (received == Received::end) return close(connection);
      take(connection, {room.data(), size});
    } while (connection.stream.has_pending());
  }

  void take(Connection& connection, std::string_view piece) {
    std::string& arrived = connection.arrived;
    if (!arrived.empty()) arrived.append(piece);
    const std::string_view data = arrived.empty() ? piece : arrived;
    const std::size_t used = connection.is_client ? take_at_client(connection, data)
                                                  : take_at_upstream(connection, data);
    if (used == data.size()) {
      arrived.clear();
    } else if (arrived.empty()) {
      arrived.assign(data.substr(used));
    } else {
      arrived.erase(0, used);
    }
  }

  std::size_t take_at_upstream(Connection& upstream, std::string_view data) {
    if (upstream.is_tunnel) {
      send(upstream, data);
      return data.size();
    }
    const std::size_t size = head_size(data);
    if (size == 0) return 0;
    upstream.is_tunnel = settings_.mode == Mode::tunnel && is_upgrade(data.substr(0, size));
    send(upstream, upstream.is_tunnel ? upgraded : response_);
    return size;
  }

  std::size_t take_at_client(Connection& client, std::string_view data) {
    if (client.is_tunnel) return take_echo(client, data);
    if (settings_.mode == Mode::tunnel) return take_upgrade(client, data);
    return take_response(client, data);
  }

  std::size_t take_response(Connection& client, std::string_view data) {
    const std::size_t size = response_size(data);
    if (size == 0) return 0;
    const std::string_view status = status_of(data);
    counts_.refused += status == "429" ? 1 : 0;
    counts_.failed += status == "200" || status == "429" ? 0 : 1;
    counts_.add(now_ - client.asked_at);
    if (settings_.mode == Mode::close) {
      reconnect(client);
    } else {
      client.asked_at = now_;
      ask(client);
    }
    return size;
  }

  std::size_t take_upgrade(Connection& client, std::string_view data) {
    const std::size_t size = head_size(data);
    if (size == 0) return 0;
    if (status_of(data) != "101")
      throw std::runtime_error("an upgrade was answered " + std::string(data.substr(0, size)));
    client.is_tunnel = true;
    client.asked_at = now_;
    send(client, message);
    return size;
  }

  std::size_t take_echo(Connection& client, std::string_view data) {
    if (data.size() < message.size()) return 0;
    counts_.failed += data == message ? 0 : 1;
    counts_.add(now_ - client.asked_at);
    client.asked_at = now_;
    send(client, message);
    return data.size();
  }

  void reconnect(Connection& client) {
    client.stream.close();
    client.stream = connect();
    watch(client.stream.descriptor(), &client);
    begin(client);
  }

  void close(Connection& connection) {
    if (connection.is_client) ++counts_.failed;
    connection.stream.close();
  }

  Settings settings_;
  std::optional<TlsSettings> tls_;
  std::vector<std::string> requests_;
  std::string response_ = response();
  std::size_t number_;
  Counts counts_;
  int poll_ = -1;
  int listener_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  Clock::time_point now_ = Clock::now();
};

void print(const Settings& settings, const Counts& counts) {
  std::printf("requests=%lu duration_us=%ld refused=%lu failed=%lu p50_us=%zu p99_us=%zu\n",
              counts.requests,
              std::chrono::duration_cast<std::chrono::microseconds>(settings.time).count(),
              counts.refused, counts.failed, counts.percentile(50), counts.percentile(99));
}

}  // namespace

}  // namespace weir::bench

int main(int count, char** arguments) try {
  using namespace weir::bench;
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const Settings settings = settings_of({arguments + 1, static_cast<std::size_t>(count - 1)});
  print(settings, Load(settings).run());
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_load: %s\n", error.what());
  return 1;
}
