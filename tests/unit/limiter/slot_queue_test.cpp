// Lines of requests that wait for slots: order, wake-ups, and random histories against a model.
#include "limiter/slot_queue.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace weir::limiter {
namespace {

using namespace std::chrono_literals;
using Leaves = SlotQueue::Leaves;

const Instant start = instant_from_us(1'700'000'000'000'000);
const store::Key key_a{.identity = {.low = 1, .high = 2}, .policy_id = 3};
const store::Key key_b{.identity = {.low = 1, .high = 2}, .policy_id = 4};

struct TestTicket final : QueueTicket {
  int calls = 0;
  bool has_memory = true;

 private:
  bool call() noexcept override {
    if (has_memory) ++calls;
    return has_memory;
  }
};

/// Asks the store, which denies.
void be_denied(SlotQueue& queue, TestTicket& ticket, Instant earliest, Instant poll_at) {
  queue.begin(ticket);
  queue.denied(ticket, earliest, poll_at);
}

}  // namespace

TEST_CASE("only the first ticket of a line is due") {
  SlotQueue queue;
  TestTicket first, second, other;
  CHECK(queue.is_empty());
  REQUIRE(queue.join(first, key_a, 2, start));
  REQUIRE(queue.join(second, key_a, 2, start));
  REQUIRE(queue.join(other, key_b, 2, start + 1s));
  CHECK(queue.due(first) == start);
  CHECK(queue.due(second) == Instant::max());
  CHECK(queue.due(other) == start + 1s);
  CHECK(queue.has_waiting(key_a));
  CHECK(queue.lines() == 2);
  be_denied(queue, first, start, start + 5s);
  CHECK(queue.due(first) == start + 5s);

  SECTION("an admission makes the next one due at once") {
    queue.leave(first, Leaves::admitted);
    CHECK(second.calls == 1);
    CHECK(queue.due(second) == Instant{});
  }
  SECTION("after a denial the next one keeps its time") {
    queue.leave(first, Leaves::denied);
    CHECK(second.calls == 1);
    CHECK(queue.due(second) == start + 5s);
  }
  SECTION("a ticket in the middle leaves without an effect on the others") {
    queue.leave(second, Leaves::denied);
    CHECK(first.calls == 0);
    CHECK(queue.due(first) == start + 5s);
  }
  for (TestTicket* const one : {&first, &second, &other})
    queue.leave(*one, Leaves::denied);
  CHECK(queue.is_empty());
  CHECK(queue.lines() == 0);
  CHECK_FALSE(queue.has_waiting(key_a));
}

TEST_CASE("a line has a limit of its own") {
  SlotQueue queue;
  TestTicket first, second, third, other;
  CHECK(queue.join(first, key_a, 2, start));
  CHECK(queue.join(second, key_a, 2, start));
  CHECK_FALSE(queue.join(third, key_a, 2, start));
  queue.leave(third, Leaves::denied);  // it is in no line
  CHECK(queue.join(other, key_b, 1, start));
  for (TestTicket* const one : {&first, &second, &other})
    queue.leave(*one, Leaves::denied);
  CHECK_FALSE(queue.join(first, key_a, 0, start));
}

TEST_CASE("a release makes the first ticket due, but not before its earliest time") {
  SlotQueue queue;
  TestTicket first, second;
  queue.released(key_a);  // no request waits
  queue.join(first, key_a, 2, start);
  queue.join(second, key_a, 2, start);
  be_denied(queue, first, start + 10ms, start + 15ms);
  queue.released(key_b);
  CHECK(first.calls == 0);
  queue.released(key_a);
  CHECK(first.calls == 1);
  CHECK(second.calls == 0);
  CHECK(queue.due(first) == start + 10ms);
  queue.released(key_a);
  CHECK(first.calls == 2);
  for (TestTicket* const one : {&first, &second})
    queue.leave(*one, Leaves::denied);
}

TEST_CASE("a release between a question and its answer is not missed") {
  SlotQueue queue;
  TestTicket first;
  queue.join(first, key_a, 2, start);
  queue.begin(first);
  queue.released(key_a);
  queue.denied(first, start + 10ms, start + 20ms);
  CHECK(queue.due(first) == start + 10ms);
  be_denied(queue, first, start + 10ms, start + 20ms);
  CHECK(queue.due(first) == start + 20ms);
  queue.leave(first, Leaves::denied);
}

TEST_CASE("a ticket is called once until it looks, and again if it could not be called") {
  SlotQueue queue;
  TestTicket first;
  queue.join(first, key_a, 2, start);
  first.has_memory = false;
  queue.released(key_a);
  CHECK(first.calls == 0);
  first.has_memory = true;
  queue.released(key_a);
  queue.released(key_a);
  CHECK(first.calls == 1);
  queue.due(first);
  queue.released(key_a);
  CHECK(first.calls == 2);
  queue.leave(first, Leaves::denied);
}

TEST_CASE("a ticket that moves keeps its place by arrival") {
  SlotQueue queue;
  TestTicket first, second, third;
  queue.join(first, key_a, 9, start);
  queue.join(second, key_a, 9, start);
  queue.join(third, key_b, 9, start);
  CHECK(queue.move(first, key_b, 9, start + 10ms));
  CHECK(second.calls == 1);  // it is the first of its line now
  CHECK(queue.due(second) == Instant{});
  CHECK(queue.due(third) == Instant::max());
  CHECK(queue.due(first) == start);  // the time of its new line
  CHECK_FALSE(queue.move(second, key_b, 2, start));
  queue.leave(second, Leaves::denied);
  for (TestTicket* const one : {&first, &third})
    queue.leave(*one, Leaves::denied);
  CHECK(queue.is_empty());
}

namespace {

/// A store with slots, requests that wait for them, and the order in which they must get them.
class QueueModel {
 public:
  explicit QueueModel(unsigned seed) : random_(seed) {}

  void step() {
    switch (below(6)) {
      case 0:
      case 1:
        return arrive(below(3));
      case 2:
        return finish(below(3));
      case 3:
        return leave();
      case 4:
        return begin();
      default:
        return answer();
    }
  }
  /// Lets every called ticket ask until nothing changes. Then no slot is free while requests wait.
  void settle() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      while (asking_) {
        answer();
        has_changed = true;
      }
      for (std::size_t key = 0; key < 3 && !has_changed; ++key) {
        auto& line = lines_[key];
        if (line.empty() || queue_.due(*line.front()) > now_) continue;
        begin_with(key);
        has_changed = true;
      }
    }
    for (std::size_t key = 0; key < 3; ++key) {
      if (!lines_[key].empty()) CHECK(used_[key] == slots);
      CHECK(queue_.has_waiting(keys[key]) == !lines_[key].empty());
    }
  }
  void drain() {
    for (auto& line : lines_) {
      for (auto& ticket : line)
        queue_.leave(*ticket, Leaves::denied);
      line.clear();
    }
    CHECK(queue_.is_empty());
    CHECK(queue_.lines() == 0);
  }

 private:
  static constexpr int slots = 2;
  static constexpr std::int64_t places = 5;
  inline static const store::Key keys[3]{key_a, key_b, {.identity = {.low = 9}, .policy_id = 3}};
  struct Asking {
    std::size_t key = 0;
    bool is_admitted = false;  ///< the store has decided, the answer is on its way
  };

  std::size_t below(std::size_t most) { return random_() % most; }

  /// As a request does: those that wait are not overtaken.
  void arrive(std::size_t key) {
    if (!queue_.has_waiting(keys[key]) && used_[key] < slots) {
      ++used_[key];
      return;
    }
    auto ticket = std::make_unique<TestTicket>();
    const bool has_joined = queue_.join(*ticket, keys[key], places, now_);
    CHECK(has_joined == (lines_[key].size() < static_cast<std::size_t>(places)));
    if (has_joined) lines_[key].push_back(std::move(ticket));
  }
  void finish(std::size_t key) {
    if (used_[key] == 0) return;
    --used_[key];
    queue_.released(keys[key]);
  }
  void leave() {
    const std::size_t key = below(3);
    auto& line = lines_[key];
    if (line.empty()) return;
    const std::size_t index = below(line.size());
    if (index == 0 && asking_ && asking_->key == key) return;  // it waits for the store
    queue_.leave(*line[index], Leaves::denied);
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void begin() {
    const std::size_t key = below(3);
    if (asking_ || lines_[key].empty() || queue_.due(*lines_[key].front()) > now_) return;
    for (std::size_t i = 1; i < lines_[key].size(); ++i)
      CHECK(queue_.due(*lines_[key][i]) == Instant::max());
    begin_with(key);
  }
  void begin_with(std::size_t key) {
    queue_.begin(*lines_[key].front());
    asking_ = Asking{.key = key, .is_admitted = used_[key] < slots};
    if (asking_->is_admitted) ++used_[key];
  }
  void answer() {
    if (!asking_) return;
    const Asking asked = *std::exchange(asking_, std::nullopt);
    TestTicket& ticket = *lines_[asked.key].front();
    if (!asked.is_admitted) return queue_.denied(ticket, now_, Instant::max());
    queue_.leave(ticket, Leaves::admitted);
    lines_[asked.key].pop_front();
  }

  std::mt19937 random_;
  SlotQueue queue_;
  Instant now_ = start;
  std::array<std::deque<std::unique_ptr<TestTicket>>, 3> lines_;
  std::array<int, 3> used_{};
  std::optional<Asking> asking_;
};

}  // namespace

TEST_CASE("random histories: first come first served, and no free slot while requests wait") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    QueueModel model(seed);
    for (int round = 0; round < 40; ++round) {
      for (int i = 0; i < 10; ++i)
        model.step();
      model.settle();
    }
    model.drain();
  }
}

namespace {

/// A thread that waits for a slot without polling: it depends on every wake-up.
class Waiter final : public QueueTicket {
 public:
  ~Waiter() = default;
  void wait_until_due(SlotQueue& queue) {
    while (queue.due(*this) == Instant::max()) {
      std::unique_lock lock(mutex_);
      called_.wait(lock, [&] { return is_called_; });
      is_called_ = false;
    }
  }

 private:
  bool call() noexcept override {
    const std::lock_guard lock(mutex_);
    is_called_ = true;
    called_.notify_one();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable called_;
  bool is_called_ = false;
};

bool take(std::atomic<int>& free) {
  int count = free.load();
  while (count > 0) {
    if (free.compare_exchange_weak(count, count - 1)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("threads that wait without polling miss no release") {
  constexpr int threads = 4, rounds = 2'000;
  SlotQueue queue;
  std::atomic<int> free{2}, passed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        Waiter waiter;
        if (queue.has_waiting(key_a) || !take(free)) {
          queue.join(waiter, key_a, threads, start);
          for (;;) {
            waiter.wait_until_due(queue);
            queue.begin(waiter);
            if (take(free)) break;
            queue.denied(waiter, start, Instant::max());
          }
          queue.leave(waiter, Leaves::admitted);
        }
        passed.fetch_add(1);
        free.fetch_add(1);
        queue.released(key_a);
      }
    });
  }
  for (std::thread& one : all)
    one.join();
  CHECK(passed == threads * rounds);
  CHECK(free == 2);
  CHECK(queue.is_empty());
}

}  // namespace weir::limiter
