#include "app/instance_watch.hpp"

#include "catch.hpp"
#include "unit/config/loading.hpp"

using namespace weir;
using namespace weir::app;
using namespace std::literals;

namespace {

const Instant watch_start = instant_from_us(1'700'000'000'000'000);

std::shared_ptr<const config::Config> configuration(const std::string& policies,
                                                    const std::string& more = {}) {
  return config::test::must_load("identity_secret: the secret of the instances\npolicies: {" +
                                 policies + "}\n" + more +
                                 "upstreams: {a: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
                                 "routes: [{upstream: a}]\n");
}

const std::string gcra = "p: {algorithm: gcra, rate: 10/1h}";
const std::string window = "p: {algorithm: fixed_window, rate: 10/1h}";

struct WatchFixture {
  explicit WatchFixture(const std::string& policies = gcra, const std::string& more = {}) {
    watch.use(watch.terms_of(*configuration(policies, more)), true);
  }

  /// The others as they announce themselves `at`: those of `ids`, with `policies`.
  std::vector<LogLine> see(std::vector<std::string> ids, Duration at, const std::string& policies) {
    admin::StoreHealth unused(1);
    const InstanceWatch other(unused, 7);
    const auto terms = other.terms_of(*configuration(policies));
    redis::OtherInstances others;
    for (std::string& id : ids)
      others.instances.push_back({std::move(id), terms.announcement->digest,
                                  watch_start + at + redis::announcement_lifetime});
    if (terms.announcement->digest != watch.due(watch_start + at)->digest)
      others.different = {terms.announcement->settings};
    return watch.update(others);
  }

  admin::StoreHealth health{1};
  InstanceWatch watch{health, 0xabc};
};

}  // namespace

TEST_CASE("an instance announces itself at once, every interval, and after a reload") {
  WatchFixture one;
  const auto first = one.watch.due(watch_start);
  REQUIRE(first);
  CHECK(first->id == "00000000000000000000000000000abc");
  CHECK_FALSE(one.watch.due(watch_start + InstanceWatch::interval - 1us));
  CHECK(one.watch.due(watch_start + InstanceWatch::interval));
  one.watch.use(one.watch.terms_of(*configuration(window)), false);
  const auto reloaded = one.watch.due(watch_start + InstanceWatch::interval + 1us);
  REQUIRE(reloaded);
  CHECK(reloaded->id == first->id);
  CHECK(reloaded->digest != first->digest);
}

TEST_CASE("an instance that counts in another way is reported once it has announced itself twice") {
  WatchFixture one;
  CHECK(one.see({"b"}, 0s, window).empty());
  CHECK(one.health.instances().problem.empty());
  const auto lines = one.see({"b"}, 5s, window);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].level == LogLine::Level::warning);
  CHECK(lines[0].text.find("a different policies.p.algorithm;") != std::string::npos);
  CHECK(one.health.instances().problem == lines[0].text);
  CHECK(one.health.instances().running == 2);
  CHECK(one.health.instances().differing == 1);
  CHECK(one.see({"b"}, 10s, window).empty());
  SECTION("until it has gone") {
    const auto last = one.see({}, 15s, gcra);
    REQUIRE(last.size() == 1);
    CHECK(last[0].text == "all instances with this Redis agree again");
    CHECK(one.health.instances().differing == 0);
    CHECK(one.health.instances().problem.empty());
  }
  SECTION("until this one is reloaded") {
    one.watch.use(one.watch.terms_of(*configuration(window)), false);
    CHECK(one.see({"b"}, 15s, window).size() == 1);
    CHECK(one.health.instances().running == 2);
  }
}

TEST_CASE("an instance that has stopped is listed for a while and is not reported") {
  WatchFixture one;
  for (const Duration at : {0s, 5s, 10s, 15s}) {
    redis::OtherInstances others;
    others.instances = {{"b", "0123", watch_start + 20s}};
    others.different = {"identity_secret\tx\n"};
    CHECK(one.watch.due(watch_start + at));
    CHECK(one.watch.update(others).empty());
    CHECK(one.health.instances().running == 1);
  }
}

TEST_CASE("more instances than replicas are reported if a policy decides locally") {
  const auto lines_with = [](const std::string& policies, const std::string& more) {
    WatchFixture one(policies, more);
    one.see({"b", "c"}, 0s, gcra);
    std::vector<std::string> texts;
    for (const LogLine& line : one.see({"b", "c"}, 5s, gcra)) {
      if (line.text.find("store.redis.replicas is") != std::string::npos)
        texts.push_back(line.text);
    }
    CHECK(one.see({"b", "c"}, 10s, gcra).empty());
    return texts;
  };
  const auto texts = lines_with(gcra, "store: {redis: {replicas: 2}}\n");
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].starts_with("3 instances use this Redis, but store.redis.replicas is 2"));
  CHECK(lines_with(gcra, "store: {redis: {replicas: 3}}\n").empty());
  CHECK(lines_with("p: {algorithm: gcra, rate: 10/1h, on_failure: deny}", "").empty());
}

TEST_CASE("with another Redis the other instances are others") {
  WatchFixture one;
  one.see({"b"}, 0s, gcra);
  one.watch.use(one.watch.terms_of(*configuration(gcra)), true);
  one.see({"b"}, 5s, gcra);
  CHECK(one.health.instances().running == 1);
}
