// Questions without a server: the test is the owner, which sends and receives.
#include "redis/pending_questions.hpp"

#include <functional>
#include <hiredis/hiredis.h>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "catch.hpp"
#include "redis/answer.hpp"

using namespace weir;
using namespace weir::redis;
using namespace std::chrono_literals;
using store::Error;

namespace {

class PendingFixture final : public PendingQuestions::Owner {
 public:
  struct AskedStore final : store::Completion {
    void complete(const store::Result& result, Instant) noexcept override {
      ++times;
      error = result.error;
      if (then) then();
    }
    int times = 0;
    Error error = Error::none;
    std::function<void()> then;
  };

  /// Sends a question that has its timeout; with a negative one it is overdue at once.
  Question& ask(AskedStore& asked, Duration timeout = 1h) {
    Question* taken = nullptr;
    pending->take(asked, nullptr, [&](Question& question) {
      pending->set_timeout(question, timeout);
      pending->await_reply(question);
      taken = &question;
    });
    return *taken;
  }
  void fail(AskedStore& asked, Error error) {
    pending->take(asked, nullptr,
                  [&](Question& question) { pending->fail_later(question, error); });
  }
  static void reply(Question& question) {
    redisReply reply{};
    reply.type = REDIS_REPLY_INTEGER;
    question.on_reply(reply);
  }
  void run() {
    io.restart();
    io.poll();
  }
  std::uint64_t errors(Error error) const {
    return counters.errors[static_cast<std::size_t>(error)].value();
  }

  void on_reply(Question& question, const redisReply& reply) noexcept override {
    pending->complete(question, result_of(reply, nullptr));
  }
  void read_arrived() noexcept override {
    ++reads;
    if (arrived) arrived();
  }

  boost::asio::io_context io;
  MonotonicClock clock;
  StoreCounters counters;
  Outcomes outcomes{counters};
  std::optional<PendingQuestions> pending{std::in_place, io, clock, outcomes, nullptr, *this};
  std::function<void()> arrived;
  int reads = 0;
};
using AskedStore = PendingFixture::AskedStore;

}  // namespace

TEST_CASE("a question is completed with its reply, and its place is used again") {
  PendingFixture fixture;
  AskedStore first;
  Question& question = fixture.ask(first);
  fixture.run();
  CHECK(first.times == 0);
  fixture.reply(question);
  CHECK(first.times == 1);
  CHECK(first.error == Error::none);
  AskedStore second;
  CHECK(&fixture.ask(second) == &question);
}

TEST_CASE("a question that fails is completed in the next pass of the loop") {
  PendingFixture fixture;
  AskedStore first;
  AskedStore second;
  fixture.fail(first, Error::not_connected);
  fixture.fail(second, Error::other);
  CHECK(first.times == 0);
  fixture.run();
  CHECK(first.times == 1);
  CHECK(first.error == Error::not_connected);
  CHECK(second.error == Error::other);
  CHECK(fixture.errors(Error::not_connected) == 1);
  CHECK(fixture.errors(Error::other) == 1);
}

TEST_CASE("a question that fails while others are completed is left for a pass of its own") {
  PendingFixture fixture;
  AskedStore first;
  AskedStore second;
  first.then = [&] { fixture.fail(second, Error::not_connected); };
  fixture.fail(first, Error::not_connected);
  fixture.io.run_one();
  CHECK(first.times == 1);
  CHECK(second.times == 0);
  fixture.run();
  CHECK(second.times == 1);
}

TEST_CASE("the end of a connection fails its questions") {
  PendingFixture fixture;
  AskedStore first;
  AskedStore second;
  Question& one = fixture.ask(first);
  Question& other = fixture.ask(second);
  one.on_loss(Error::connection_lost, {});
  other.on_loss(Error::connection_lost, {});
  CHECK(first.times == 0);
  fixture.run();
  CHECK(first.times == 1);
  CHECK(second.error == Error::connection_lost);
}

TEST_CASE("the text of a reply that cannot be parsed is the last reply of its kind") {
  PendingFixture fixture;
  AskedStore asked;
  AskedStore overdue;
  fixture.ask(asked).on_loss(Error::other, "Protocol error");
  fixture.run();
  CHECK(asked.error == Error::other);
  CHECK(fixture.outcomes.last_reply(Error::other) == "Protocol error");
  Question& late = fixture.ask(overdue, -1us);
  fixture.run();
  late.on_loss(Error::other, "of a question that has failed before");
  CHECK(fixture.outcomes.last_reply(Error::other) == "Protocol error");
}

TEST_CASE("a question whose deadline has passed fails, and its reply is late") {
  PendingFixture fixture;
  AskedStore overdue;
  AskedStore later;
  Question& question = fixture.ask(overdue, -1us);
  fixture.ask(later);
  fixture.run();
  CHECK(overdue.times == 1);
  CHECK(overdue.error == Error::timeout);
  CHECK(fixture.errors(Error::timeout) == 1);
  CHECK(later.times == 0);
  SECTION("a late reply is counted") {
    fixture.reply(question);
    CHECK(fixture.counters.late_answers.value() == 1);
  }
  SECTION("the connection ends") {
    question.on_loss(Error::connection_lost, {});
    fixture.run();
    CHECK(fixture.counters.late_answers.value() == 0);
    CHECK(fixture.errors(Error::connection_lost) == 0);
  }
  CHECK(overdue.times == 1);
  AskedStore next;
  CHECK(&fixture.ask(next) == &question);
}

TEST_CASE("replies that have arrived are read before questions fail") {
  PendingFixture fixture;
  std::vector<AskedStore> asked(3);
  std::vector<Question*> questions;
  for (auto& one : asked)
    questions.push_back(&fixture.ask(one, -1us));
  // Each read returns one reply, and the third none.
  fixture.arrived = [&] {
    if (fixture.reads < 3) fixture.reply(*questions[static_cast<std::size_t>(fixture.reads - 1)]);
  };
  fixture.run();
  CHECK(fixture.reads == 3);
  CHECK(asked[0].error == Error::none);
  CHECK(asked[1].error == Error::none);
  CHECK(asked[2].error == Error::timeout);
  for (const auto& one : asked)
    CHECK(one.times == 1);
}

TEST_CASE("the connection may end while overdue questions are completed") {
  PendingFixture fixture;
  AskedStore first;
  AskedStore second;
  Question& one = fixture.ask(first, -2us);
  Question& other = fixture.ask(second, -1us);
  first.then = [&] {
    one.on_loss(Error::connection_lost, {});
    other.on_loss(Error::connection_lost, {});
  };
  fixture.run();
  CHECK(first.times == 1);
  CHECK(first.error == Error::timeout);
  CHECK(second.times == 1);
  CHECK(second.error == Error::timeout);
  CHECK(fixture.errors(Error::connection_lost) == 0);
}

TEST_CASE("a question with an earlier deadline than the others is completed in time") {
  PendingFixture fixture;
  AskedStore later;
  AskedStore overdue;
  fixture.ask(later);
  fixture.ask(overdue, -1us);
  fixture.run();
  CHECK(overdue.error == Error::timeout);
  CHECK(later.times == 0);
}

TEST_CASE("a question that throws is not completed, and its place is used again") {
  PendingFixture fixture;
  AskedStore first;
  Question* taken = nullptr;
  CHECK_THROWS_AS(fixture.pending->take(first, nullptr,
                                        [&](Question& question) {
                                          taken = &question;
                                          throw std::bad_alloc();
                                        }),
                  std::bad_alloc);
  AskedStore second;
  CHECK(&fixture.ask(second) == taken);
  fixture.run();
  CHECK(first.times == 0);
}

TEST_CASE("handlers in the loop do nothing once the questions are destroyed") {
  PendingFixture fixture;
  AskedStore failing;
  AskedStore overdue;
  fixture.fail(failing, Error::not_connected);
  fixture.ask(overdue, -1us);
  fixture.pending.reset();
  fixture.run();
  CHECK(failing.times == 0);
  CHECK(overdue.times == 0);
}

TEST_CASE("stop() leaves no timer in the loop") {
  PendingFixture fixture;
  AskedStore asked;
  fixture.ask(asked);
  fixture.pending->stop();
  fixture.run();
  CHECK(fixture.io.stopped());
  CHECK(asked.times == 0);
}
