#include "app/webhook_queue.hpp"

#include <map>
#include <set>

#include "base/random.hpp"
#include "catch.hpp"
#include "seed.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

const Instant queue_epoch = instant_from_us(1'700'000'000'000'000);

Result<fetch::Answer> status_answer(int status) {
  return fetch::Answer{.status = status};
}

struct TimedQueue {
  bool add(const std::string& body) { return queue.add(body, now); }
  /// The bodies of the events that are sent now, and their numbers.
  std::vector<std::string> start() {
    std::vector<std::string> bodies;
    for (const auto& post : queue.start(now)) {
      numbers[post.body] = post.number;
      bodies.push_back(post.body);
    }
    return bodies;
  }
  void fail(const std::string& body, std::optional<Duration> retry_after = {}) {
    queue.on_failed(numbers.at(body), now, retry_after, 0);
  }

  Instant now = queue_epoch;
  WebhookQueue queue;
  std::map<std::string, std::uint64_t> numbers;
};

using Bodies = std::vector<std::string>;

}  // namespace

TEST_CASE("what an answer of a webhook means") {
  struct Row {
    int status;
    Delivery delivery;
  };
  for (const Row& row : {
           Row{200, Delivery::done},
           Row{204, Delivery::done},
           Row{299, Delivery::done},
           Row{101, Delivery::rejected},
           Row{301, Delivery::rejected},
           Row{400, Delivery::rejected},
           Row{401, Delivery::rejected},
           Row{404, Delivery::rejected},
           Row{408, Delivery::again},
           Row{425, Delivery::again},
           Row{429, Delivery::again},
           Row{500, Delivery::again},
           Row{599, Delivery::again},
       }) {
    CAPTURE(row.status);
    CHECK(delivery_of(status_answer(row.status)) == row.delivery);
  }
  CHECK(delivery_of(Problem{"cannot connect"}) == Delivery::again);
  CHECK(undelivered_because(Problem{"cannot connect"}) == "cannot connect");
  CHECK(undelivered_because(status_answer(503)) == "it answered 503");
  CHECK(undelivered_because(status_answer(307)) ==
        "it answered 307; redirects are not followed, so set the URL that it leads to");
}

TEST_CASE("a few events are sent at a time, in their order") {
  TimedQueue timed;
  CHECK(timed.start().empty());
  CHECK_FALSE(timed.queue.next_at());
  for (const std::string body : {"a", "b", "c", "d", "e"})
    CHECK(timed.add(body));
  CHECK(timed.queue.next_at());
  CHECK(timed.start() == Bodies{"a", "b", "c", "d"});
  CHECK_FALSE(timed.queue.next_at());
  timed.queue.on_done(timed.numbers["b"]);
  CHECK(timed.start() == Bodies{"e"});
  CHECK(timed.queue.size() == 4);
  for (const std::string body : {"a", "c", "d", "e"})
    timed.queue.on_done(timed.numbers[body]);
  CHECK(timed.queue.size() == 0);
}

TEST_CASE("each failure in a row doubles the pause, and one request tests the receiver") {
  TimedQueue timed;
  timed.add("a");
  timed.add("b");
  CHECK(timed.start() == Bodies{"a", "b"});
  timed.fail("a");
  timed.fail("b");  // at the same time: it does not count again
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    CAPTURE(pause.count());
    CHECK(timed.queue.next_at() == timed.now + pause);
    timed.now += pause - 1us;
    CHECK(timed.start().empty());
    timed.now += 1us;
    const Bodies sent = timed.start();
    REQUIRE(sent.size() == 1);
    timed.fail(sent[0]);
  }
  CHECK(timed.queue.is_failing());
  timed.now += 30s;
  const Bodies sent = timed.start();
  REQUIRE(sent.size() == 1);
  timed.queue.on_done(timed.numbers[sent[0]]);
  CHECK_FALSE(timed.queue.is_failing());
  CHECK(timed.start().size() == 1);
}

TEST_CASE("an event that fails does not delay the others") {
  TimedQueue timed;
  timed.add("poison");
  timed.add("good");
  timed.start();
  timed.queue.on_done(timed.numbers["good"]);
  timed.fail("poison");
  timed.add("next");
  timed.now += 1s;
  CHECK(timed.start() == Bodies{"poison"});
  timed.fail("poison");
  timed.now += 2s;
  CHECK(timed.start() == Bodies{"next"});
}

TEST_CASE("the random part of a pause is at most half of it") {
  for (const std::uint64_t random :
       {std::uint64_t{0}, std::uint64_t{12'345'678'901}, ~std::uint64_t{0}}) {
    WebhookQueue queue;
    queue.add("a", queue_epoch);
    const auto posts = queue.start(queue_epoch);
    queue.on_failed(posts.at(0).number, queue_epoch, {}, random);
    CHECK(*queue.next_at() >= queue_epoch + 500ms);
    CHECK(*queue.next_at() <= queue_epoch + 1s);
  }
}

TEST_CASE("Retry-After lengthens a pause, up to a bound, and a success does not end it") {
  TimedQueue timed;
  timed.add("a");
  timed.add("b");
  timed.add("c");
  timed.start();
  timed.fail("a", 20s);
  CHECK_FALSE(timed.queue.next_at());  // the others are still on their way
  timed.queue.on_done(timed.numbers["b"]);
  CHECK(timed.queue.next_at() == queue_epoch + 20s);
  timed.fail("c", 0s);
  CHECK(timed.queue.next_at() == queue_epoch + 20s);
  timed.fail("c", 24h);
  CHECK(timed.queue.next_at() == queue_epoch + WebhookQueue::longest_retry_after);
}

TEST_CASE("another receiver gets what waits at once") {
  TimedQueue timed;
  timed.add("a");
  timed.start();
  timed.fail("a", 60s);
  CHECK(timed.start().empty());
  timed.queue.on_new_receiver();
  CHECK_FALSE(timed.queue.is_failing());
  CHECK(timed.start() == Bodies{"a"});
}

TEST_CASE("more events than may wait are refused") {
  TimedQueue timed;
  for (std::size_t i = 0; i < WebhookQueue::most_waiting; ++i)
    REQUIRE(timed.add("x"));
  CHECK_FALSE(timed.add("y"));
  timed.start();
  CHECK(timed.add("y"));
  CHECK(timed.queue.size() == WebhookQueue::most_waiting + 1);
  CHECK(timed.queue.clear() == WebhookQueue::most_waiting + 1);
  CHECK(timed.queue.size() == 0);
}

TEST_CASE("an event that is not delivered in time is dropped, and counted once") {
  TimedQueue timed;
  timed.add("old");
  timed.start();
  timed.fail("old");
  timed.now += 100s;
  timed.add("new");
  timed.now = queue_epoch + WebhookQueue::lifetime;
  CHECK(timed.start() == Bodies{"new"});
  CHECK(timed.queue.take_expired() == 1);
  CHECK(timed.queue.take_expired() == 0);
}

TEST_CASE(
    "random receivers: every event is delivered, rejected or expires, and none is sent late") {
  const TestSeed seed;
  Random random(static_cast<std::uint32_t>(seed));
  for (int history = 0; history < 50; ++history) {
    WebhookQueue queue;
    Instant now = queue_epoch;
    std::size_t added = 0, delivered = 0, rejected = 0, expired = 0;
    std::map<std::uint64_t, Instant> in_flight;
    std::set<std::uint64_t> done;
    for (int step = 0; step < 2'000; ++step) {
      now += Duration{static_cast<std::int64_t>(random.next() % 3'000'000)};
      if (step < 1'000 && random.next() % 3 == 0) added += queue.add("x", now) ? 1 : 0;
      if (!in_flight.empty() && random.next() % 2 == 0) {
        const auto one = in_flight.begin()->first;
        in_flight.erase(one);
        const auto kind = random.next() % 4;
        if (kind == 0) {
          queue.on_failed(one, now, {}, random.next());
        } else if (kind == 1) {
          queue.on_failed(one, now, Duration{5s}, random.next());
        } else if (kind == 2) {
          queue.on_rejected(one);
          ++rejected;
          CHECK(done.insert(one).second);
        } else {
          queue.on_done(one);
          ++delivered;
          CHECK(done.insert(one).second);
        }
      }
      for (const auto& post : queue.start(now)) {
        CHECK(now < post.added_at + WebhookQueue::lifetime);
        CHECK(in_flight.emplace(post.number, now).second);
      }
      CHECK(in_flight.size() <= WebhookQueue::most_in_flight);
      expired += queue.take_expired();
      REQUIRE(delivered + rejected + expired + queue.size() == added);
      if (queue.size() > in_flight.size() && in_flight.empty()) CHECK(queue.next_at());
    }
    CHECK(queue.size() <= WebhookQueue::most_in_flight);
  }
}

}  // namespace weir::app
