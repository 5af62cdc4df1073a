// The load and the upstream of script/bench in one process: clients that ask again as soon as they
// are answered, on the same connection or each time on a new one, and servers that answer at once.
//
// Cheaper than any proxy between the two, so that the proxy is what a core is full with: below
// that, a faster proxy sleeps and wakes more often, and is charged for it. One thread, epoll, no
// waiting.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/tcp.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::uint16_t port = 0;           ///< of the proxy
  std::uint16_t upstream_port = 0;  ///< served here
  std::chrono::seconds time{1};
  std::size_t connections = 64;
  std::size_t keys = 1;   ///< different values of x-api-key
  std::size_t first = 0;  ///< the one to begin with
  bool closes = false;    ///< a connection for each request
};

struct Counts {
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;  ///< answered 429
  std::uint64_t failed = 0;   ///< anything but 200 and 429
  std::vector<std::uint32_t> latencies = std::vector<std::uint32_t>(1'000'000);  ///< by microsecond

  void add(Clock::duration took) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    ++latencies[std::min(static_cast<std::size_t>(us), latencies.size() - 1)];
  }
  std::size_t percentile(std::uint64_t percent) const {
    std::uint64_t left = requests * percent / 100;
    for (std::size_t us = 0; us < latencies.size(); ++us) {
      if (left < latencies[us]) return us;
      left -= latencies[us];
    }
    return latencies.size();
  }
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::system_category().message(errno));
}

sockaddr_in local(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  return descriptor;
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// All of a message that fits the socket's buffer many times over.
bool send_all(int descriptor, std::string_view data) {
  return ::send(descriptor, data.data(), data.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(data.size());
}

struct Connection {
  int descriptor;
  bool is_client;
  std::string arrived{};  ///< of a message that is not complete
  Clock::time_point asked_at{};
};

/// The size of the answer at the front of `data`; 0 while it is not complete.
std::size_t answer_size(std::string_view data) {
  const auto end = data.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  constexpr std::string_view name = "\r\nContent-Length: ";
  auto at = data.substr(0, end).find(name);
  if (at == std::string_view::npos)
    at = data.substr(0, end).find("\r\ncontent-length: ");  // as HAProxy writes it
  if (at == std::string_view::npos) throw std::runtime_error("an answer without Content-Length");
  std::size_t length = 0;
  std::from_chars(data.data() + at + name.size(), data.data() + end, length);
  const std::size_t size = end + 4 + length;
  return data.size() < size ? 0 : size;
}

class Load {
 public:
  explicit Load(const Settings& settings) : settings_(settings), key_(settings.first) {
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    listen();
    for (std::size_t key = 0; key < settings.keys; ++key) {
      std::array<char, 128> text{};
      const int size = std::snprintf(text.data(), text.size(),
                                     "GET /bench HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                                     "X-API-Key: key-%06zu\r\n%s\r\n",
                                     static_cast<unsigned>(settings.port), key,
                                     settings.closes ? "Connection: close\r\n" : "");
      requests_.emplace_back(text.data(), static_cast<std::size_t>(size));
    }
    answer_ =
        "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Fri, 01 Jan 2027 00:00:00 GMT\r\n"
        "Content-Type: text/plain\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n" +
        std::string(100, 'x');
  }

  Counts run() {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < settings_.connections; ++i)
      ask(add(connect(), true));
    std::array<epoll_event, 256> events{};
    for (auto now = start; now < start + settings_.time; now = Clock::now()) {
      const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 100);
      now_ = Clock::now();
      for (int i = 0; i < count; ++i) {
        auto* const connection =
            static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        connection == nullptr ? accept_all() : serve(*connection);
      }
    }
    return std::move(counts_);
  }

 private:
  void watch(int descriptor, Connection* connection) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  }

  Connection& add(int descriptor, bool is_client) {
    send_at_once(descriptor);
    connections_.push_back(std::make_unique<Connection>(Connection{descriptor, is_client}));
    watch(descriptor, connections_.back().get());
    return *connections_.back();
  }

  void listen() {
    listener_ = new_socket();
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address = local(settings_.upstream_port);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("the upstream's port");
    ::listen(listener_, SOMAXCONN);
    watch(listener_, nullptr);
  }

  int connect() const {
    const int descriptor = new_socket();
    const sockaddr_in address = local(settings_.port);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("the proxy does not take the connection");
    return descriptor;
  }

  void accept_all() {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) add(descriptor, false);
  }

  void ask(Connection& client) {
    // The step shares no factor with 100,000: every key comes before one comes again, and not in
    // the order of any table.
    key_ = (key_ + 61'803) % requests_.size();
    client.asked_at = now_;
    if (!send_all(client.descriptor, requests_[key_])) ++counts_.failed;
  }

  void serve(Connection& connection) {
    std::array<char, 16 * 1024> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    const ssize_t n = ::recv(connection.descriptor, room.data(), room.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return close(connection);
    const std::string_view piece(room.data(), static_cast<std::size_t>(n));
    std::string& arrived = connection.arrived;
    if (!arrived.empty()) arrived.append(piece);
    const std::string_view data = arrived.empty() ? piece : arrived;
    const std::size_t used =
        connection.is_client ? take_answer(connection, data) : answer(connection, data);
    if (used == data.size()) {
      arrived.clear();
    } else if (arrived.empty()) {
      arrived.assign(data.substr(used));
    } else {
      arrived.erase(0, used);
    }
  }

  std::size_t answer(const Connection& upstream, std::string_view data) const {
    const auto end = data.find("\r\n\r\n");
    if (end == std::string_view::npos) return 0;
    send_all(upstream.descriptor, answer_);
    return end + 4;
  }

  std::size_t take_answer(Connection& client, std::string_view data) {
    const std::size_t size = answer_size(data);
    if (size == 0) return 0;
    const std::string_view status = data.substr(9, 3);
    ++counts_.requests;
    counts_.refused += status == "429" ? 1 : 0;
    counts_.failed += status == "200" || status == "429" ? 0 : 1;
    counts_.add(now_ - client.asked_at);
    if (settings_.closes) reconnect(client);
    ask(client);
    return size;
  }

  void reconnect(Connection& client) {
    ::close(client.descriptor);
    client.descriptor = connect();
    send_at_once(client.descriptor);
    watch(client.descriptor, &client);
  }

  void close(Connection& connection) {
    if (connection.is_client) ++counts_.failed;
    ::close(connection.descriptor);
  }

  Settings settings_;
  Counts counts_;
  int poll_ = -1;
  int listener_ = -1;
  std::vector<std::string> requests_;
  std::string answer_;
  std::size_t key_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Clock::time_point now_ = Clock::now();
};

template <class Number>
void read(const char* text, Number& number) {
  const std::string_view view(text);
  if (std::from_chars(view.data(), view.data() + view.size(), number).ptr !=
      view.data() + view.size())
    throw std::runtime_error("not a number: " + std::string(view));
}

Settings settings_of(char** arguments) {
  Settings settings;
  std::int64_t seconds = 0;
  read(arguments[1], settings.port);
  read(arguments[2], settings.upstream_port);
  read(arguments[3], seconds);
  read(arguments[4], settings.connections);
  read(arguments[5], settings.keys);
  read(arguments[6], settings.first);
  settings.time = std::chrono::seconds(seconds);
  settings.closes = arguments[7] == std::string_view("close");
  return settings;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 8)
    throw std::runtime_error(
        "bench_load PORT UPSTREAM_PORT SECONDS CONNECTIONS KEYS FIRST keep|close");
  const Settings settings = settings_of(arguments);
  const Counts counts = Load(settings).run();
  std::printf("requests=%lu duration_us=%ld refused=%lu failed=%lu p50_us=%zu p99_us=%zu\n",
              counts.requests,
              std::chrono::duration_cast<std::chrono::microseconds>(settings.time).count(),
              counts.refused, counts.failed, counts.percentile(50), counts.percentile(99));
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_load: %s\n", error.what());
  return 1;
}
