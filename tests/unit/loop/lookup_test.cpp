// Lookups without a network: of addresses, of localhost, and of names that getaddrinfo(), replaced
// in this program, answers when the test allows it.
#include "loop/lookup.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <optional>
#include <string_view>
#include <thread>

#include "catch.hpp"

namespace weir::loop {
namespace {

/// Held by a test while names that end in ".held" have no answer.
std::mutex held;

using Found = std::optional<Result<Addresses>>;

}  // namespace
}  // namespace weir::loop

/// The one of the C library, except for NAME.held, which is 127.0.0.1 once `held` is free, and
/// six.test, which is fe80::1 in the scope 1 whatever addresses this machine has.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using Resolve = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto resolve = reinterpret_cast<Resolve>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string_view text = name == nullptr ? "" : name;
  if (text == "six.test") {
    addrinfo numeric{};
    numeric.ai_socktype = hints->ai_socktype;
    numeric.ai_flags = AI_NUMERICHOST;
    return resolve("fe80::1%1", service, &numeric, found);
  }
  if (!text.ends_with(".held")) return resolve(name, service, hints, found);
  const std::lock_guard lock(weir::loop::held);
  return resolve("127.0.0.1", service, hints, found);
}

namespace weir::loop {
namespace {

/// Looks up one name on a loop of its own.
Result<Addresses> look_up(const std::string& host, std::uint16_t port) {
  asio::io_context io;
  Found found;
  const Lookup lookup(io, host, port, [&](Result<Addresses> result) {
    REQUIRE_FALSE(found.has_value());
    found = std::move(result);
  });
  CHECK_FALSE(found.has_value());  // only the loop calls
  const auto work = asio::make_work_guard(io);
  while (!found)
    io.run_one();
  io.poll();
  return *found;
}

/// A lookup that ends reports before its thread does, so the next one may be refused for a moment.
class Patience {
 public:
  void wait() {
    REQUIRE(++tries_ < 1'000'000);
    std::this_thread::yield();
  }

 private:
  int tries_ = 0;
};

/// As many lookups as the process may have, which wait for `held`.
struct Waiting {
  Waiting() {
    Patience patience;
    while (lookups.size() < most_lookups) {
      auto next = std::make_unique<Lookup>(
          io, "a.held", 80, [this](const auto& result) { ++(result ? ends : refusals); });
      const std::size_t before = refusals;
      io.restart();
      io.poll();  // a refusal is on the loop already
      if (refusals == before) {
        lookups.push_back(std::move(next));
      } else {
        patience.wait();
      }
    }
  }
  asio::io_context io;
  std::vector<std::unique_ptr<Lookup>> lookups;
  std::size_t refusals = 0;
  std::size_t ends = 0;
};

void wait_for_a_turn() {
  for (Patience patience; !look_up("127.0.0.1", 80);)
    patience.wait();
}

TEST_CASE("an address and a name with addresses become endpoints with the port") {
  struct Row {
    const char* host;
    std::uint16_t port;
    const char* address;
  };
  for (const auto& row : {Row{"127.0.0.1", 80, "127.0.0.1"}, Row{"192.0.2.1", 65535, "192.0.2.1"},
                          Row{"six.test", 443, "fe80::1"}}) {
    const auto found = look_up(row.host, row.port);
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 1);
    asio::ip::address address = found->front().address();
    if (address.is_v6()) {
      CHECK(address.to_v6().scope_id() == 1);
      address = asio::ip::address_v6(address.to_v6().to_bytes());
    }
    CHECK(address.to_string() == row.address);
    CHECK(found->front().port() == row.port);
  }
}

TEST_CASE("each address of localhost is this machine, and listed once") {
  const auto found = look_up("localhost", 8080);
  REQUIRE(found.has_value());
  REQUIRE_FALSE(found->empty());
  for (const auto& endpoint : *found) {
    CHECK(endpoint.address().is_loopback());
    CHECK(endpoint.port() == 8080);
    CHECK(std::ranges::count(*found, endpoint) == 1);
  }
}

TEST_CASE("a name without addresses is a problem with the reason of the system") {
  const auto found = look_up(std::string(64, 'x'), 80);  // too long: no server is asked
  REQUIRE(found.has_error());
  CHECK(found.error().message == ::gai_strerror(EAI_NONAME));
}

TEST_CASE("lookups beyond the bound fail at once, and one that ends makes room") {
  std::unique_lock hold(held);
  Waiting waiting;
  for (int i = 0; i < 3; ++i) {
    const auto refused = look_up("127.0.0.1", 80);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "too many names are being looked up");
  }
  CHECK(waiting.io.poll() == 0);
  CHECK(waiting.ends == 0);
  hold.unlock();
  waiting.io.restart();
  const auto work = asio::make_work_guard(waiting.io);
  while (waiting.ends < most_lookups)
    waiting.io.run_one();
  wait_for_a_turn();
}

TEST_CASE("the end of a Lookup keeps its result away, before and after it is on the loop") {
  std::unique_lock hold(held);
  auto waiting = std::make_unique<Waiting>();
  bool is_called = false;
  {  // refused, so its result is on the loop
    const Lookup refused(waiting->io, "127.0.0.1", 80, [&](const auto&) { is_called = true; });
  }
  waiting->lookups.clear();
  waiting->io.poll();
  CHECK_FALSE(is_called);
  waiting.reset();  // the threads outlive the loop
  CHECK(look_up("127.0.0.1", 80).has_error());
  hold.unlock();
  wait_for_a_turn();
}

}  // namespace
}  // namespace weir::loop
