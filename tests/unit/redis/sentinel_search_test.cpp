#include "redis/sentinel_search.hpp"

#include <hiredis/hiredis.h>
#include <memory>

#include "catch.hpp"

namespace weir::redis {
namespace {

using namespace std::chrono_literals;
using Kind = MasterReply::Kind;
using Time = SentinelSearch::Time;

constexpr Time begin{};

options::Redis options_with(std::vector<options::RedisServer> sentinels) {
  options::Redis options;
  options.topology = options::RedisTopology::sentinel;
  options.servers = std::move(sentinels);
  return options;
}

struct Parsed {
  Kind kind;
  options::RedisServer master;
  std::string error;
};

Parsed parsed(const std::string& text) {
  const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader(redisReaderCreate(),
                                                                        redisReaderFree);
  redisReaderFeed(reader.get(), text.data(), text.size());
  void* reply = nullptr;
  REQUIRE(redisReaderGetReply(reader.get(), &reply) == REDIS_OK);
  REQUIRE(reply != nullptr);
  const MasterReply found = master_in(*static_cast<redisReply*>(reply));
  // The text is the reply's.
  Parsed copy{found.kind, found.master, std::string(found.error)};
  freeReplyObject(reply);
  return copy;
}

const options::Redis three = options_with({{"a", 1}, {"b", 2}, {"::1", 3}});

}  // namespace

TEST_CASE("The reply of a sentinel is an address, or says why there is none") {
  struct Row {
    std::string text;
    Kind kind;
    options::RedisServer master{};
    std::string error{};
  };
  const auto row = GENERATE(
      Row{"*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n", Kind::address, {"127.0.0.1", 6379}},
      Row{"*2\r\n$5\r\nredis\r\n$5\r\n65535\r\n", Kind::address, {"redis", 65535}},
      Row{"*-1\r\n", Kind::unknown}, Row{"$-1\r\n", Kind::unknown}, Row{"*0\r\n", Kind::unknown},
      Row{"-NOAUTH Authentication required.\r\n",
          Kind::error,
          {},
          "NOAUTH Authentication required."},
      Row{"+OK\r\n", Kind::other}, Row{"*2\r\n$0\r\n\r\n$4\r\n6379\r\n", Kind::other},
      Row{"*2\r\n$1\r\na\r\n$5\r\n65536\r\n", Kind::other},
      Row{"*2\r\n$1\r\na\r\n$1\r\n0\r\n", Kind::other},
      Row{"*2\r\n$1\r\na\r\n$2\r\n1x\r\n", Kind::other}, Row{"*2\r\n:1\r\n:2\r\n", Kind::other},
      Row{"*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n2\r\n", Kind::other});
  CAPTURE(row.text);
  const Parsed reply = parsed(row.text);
  CHECK(reply.kind == row.kind);
  CHECK(reply.master == row.master);
  CHECK(reply.error == row.error);
}

TEST_CASE("A message of +switch-master has the new address of one master") {
  struct Row {
    std::string_view text;
    std::optional<options::RedisServer> master;
  };
  const auto row =
      GENERATE(Row{"m 10.0.0.1 6379 10.0.0.2 6380", options::RedisServer{"10.0.0.2", 6380}},
               Row{"m a 1 ::1 2", options::RedisServer{"::1", 2}},
               Row{"other 10.0.0.1 6379 10.0.0.2 6380", std::nullopt},
               Row{"m 10.0.0.1 6379 10.0.0.2", std::nullopt},
               Row{"m 10.0.0.1 6379 10.0.0.2 6380 1", std::nullopt},
               Row{"m 10.0.0.1 6379 10.0.0.2 x", std::nullopt}, Row{"", std::nullopt});
  CAPTURE(row.text);
  CHECK(switched_master(row.text, "m") == row.master);
}

TEST_CASE("The sentinels share the time with the connection to the master") {
  SentinelSearch search(three);
  search.begin(begin + 400ms);
  auto turn = search.next(begin);
  REQUIRE(turn);
  CHECK(turn->index == 0);
  CHECK(turn->until == begin + 100ms);
  search.on_unreachable("refused");
  turn = search.next(begin + 10ms);  // what a fast failure leaves is shared again
  REQUIRE(turn);
  CHECK(turn->index == 1);
  CHECK(turn->until == begin + 140ms);
  search.on_unreachable("refused");
  turn = search.next(begin + 400ms);
  CHECK_FALSE(turn);
}

TEST_CASE("The sentinel that returned an address is asked first next time") {
  SentinelSearch search(three);
  const auto order = [&search] {
    std::vector<std::size_t> indexes;
    search.begin(begin + 1s);
    while (const auto turn = search.next(begin)) {
      indexes.push_back(turn->index);
      search.on_unreachable("refused");
    }
    return indexes;
  };
  CHECK(order() == std::vector<std::size_t>{0, 1, 2});
  search.begin(begin + 1s);
  static_cast<void>(search.next(begin));
  search.on_unreachable("refused");
  static_cast<void>(search.next(begin));
  search.on_unreachable("refused");
  static_cast<void>(search.next(begin));
  CHECK(search.on_reply({.kind = Kind::address, .master = {"m", 6379}}, begin));
  search.on_ready();
  CHECK(order() == std::vector<std::size_t>{2, 0, 1});
}

TEST_CASE("A sentinel whose master does not become ready is asked last next time") {
  SentinelSearch search(three);
  for (const std::size_t expected : {0, 1, 2, 0}) {
    search.begin(begin + 1s);
    CHECK(search.next(begin)->index == expected);
    CHECK(search.on_reply({.kind = Kind::address, .master = {"m", 6379}}, begin));
  }
  search.on_ready();
  search.begin(begin + 1s);
  CHECK(search.next(begin)->index == 0);
}

TEST_CASE("A master that was replaced is used again when the majority of sentinels returns it") {
  const options::RedisServer former{"m", 6379};
  const MasterReply reply{.kind = Kind::address, .master = former};
  SentinelSearch search(three);
  search.on_replaced(former, begin);
  const auto are_enough = [&](std::size_t sentinels, Time now) {
    search.begin(now + 1s);
    for (std::size_t i = 0; i < sentinels; ++i) {
      REQUIRE(search.next(now));
      if (search.on_reply(reply, now)) return true;
    }
    return false;
  };
  CHECK_FALSE(are_enough(3, begin + 5s - 1us));
  CHECK_FALSE(are_enough(1, begin + 5s));
  CHECK_FALSE(are_enough(1, begin + 6s));  // the same one does not count twice
  CHECK(are_enough(2, begin + 7s));
  CHECK_FALSE(search.is_replaced(former, begin + 7s));
}

TEST_CASE("A master that was replaced is skipped for a while") {
  const options::RedisServer former{"m", 6379};
  const options::RedisServer other{"n", 6379};
  SentinelSearch search(three);
  search.on_replaced(former, begin);
  CHECK(search.is_replaced(former, begin + 30s - 1us));
  CHECK_FALSE(search.is_replaced(former, begin + 30s));
  CHECK_FALSE(search.is_replaced(other, begin));

  search.begin(begin + 1s);
  REQUIRE(search.next(begin));
  CHECK_FALSE(search.on_reply({.kind = Kind::address, .master = former}, begin));
  CHECK(search.failure() ==
        "no sentinel returns a new master (a:1: still returns the former master)");
  REQUIRE(search.next(begin)->index == 1);
  CHECK(search.on_reply({.kind = Kind::address, .master = other}, begin));

  search.on_replaced(other, begin);  // the failover went back
  search.begin(begin + 1s);
  REQUIRE(search.next(begin));
  CHECK(search.on_reply({.kind = Kind::address, .master = former}, begin));
}

TEST_CASE("A failure has the reason that an operator can correct") {
  options::Redis options = three;
  options.sentinel_password = Secret("sesame");
  SentinelSearch search(options);
  search.begin(begin + 1s);
  const auto reply = [&search](MasterReply one) {
    REQUIRE(search.next(begin));
    CHECK_FALSE(search.on_reply(one, begin));
  };
  const auto unreachable = [&search](std::string_view why) {
    REQUIRE(search.next(begin));
    search.on_unreachable(why);
  };
  SECTION("none is reachable") {
    unreachable("cannot connect: Connection refused");
    unreachable("timed out while connecting");
    unreachable("bad\nbyte");
    CHECK(search.failure() ==
          "no sentinel is reachable (a:1: cannot connect: Connection refused, b:2: timed out while "
          "connecting, [::1]:3: bad?byte)");
  }
  SECTION("the name is wrong") {
    unreachable("refused");
    reply({.kind = Kind::unknown});
    reply({.kind = Kind::error, .error = "NOAUTH Authentication required."});
    CHECK(search.failure() ==
          "no sentinel has a master of this name; check store.redis.sentinel_master");
  }
  SECTION("the password is wrong") {
    reply({.kind = Kind::error, .error = "WRONGPASS invalid username-password pair"});
    unreachable("refused");
    CHECK(search.failure() ==
          "the sentinel a:1 returned an error: WRONGPASS invalid username-password pair; check "
          "store.redis.sentinel_password");
  }
  SECTION("an error that quotes the password") {
    reply({.kind = Kind::error, .error = "ERR unknown command sesame"});
    CHECK(search.failure().find("sesame") == std::string::npos);
  }
  SECTION("an error that quotes a part of it, as a server without AUTH does") {
    reply({.kind = Kind::error, .error = "ERR unknown command `AUTH`, with args: `sesa"});
    CHECK(search.failure().find("sesa") == std::string::npos);
  }
  SECTION("it is no sentinel") {
    reply(GENERATE(MasterReply{.kind = Kind::other},
                   MasterReply{.kind = Kind::error, .error = "ERR unknown command `SENTINEL`"}));
    CHECK(search.failure() == "the server a:1 is not a sentinel; check store.redis.servers");
  }
  search.begin(begin + 1s);
  CHECK(search.failure() == "no sentinel is reachable ()");
}

}  // namespace weir::redis
