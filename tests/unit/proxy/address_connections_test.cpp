#include "proxy/address_connections.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;
using Bound = AddressConnections::Bound;
using AddressSlot = AddressConnections::Slot;

constexpr Instant start_of_addresses{1'000s};

IpAddress client_number(std::uint8_t number) {
  return IpAddress::v4({192, 0, 2, number});
}

options::PerAddress at_most(std::size_t connections) {
  return {.connections = connections};
}

options::PerAddress no_faster(std::int64_t count, Duration per) {
  return {.rate = rules::compile({.rates = {{.count = count, .per = per}}}).value()};
}

/// A table, and the connections that it has admitted.
struct Table {
  explicit Table(std::size_t most_idle = 1'000)
      : table({.key = {.k0 = 1, .k1 = 2}, .most_idle = most_idle}) {}

  Bound open(std::uint8_t client, const options::PerAddress& bounds, Duration at = {}) {
    AddressSlot slot;
    const Bound bound = table.admit(client_number(client), bounds, start_of_addresses + at, slot);
    CHECK(slot.is_taken() == (bound == Bound::none));
    if (slot.is_taken()) open_connections.emplace(client, std::move(slot));
    return bound;
  }
  void close(std::uint8_t client) { open_connections.erase(open_connections.find(client)); }

  AddressConnections table;
  std::multimap<std::uint8_t, AddressSlot> open_connections;
};

TEST_CASE("each address has its own bound of open connections") {
  Table table;
  CHECK(table.open(1, at_most(2)) == Bound::none);
  CHECK(table.open(1, at_most(2)) == Bound::none);
  CHECK(table.open(1, at_most(2)) == Bound::connections);
  CHECK(table.open(2, at_most(2)) == Bound::none);
  table.close(1);
  CHECK(table.open(1, at_most(2)) == Bound::none);
  CHECK(table.open(1, at_most(2)) == Bound::connections);
}

TEST_CASE("an address without connections is forgotten at once if there is no rate") {
  Table table;
  table.open(1, at_most(2));
  table.open(1, at_most(2));
  table.open(2, at_most(2));
  CHECK(table.table.size() == 2);
  table.close(1);
  CHECK(table.table.size() == 2);
  table.close(1);
  table.close(2);
  CHECK(table.table.size() == 0);
}

TEST_CASE("new connections are limited by GCRA, whether earlier ones are open or not") {
  const auto bounds = no_faster(2, 1s);
  Table table;
  CHECK(table.open(1, bounds) == Bound::none);
  CHECK(table.open(1, bounds) == Bound::none);
  CHECK(table.open(1, bounds) == Bound::rate);
  CHECK(table.open(2, bounds) == Bound::none);
  table.close(1);
  table.close(1);
  CHECK(table.open(1, bounds, 499ms) == Bound::rate);
  CHECK(table.open(1, bounds, 500ms) == Bound::none);
  CHECK(table.open(1, bounds, 500ms) == Bound::rate);
}

TEST_CASE("a connection beyond the bound of open ones is not charged to the rate") {
  auto bounds = no_faster(2, 1s);
  bounds.connections = 1;
  Table table;
  CHECK(table.open(1, bounds) == Bound::none);
  for (int i = 0; i < 5; ++i)
    CHECK(table.open(1, bounds) == Bound::connections);
  table.close(1);
  CHECK(table.open(1, bounds) == Bound::none);
  table.close(1);
  CHECK(table.open(1, bounds) == Bound::rate);
}

TEST_CASE("a worker whose time is earlier than that of another is served all the same") {
  const auto bounds = no_faster(2, 1s);
  Table table;
  CHECK(table.open(1, bounds, 1ms) == Bound::none);
  CHECK(table.open(1, bounds, 0ms) == Bound::none);
}

TEST_CASE("connections that existed before the bound count") {
  Table table;
  const AddressSlot first = table.table.count(client_number(1));
  {
    const AddressSlot second = table.table.count(client_number(1));
    CHECK(table.open(1, at_most(1)) == Bound::connections);
    CHECK(table.open(1, at_most(2)) == Bound::connections);
    CHECK(table.open(1, at_most(3)) == Bound::none);
    table.close(1);
  }
  CHECK(table.open(1, at_most(2)) == Bound::none);
}

TEST_CASE("an address is kept until its rate has recovered") {
  const auto bounds = no_faster(2, 1s);
  Table table;
  table.open(1, bounds);
  table.open(1, bounds);
  table.close(1);
  table.close(1);
  table.open(2, bounds, 999ms);
  CHECK(table.table.size() == 2);
  table.open(2, bounds, 1s);
  CHECK(table.table.size() == 1);
}

TEST_CASE("idle addresses are forgotten when there is no rate any more") {
  const auto bounds = no_faster(1, 1h);
  Table table;
  table.open(1, bounds);
  table.close(1);
  table.open(2, at_most(1));
  CHECK(table.table.size() == 1);
}

TEST_CASE("of too many idle addresses the one seen least recently is forgotten") {
  const auto bounds = no_faster(1, 1h);
  Table table(2);
  for (const std::uint8_t client : {std::uint8_t{1}, std::uint8_t{2}}) {
    table.open(client, bounds);
    table.close(client);
  }
  CHECK(table.open(1, bounds) == Bound::rate);  // seen again: 2 is next
  table.open(3, bounds);
  table.open(4, bounds);
  CHECK(table.table.size() == 4);  // those with connections do not count
  table.close(3);
  CHECK(table.table.size() == 3);
  CHECK(table.open(1, bounds) == Bound::rate);
  CHECK(table.open(3, bounds) == Bound::rate);
  CHECK(table.open(2, bounds) == Bound::none);
}

TEST_CASE("refusals are logged once a minute for each bound") {
  Table table;
  CHECK(table.table.may_log(Bound::connections, start_of_addresses));
  CHECK(table.table.may_log(Bound::rate, start_of_addresses));
  CHECK_FALSE(table.table.may_log(Bound::connections, start_of_addresses + 59s));
  CHECK(table.table.may_log(Bound::connections, start_of_addresses + 60s));
  CHECK_FALSE(table.table.may_log(Bound::connections, start_of_addresses + 61s));
}

/// The same bounds, with nothing forgotten. The rate is that of the text book: with whole
/// microseconds for a connection.
class Model {
 public:
  Model(std::int64_t burst, Duration interval) : burst_(burst), interval_(interval) {}

  Bound open(std::uint8_t client, std::size_t most, Instant now) {
    if (most != 0 && open_[client] >= most) return Bound::connections;
    const Instant next = std::max(recovered_at_[client], now) + interval_;
    if (next - now > burst_ * interval_) return Bound::rate;
    recovered_at_[client] = next;
    ++open_[client];
    return Bound::none;
  }
  void close(std::uint8_t client) { --open_[client]; }
  std::size_t remembered(Instant now) const {
    std::size_t count = 0;
    for (const auto& [client, open] : open_)
      count += open != 0 || recovered_at_.at(client) > now;
    return count;
  }

 private:
  std::int64_t burst_;
  Duration interval_;
  std::map<std::uint8_t, std::size_t> open_;
  std::map<std::uint8_t, Instant> recovered_at_;
};

TEST_CASE("random histories agree with a model that forgets nothing") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int history = 0; history < 50; ++history) {
    const auto burst = static_cast<std::int64_t>(1 + below(5));
    const Duration interval{1 + static_cast<std::int64_t>(below(5'000))};
    auto bounds = no_faster(burst, burst * interval);
    bounds.connections = below(5);
    const std::uint64_t clients = 1 + below(20);
    Table table;
    Model model(burst, interval);
    Duration at{0};
    for (int step = 0; step < 1'000; ++step) {
      at += Duration{static_cast<std::int64_t>(below(2) * below(3'000))};
      const auto client = static_cast<std::uint8_t>(below(clients));
      if (table.open_connections.contains(client) && below(2) == 0) {
        table.close(client);
        model.close(client);
      } else {
        const Bound expected = model.open(client, bounds.connections, start_of_addresses + at);
        INFO("history " << history << " step " << step);
        REQUIRE(table.open(client, bounds, at) == expected);
        REQUIRE(table.table.size() >= model.remembered(start_of_addresses + at));
      }
      if (below(50) == 0) bounds.connections = below(5);
    }
    table.open_connections.clear();
    for (std::uint8_t i = 0; i < 30; ++i) {  // each looks at two
      table.open(100, at_most(0), at + 1h);
      table.open_connections.clear();
    }
    REQUIRE(table.table.size() <= 1);
  }
}

}  // namespace
}  // namespace weir::proxy::test
