// Announcements of instances: the script in a real server, and the replies that are read.
#include "redis/instance_announcement.hpp"

#include <hiredis/hiredis.h>

#include "catch.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

namespace {

const Instant begin = instant_from_us(1'700'000'000'000'000);

struct Instances : StoreFixture {
  explicit Instances(const RedisProcess& redis) : StoreFixture(redis) {
    topology->stop();
    use(options_for(redis), {.entries = {.policy_names = {"p"}}, .script_clock = Clock::argument});
    REQUIRE(StoreFixture::start());
  }

  std::optional<OtherInstances> announce(const std::string& id, const std::string& digest,
                                         Duration at = {}) {
    bool is_over = false;
    std::optional<OtherInstances> received;
    const Announcement announcement{id, digest};
    const auto done = [&](const OtherInstances* others) {
      is_over = true;
      if (others != nullptr) received = *others;
    };
    REQUIRE(topology->announce(announcement, begin + at, done));
    CHECK_FALSE(topology->announce(announcement, begin + at, done));  // one at a time
    REQUIRE(run_until([&] { return is_over; }));
    return received;
  }
};

OtherInstance listed(const std::string& id, const std::string& digest, Duration at = {}) {
  return {id, digest, begin + at + announcement_lifetime};
}

}  // namespace

TEST_CASE("an instance sees the others with their digests") {
  const RedisProcess redis;
  Instances instances(redis);
  CHECK(instances.announce("a", "1") == OtherInstances{});
  CHECK(instances.announce("b", "1") == OtherInstances{listed("a", "1")});
  CHECK(instances.announce("c", "2") == OtherInstances{listed("a", "1"), listed("b", "1")});
  CHECK(instances.announce("a", "1", 1s) == OtherInstances{listed("b", "1"), listed("c", "2")});
  CHECK(instances.announce("b", "2", 2s) == OtherInstances{listed("c", "2"), listed("a", "1", 1s)});
}

TEST_CASE("an instance that does not announce itself again is gone after its lifetime") {
  const RedisProcess redis;
  Instances instances(redis);
  instances.announce("a", "1");
  CHECK(instances.announce("b", "1", announcement_lifetime - 1us)->size() == 1);
  CHECK(instances.announce("b", "1", announcement_lifetime)->empty());
}

TEST_CASE("announcements of other prefixes are not seen, and expire") {
  RedisProcess redis;
  RedisCli cli(redis);
  Instances instances(redis);
  instances.announce("a", "1");
  auto options = StoreFixture::options_for(redis);
  options.key_prefix = "other:";
  instances.store->stop();
  instances.use(options, {.entries = {.policy_names = {"p"}}, .script_clock = Clock::argument});
  REQUIRE(instances.start());
  CHECK(instances.announce("b", "2") == OtherInstances{});
  for (const char* key : {"weir:{!instances}", "other:{!instances}"})
    CHECK(std::stol(cli({"PTTL", key})) > 0);
}

TEST_CASE("what somebody else wrote under the key of the list is replaced") {
  RedisProcess redis;
  RedisCli cli(redis);
  Instances instances(redis);
  cli({"SADD", "weir:{!instances}", "x"});
  CHECK(instances.announce("a", "1") == OtherInstances{});
  cli({"SET", "weir:{!instances}", "b c\nd\n e f 1\n"});
  CHECK(instances.announce("a", "1") == OtherInstances{});
  CHECK(instances.announce("b", "1") == OtherInstances{listed("a", "1")});
}

TEST_CASE("without a connection nothing is announced, and one that ends is reported") {
  RedisProcess redis;
  Instances instances(redis);
  bool is_over = false;
  REQUIRE(instances.topology->announce({"a", "1"}, begin, [&](const OtherInstances* others) {
    CHECK(others == nullptr);
    is_over = true;
  }));
  instances.store->stop();
  CHECK(instances.run_until([&] { return is_over; }));
  CHECK_FALSE(instances.topology->announce({"a", "1"}, begin, [](const OtherInstances*) {}));
}

TEST_CASE("a reply that the script does not return lists nothing") {
  const auto read = [](std::string text, int type = REDIS_REPLY_STRING) {
    redisReply reply{};
    reply.type = type;
    reply.str = text.data();
    reply.len = static_cast<decltype(reply.len)>(text.size());
    return others_in(reply);
  };
  CHECK(read("") == OtherInstances{});
  CHECK(read("a b 5\n") == OtherInstances{{"a", "b", instant_from_us(5)}});
  CHECK_FALSE(read("", REDIS_REPLY_STATUS).has_value());
  CHECK_FALSE(read("", REDIS_REPLY_ERROR).has_value());
  for (const char* lines : {"a", "a b", "a b\n", "a b 5", "a b x\n", "a b 5x\n", "a b 5\nc\n"})
    CHECK_FALSE(read(lines).has_value());
}
