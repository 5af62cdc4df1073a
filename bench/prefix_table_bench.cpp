// The cost of a table of address prefixes: the time to build it, and the time of one look-up of
// random addresses, half of them in the table.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "base/prefix_table.hpp"

namespace weir::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int finds = 10'000'000;

struct Shape {
  const char* name;
  bool is_v4;
  int shortest;  ///< length of a prefix, of 128 bits
  int longest;
};

constexpr Shape shapes[] = {{"IPv4 /12 to /32", true, 108, 128},
                            {"IPv6 /32 to /64", false, 32, 64}};

IpAddress random_address(std::mt19937_64& random, bool is_v4) {
  std::array<std::uint8_t, 16> bytes{};
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>(random());
  if (is_v4) return IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
  bytes[0] = 0x20;
  return IpAddress::v6(bytes);
}

void measure(const Shape& shape, int prefixes) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> lengths(shape.shortest, shape.longest);
  std::vector<IpPrefix> list;
  std::vector<IpAddress> wanted;
  for (int i = 0; i < prefixes; ++i) {
    const IpAddress address = random_address(random, shape.is_v4);
    list.push_back(IpPrefix::around(address, lengths(random)));
    wanted.push_back(address);
    wanted.push_back(random_address(random, shape.is_v4));
  }
  std::shuffle(wanted.begin(), wanted.end(), random);
  auto began_at = Clock::now();
  const PrefixTable table(std::move(list));
  const std::chrono::duration<double> built = Clock::now() - began_at;
  began_at = Clock::now();
  std::size_t found = 0;
  for (std::size_t i = 0, at = 0; i < finds; ++i, at = at + 1 == wanted.size() ? 0 : at + 1)
    found += table.contains(wanted[at]) ? 1 : 0;
  const std::chrono::duration<double> took = Clock::now() - began_at;
  std::printf("%s, %zu prefixes: built in %.1f ms, %.1f ns a look-up, %zu%% found\n", shape.name,
              table.size(), built.count() * 1e3, took.count() / finds * 1e9, found * 100 / finds);
}

}  // namespace
}  // namespace weir::bench

int main() {
  for (const auto& shape : weir::bench::shapes) {
    for (const int prefixes : {10, 1'000, 100'000})
      weir::bench::measure(shape, prefixes);
  }
}
