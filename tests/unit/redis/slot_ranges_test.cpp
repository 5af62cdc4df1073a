#include "redis/slot_ranges.hpp"

#include <hiredis/hiredis.h>
#include <memory>

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;

namespace {

const options::RedisServer asked{"10.0.0.1", 7000};

/// Parses a reply in RESP.
std::optional<SlotRanges> ranges_in(const std::string& text) {
  redisReader* const reader = redisReaderCreate();
  redisReaderFeed(reader, text.data(), text.size());
  void* reply = nullptr;
  REQUIRE(redisReaderGetReply(reader, &reply) == REDIS_OK);
  REQUIRE(reply != nullptr);
  const auto ranges = slot_ranges_in(*static_cast<redisReply*>(reply), asked);
  freeReplyObject(reply);
  redisReaderFree(reader);
  return ranges;
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
std::string node(const std::string& host, int port, const std::string& more = {}) {
  return "*" + std::to_string(more.empty() ? 3 : 4) + "\r\n" + host + ":" + std::to_string(port) +
         "\r\n" + bulk("0123456789012345678901234567890123456789") + more;
}
std::string range(int first, int last, const std::string& nodes, int count = 1) {
  return "*" + std::to_string(2 + count) + "\r\n:" + std::to_string(first) +
         "\r\n:" + std::to_string(last) + "\r\n" + nodes;
}

}  // namespace

TEST_CASE("The ranges of a reply, with the masters only") {
  const std::string replica = node(bulk("10.0.0.9"), 7009);
  const auto ranges =
      ranges_in("*2\r\n" + range(0, 5460, node(bulk("10.0.0.2"), 7001) + replica, 2) +
                range(5461, 16383, node(bulk("redis-3.example"), 7002, "*0\r\n")));
  REQUIRE(ranges.has_value());
  CHECK(*ranges ==
        SlotRanges{{0, 5460, {"10.0.0.2", 7001}}, {5461, 16383, {"redis-3.example", 7002}}});
  CHECK(ranges_in("*0\r\n") == SlotRanges{});
}

TEST_CASE("A master without a host is the server that replied; an unknown one has its address") {
  CHECK(ranges_in("*1\r\n" + range(0, 9, node(bulk(""), 7001))) ==
        SlotRanges{{0, 9, {"10.0.0.1", 7001}}});
  CHECK(ranges_in("*1\r\n" + range(0, 9, node("$-1\r\n", 7001))) ==
        SlotRanges{{0, 9, {"10.0.0.1", 7001}}});
  const std::string metadata = "*2\r\n" + bulk("ip") + bulk("10.0.0.7");
  CHECK(ranges_in("*1\r\n" + range(0, 9, node(bulk("?"), 7001, metadata))) ==
        SlotRanges{{0, 9, {"10.0.0.7", 7001}}});
  CHECK(ranges_in("*1\r\n" + range(0, 9, node(bulk("?"), 7001))) == SlotRanges{});
}

TEST_CASE("A reply of another form has no ranges") {
  for (const std::string& text :
       {std::string("+OK\r\n"), std::string("-ERR unknown command\r\n"),
        std::string("*1\r\n:1\r\n"), "*1\r\n" + range(0, 16384, node(bulk("h"), 1)),
        "*1\r\n" + range(7, 6, node(bulk("h"), 1)), "*1\r\n" + range(-1, 6, node(bulk("h"), 1)),
        "*1\r\n" + range(0, 6, node(bulk("h"), 0)), "*1\r\n" + range(0, 6, node(bulk("h"), 65536)),
        "*1\r\n" + range(0, 6, "*1\r\n" + bulk("h")), "*1\r\n" + range(0, 6, ":7\r\n"),
        std::string("*1\r\n*2\r\n:0\r\n:6\r\n")}) {
    CAPTURE(text);
    CHECK_FALSE(ranges_in(text).has_value());
  }
}

TEST_CASE("What a refusal says") {
  using Kind = SlotRefusal::Kind;
  struct Row {
    std::string_view text;
    std::optional<SlotRefusal> refusal;
  };
  for (const Row& row : {
           Row{"MOVED 3999 10.0.0.5:6381", SlotRefusal{Kind::moved, 3999, {"10.0.0.5", 6381}}},
           Row{"ASK 3999 10.0.0.5:6381", SlotRefusal{Kind::ask, 3999, {"10.0.0.5", 6381}}},
           Row{"MOVED 16383 :6381", SlotRefusal{Kind::moved, 16383, {"10.0.0.1", 6381}}},
           Row{"MOVED 0 fd00::1:6381", SlotRefusal{Kind::moved, 0, {"fd00::1", 6381}}},
           Row{"MOVED 0 [fd00::1]:6381", SlotRefusal{Kind::moved, 0, {"fd00::1", 6381}}},
           Row{"MOVED 7 redis-2.example:6381",
               SlotRefusal{Kind::moved, 7, {"redis-2.example", 6381}}},
           Row{"TRYAGAIN Multiple keys request during rehashing of slot",
               SlotRefusal{Kind::try_again, 0, {}}},
           Row{"CLUSTERDOWN The cluster is down", SlotRefusal{Kind::down, 0, {}}},
           Row{"MOVED 16384 10.0.0.5:6381", {}},
           Row{"MOVED 1 10.0.0.5", {}},
           Row{"MOVED 1 10.0.0.5:0", {}},
           Row{"MOVED 1 10.0.0.5:65536", {}},
           Row{"MOVED 1 ?:6381", SlotRefusal{Kind::elsewhere, 1, {}}},
           Row{"ASK 2 ?:6381", SlotRefusal{Kind::elsewhere, 2, {}}},
           Row{"MOVED 1 ?:0", {}},
           Row{"MOVED 16384 ?:6381", {}},
           Row{"MOVED -1 10.0.0.5:6381", {}},
           Row{"MOVED", {}},
           Row{"ERR wrong", {}},
           Row{"", {}},
       }) {
    CAPTURE(row.text);
    CHECK(slot_refusal_in(row.text, asked) == row.refusal);
  }
}
