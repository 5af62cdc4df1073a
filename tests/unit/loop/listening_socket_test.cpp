#include "loop/listening_socket.hpp"

#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "catch.hpp"

namespace weir::loop {
namespace {

namespace fs = std::filesystem;

struct Directory {
  Directory() {
    std::string name = (fs::temp_directory_path() / "weir-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Directory() { fs::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  Endpoint socket() const {
    return {.host = {}, .port = 0, .unix_path = (path / "weir.sock").string()};
  }
  fs::path path;
};

Endpoint on(const std::string& host, std::uint16_t port = 0) {
  return {.host = host, .port = port, .unix_path = {}};
}

/// Leaves a socket file without a listener.
void leave_behind(const Endpoint& address) {
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  address.unix_path.copy(name.sun_path, sizeof name.sun_path - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  ::close(descriptor);
}

/// A client at 127.0.0.1.
class Connection {
 public:
  explicit Connection(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
  }
  ~Connection() { ::close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

 private:
  int descriptor_;
};

TEST_CASE("a port of 0 becomes the one that the system chose, and names become addresses") {
  const auto bound = listen_on(on("localhost"), 3);
  REQUIRE(bound.has_value());
  CHECK(bound->sockets.size() == 3);
  CHECK(bound->endpoint.host == "localhost");
  CHECK(bound->endpoint.port != 0);
  CHECK(bound->local.port == bound->endpoint.port);
  CHECK((bound->local.host == "127.0.0.1" || bound->local.host == "::1"));
}

TEST_CASE("an address in use is a problem, unless it is leaving") {
  const auto first = listen_on(on("127.0.0.1"), 1);
  REQUIRE(first.has_value());
  const Endpoint all = on("0.0.0.0", first->local.port);
  const auto refused = listen_on(all, 1);
  REQUIRE(refused.has_error());
  CHECK(refused.error().message ==
        "cannot listen on " + all.to_string() +
            ": Address already in use; another process or listener has it: stop that one or choose "
            "another address");
  std::optional<Endpoint> asked;
  const auto second = listen_on(all, 2, [&](const Endpoint& local) {
    asked = local;
    return true;
  });
  CHECK(second.has_value());
  CHECK(asked == all);
}

TEST_CASE("an address is tried without listening on it") {
  const auto claims_nothing = [](const Endpoint&) { return false; };
  const auto first = listen_on(on("127.0.0.1"), 1);
  REQUIRE(first.has_value());
  const ListenTrial taken = try_listening(first->local, claims_nothing);
  CHECK(taken.is_taken);
  REQUIRE(taken.problem);
  CHECK(taken.local == first->local);
  const ListenTrial ours =
      try_listening(first->local, [&](const Endpoint& local) { return local == first->local; });
  CHECK(ours.problem);
  CHECK_FALSE(ours.is_taken);
  const ListenTrial free = try_listening(on("127.0.0.1"), claims_nothing);
  CHECK_FALSE(free.problem);
  const ListenTrial foreign = try_listening(on("203.0.113.1"), claims_nothing);
  REQUIRE(foreign.problem);
  CHECK_FALSE(foreign.is_taken);
  CHECK(foreign.problem->message ==
        "cannot listen on 203.0.113.1:0: Cannot assign requested address; no network interface of "
        "this machine has it: use 0.0.0.0 for all of them");
  const Endpoint missing{.host = {}, .port = 0, .unix_path = "/no-such-folder/weir.sock"};
  const ListenTrial folder = try_listening(missing, claims_nothing);
  REQUIRE(folder.problem);
  CHECK(folder.problem->message ==
        "cannot listen on unix:/no-such-folder/weir.sock: No such file or directory; create the "
        "folder \"/no-such-folder\" first");
}

TEST_CASE("a socket that overlaps one that is leaving takes connections when it is started") {
  const auto leaving = listen_on(on("0.0.0.0"), 1);
  REQUIRE(leaving.has_value());
  auto next = listen_on(on("127.0.0.1", leaving->local.port), 1, [](const auto&) { return true; });
  REQUIRE(next.has_value());
  const auto accepted_by_next = [&] {
    const Connection client(next->local.port);
    const int accepted = ::accept(next->sockets.front().native(), nullptr, nullptr);
    if (accepted >= 0) ::close(accepted);
    return accepted >= 0;
  };
  CHECK_FALSE(accepted_by_next());
  CHECK(start_listening(*next).has_value());
  CHECK(accepted_by_next());
  CHECK(start_listening(*next).has_value());
}

TEST_CASE("the file of a unix socket goes with its sockets") {
  const Directory in;
  leave_behind(in.socket());
  {
    const auto bound = listen_on(in.socket(), 2);
    REQUIRE(bound.has_value());
    CHECK(listen_on(in.socket(), 1).has_error());
    CHECK(fs::exists(in.socket().unix_path));
  }
  CHECK_FALSE(fs::exists(in.socket().unix_path));
}

TEST_CASE("a file that replaced the socket stays") {
  const Directory in;
  {
    auto bound = listen_on(in.socket(), 1);
    REQUIRE(bound.has_value());
    fs::remove(in.socket().unix_path);
    std::ofstream(in.socket().unix_path) << "x";
    SocketFile moved = std::move(bound->file);
    moved = SocketFile();
  }
  CHECK(fs::exists(in.socket().unix_path));
  CHECK(listen_on(in.socket(), 1).has_error());
  CHECK(fs::exists(in.socket().unix_path));
}

}  // namespace
}  // namespace weir::loop
