#include "loop/handshake_queue.hpp"

#include <array>
#include <string>

#include "catch.hpp"

namespace weir::loop {
namespace {

struct NamedEntry : HandshakeQueue::Entry {
  char name = '?';
};

/// Entries a to h, which leave at the end, as handshakes do.
struct Script {
  Script() {
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i].name = static_cast<char>('a' + i);
  }
  ~Script() {
    for (NamedEntry& entry : entries)
      queue.leave(entry);
  }
  NamedEntry& operator[](char name) { return entries.at(static_cast<std::size_t>(name - 'a')); }
  void wait(std::string_view names) {
    for (const char name : names)
      queue.wait((*this)[name]);
  }
  void begin(std::string_view names, std::size_t most = 100) {
    for (const char name : names)
      CHECK(queue.begin((*this)[name], most) == nullptr);
  }
  /// The names of all waiting entries, in the order of their turns.
  std::string turns() {
    std::string order;
    while (const auto* const next = static_cast<NamedEntry*>(queue.next()))
      order += next->name;
    return order;
  }

  HandshakeQueue queue;
  std::array<NamedEntry, 8> entries;
};

TEST_CASE("handshakes get their turns in the order of asking") {
  Script script;
  CHECK(script.queue.next() == nullptr);
  script.wait("cab");
  CHECK(script.queue.waiting() == 3);
  CHECK(script.turns() == "cab");
  CHECK(script.queue.waiting() == 0);
}

TEST_CASE("handshakes in progress and new ones get turns alternately") {
  Script script;
  script.begin("abcd");
  script.wait("aefbgcd");
  CHECK(script.turns() == "aebfcgd");
}

TEST_CASE("a bound that was lowered makes several of the oldest leave") {
  Script script;
  script.begin("abcd");
  std::string left;
  auto* oldest = static_cast<NamedEntry*>(script.queue.begin(script['e'], 2));
  for (; oldest != nullptr; oldest = static_cast<NamedEntry*>(script.queue.oldest_beyond(2))) {
    left += oldest->name;
    script.queue.leave(*oldest);
  }
  CHECK(left == "abc");
  CHECK(script.queue.in_progress() == 2);
}

TEST_CASE("neither kind holds up the other by asking again and again") {
  Script script;
  script.begin("a");
  script.wait("abcd");
  std::string order;
  for (int turn = 0; turn < 6; ++turn) {
    auto* const next = static_cast<NamedEntry*>(script.queue.next());
    order += next->name;
    if (next->name == 'a') script.queue.wait(*next);
  }
  CHECK(order == "abacad");
  for (int turn = 0; turn < 3; ++turn) {  // no turn is lost when only one kind is left
    auto* const next = static_cast<NamedEntry*>(script.queue.next());
    REQUIRE(next != nullptr);
    CHECK(next->name == 'a');
    script.queue.wait(*next);
  }
}

TEST_CASE("one more than may be in progress displaces the oldest, whatever it does") {
  Script script;
  script.begin("abc", 3);
  script.wait("a");
  CHECK(script.queue.begin(script['d'], 3) == &script['a']);
  script.queue.leave(script['a']);
  CHECK_FALSE(script['a'].is_waiting());
  CHECK_FALSE(script['a'].is_in_progress());
  CHECK(script.queue.in_progress() == 3);
  CHECK(script.queue.next() == nullptr);

  script.queue.leave(script['b']);  // it has ended
  CHECK(script.queue.begin(script['e'], 3) == nullptr);
  CHECK(script.queue.begin(script['f'], 3) == &script['c']);
}

TEST_CASE("one that withdraws gets no turn and stays in progress") {
  Script script;
  script.begin("a");
  script.wait("abc");
  script.queue.withdraw(script['a']);
  script.queue.withdraw(script['b']);
  script.queue.withdraw(script['b']);
  CHECK(script['a'].is_in_progress());
  CHECK(script.turns() == "c");
}

}  // namespace
}  // namespace weir::loop
