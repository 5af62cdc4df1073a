#include "app/instance_watch.hpp"

#include <map>

#include "catch.hpp"
#include "unit/config/loading.hpp"

using namespace weir;
using namespace weir::app;
using namespace std::literals;

namespace {

const Instant watch_start = instant_from_us(1'700'000'000'000'000);

std::shared_ptr<const config::Config> configuration(
    const std::string& policies, const std::string& more = {},
    const std::string& secret = "the secret of the instances") {
  return config::test::must_load("identity_secret: " + secret + "\npolicies: {" + policies + "}\n" +
                                 more +
                                 "upstreams: {a: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
                                 "routes: [{upstream: a}]\n");
}

const std::string gcra = "p: {algorithm: gcra, rate: 10/1h}";
const std::string window = "p: {algorithm: fixed_window, rate: 10/1h}";

/// What an instance announces with such a configuration.
redis::Announcement announced(const std::string& policies, const std::string& more = {},
                              const std::string& secret = "the secret of the instances") {
  admin::StoreHealth unused(1);
  const InstanceWatch other(unused, 7);
  return *other.terms_of(*configuration(policies, more, secret)).announcement;
}

struct WatchFixture {
  explicit WatchFixture(const std::string& policies = gcra, const std::string& more = {}) {
    watch.use(watch.terms_of(*configuration(policies, more)), true);
  }

  /// The others as they announce themselves `at`: those of `ids`, with `policies`.
  std::vector<LogLine> see(std::vector<std::string> ids, Duration at, const std::string& policies) {
    redis::OtherInstances others;
    for (std::string& id : ids)
      others.push_back({std::move(id), announced(policies).digest,
                        watch_start + at + redis::announcement_lifetime});
    return watch.update(others, watch_start + at);
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

TEST_CASE("instances announce the same digest if they count clients in the same way") {
  const std::string two = "p: {algorithm: gcra, rate: 10/1h}, q: {algorithm: gcra, rate: 1/1h}";
  const std::string turned = "q: {algorithm: gcra, rate: 1/1h}, p: {algorithm: gcra, rate: 10/1h}";
  CHECK(announced(two).digest == announced(turned, "workers: 3\nretry_after: http_date\n").digest);
  const struct {
    const char* change;
    redis::Announcement announcement;
  } rows[] = {
      {"nothing", announced(window)},
      {"the secret", announced(window, {}, "another secret of the instances")},
      {"the algorithm", announced(gcra)},
      {"the anchor", announced("p: {algorithm: fixed_window, rate: 10/1h, anchor: clock}")},
      {"the count", announced("p: {algorithm: fixed_window, rate: 11/1h}")},
      {"the time", announced("p: {algorithm: fixed_window, rate: 10/2h}")},
      {"denied requests count",
       announced("p: {algorithm: fixed_window, rate: 10/1h, count_rejected: true}")},
      {"the name", announced("q: {algorithm: fixed_window, rate: 10/1h}")},
      {"one more policy", announced(window + ", q: {algorithm: fixed_window, rate: 10/1h}")},
      {"the IPv4 prefix", announced(window, "client_address: {ipv4_prefix: 24}\n")},
      {"the IPv6 prefix", announced(window, "client_address: {ipv6_prefix: 56}\n")},
      {"replicas", announced(window, "store: {redis: {replicas: 2}}\n")},
      {"replicas: auto", announced(window, "store: {redis: {replicas: auto}}\n")},
  };
  std::map<std::string, std::string> changes;
  for (const auto& row : rows) {
    const auto [same, is_new] = changes.emplace(row.announcement.digest, row.change);
    INFO(row.change << " and " << same->second);
    CHECK(is_new);
  }
}

TEST_CASE("an instance that counts in another way is reported once it has announced itself twice") {
  WatchFixture one;
  CHECK(one.see({"b"}, 0s, window).empty());
  CHECK(one.health.instances().problem.empty());
  const auto lines = one.see({"b"}, 5s, window);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].level == LogLine::Level::warning);
  CHECK(lines[0].text.starts_with("instances that share this Redis have different limits: "));
  CHECK(lines[0].text.ends_with(announced(gcra).digest));
  CHECK(one.health.instances().problem.starts_with(
      "instances that share this Redis have different limits: "));
  CHECK_FALSE(one.health.instances().problem.ends_with(announced(gcra).digest));
  CHECK(one.health.instances().running == 2);
  CHECK(one.health.instances().differing == 1);
  CHECK(one.see({"b"}, 10s, window).empty());
  SECTION("until it has gone") {
    const auto last = one.see({}, 15s, gcra);
    REQUIRE(last.size() == 1);
    CHECK(last[0].text == "all instances that share this Redis have the same limits again");
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
    CHECK(one.watch.due(watch_start + at));
    CHECK(one.watch.update({{"b", "0123", watch_start + 20s}}, watch_start + at).empty());
    CHECK(one.health.instances().running == 1);
    CHECK(one.health.instances().replicas == 2);  // it may just have started
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
  CHECK(lines_with(gcra, "store: {redis: {replicas: auto}}\n").empty());
  CHECK(lines_with("p: {algorithm: gcra, rate: 10/1h, on_failure: deny}", "").empty());
}

TEST_CASE("quotas are divided by the number that is set, or by the instances that are seen") {
  const std::string automatic = "store: {redis: {replicas: auto}}\n";
  WatchFixture one(gcra, automatic);
  CHECK(one.watch.replicas() == 1);
  one.see({"b", "c"}, 0s, gcra);
  CHECK(one.watch.replicas() == 3);
  InstanceWatch of_another_worker(one.health, 0xabc);
  of_another_worker.use(of_another_worker.terms_of(*configuration(gcra, automatic)), true);
  CHECK(of_another_worker.replicas() == 3);
  const auto fixed = one.watch.terms_of(*configuration(gcra, "store: {redis: {replicas: 5}}\n"));
  CHECK(one.watch.replicas(fixed) == 5);
  one.watch.use(fixed, true);
  CHECK(one.watch.replicas() == 5);
  one.see({"b", "c", "d"}, 5s, gcra);
  one.watch.use(one.watch.terms_of(*configuration(gcra, automatic)), true);
  CHECK(one.watch.replicas() == 4);
}

TEST_CASE("with another Redis the other instances are others") {
  WatchFixture one;
  one.see({"b"}, 0s, gcra);
  one.watch.use(one.watch.terms_of(*configuration(gcra)), true);
  one.see({"b"}, 5s, gcra);
  CHECK(one.health.instances().running == 1);
}
