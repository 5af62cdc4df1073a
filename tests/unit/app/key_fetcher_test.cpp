// The fetchers beside a server that the test controls, over real connections. Cooldowns are zero or
// an hour, so no test waits.
#include "app/key_fetcher.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "unit/proxy/test_server.hpp"

namespace weir::app {
namespace {

using loop::test::FarEnd;
using loop::test::run;
using proxy::test::TestServer;
using std::chrono::hours;

constexpr jwt::RefreshTimes eager{.refresh = hours(1), .cooldown = Duration{0}};
constexpr jwt::RefreshTimes patient{.refresh = hours(1), .cooldown = hours(1)};

/// A set with one key for each ID: the example of RFC 7517 appendix A.1.
std::string key_set(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) {
    text += text.empty() ? "" : ",";
    text += R"({"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",)"
            R"("y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":")" +
            id + "\"}";
  }
  return "{\"keys\":[" + text + "]}";
}

std::string answer(const std::string& body, const std::string& fields = "") {
  return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class World {
 public:
  KeyTarget target(const std::string& provider, jwt::RefreshTimes times = eager) const {
    KeyTarget made;
    made.settings.provider = provider;
    made.settings.url = {.host = "127.0.0.1", .port = server.port(), .target = "/keys"};
    made.settings.shown = "http://issuer/keys";
    made.settings.times = times;
    made.settings.timeout = hours(1);
    made.settings.keys = std::make_shared<jwt::PublishedKeys>();
    return made;
  }
  /// Answers the request that waits.
  void serve(const std::string& text) {
    run(io);
    const auto far = server.accept();
    REQUIRE(far);
    run(io);
    CHECK(far->receive().starts_with("GET /keys HTTP/1.1\r\n"));
    if (!text.empty()) far->send(text);
    far->end_sending();
    run(io);
  }
  bool is_requested() {
    run(io);
    return server.accept() != nullptr;
  }
  std::string take_log() { return std::exchange(lines, {}); }

  asio::io_context io;
  TestServer server;
  MonotonicClock clock;
  Random random{1};
  std::string lines;
  KeyFetcherDependencies dependencies{
      .io = io, .clock = clock, .random = random, .log = [this](const LogLine& line) {
        lines += line.text + "\n";
      }};
};

/// A fetcher that has the keys of one provider; its log is empty.
struct Fetched : World {
  explicit Fetched(jwt::RefreshTimes times = eager) : one(target("one", times)) {
    fetcher.use({one});
    serve(answer(key_set({"a"})));
    take_log();
  }
  /// A token causes another fetch.
  void fetch_again(const std::string& text) {
    one.settings.keys->note_unknown_key();
    fetcher.check();
    serve(text);
  }
  std::uint64_t editions() const { return one.settings.keys->number(); }

  KeyTarget one;
  KeyFetcher fetcher{dependencies, one};
};

std::size_t size_of(const KeyTarget& target) {
  return target.settings.keys->edition().keys->size();
}

TEST_CASE("the first fetch is at once, and every provider with the URL gets its keys") {
  World world;
  const KeyTarget one = world.target("one", patient);
  const KeyTarget two = world.target("two", patient);
  KeyFetcher fetcher(world.dependencies, one);
  fetcher.use({one, two});
  CHECK(one.settings.keys->number() == 0);
  CHECK_FALSE(fetcher.health()->age().has_value());
  CHECK(fetcher.health()->degraded().empty());
  world.serve(answer(key_set({"a", "b"})));
  CHECK(size_of(one) == 2);
  CHECK(one.settings.keys->edition().keys == two.settings.keys->edition().keys);
  CHECK(fetcher.health()->ok.value() == 1);
  CHECK(fetcher.health()->failed.value() == 0);
  CHECK(fetcher.health()->age().has_value());
  CHECK(world.take_log() == "jwt providers one, two: fetched 2 keys from http://issuer/keys\n");
  // Nothing is due for an hour, also not for an unknown key.
  one.settings.keys->note_unknown_key();
  fetcher.check();
  CHECK_FALSE(world.is_requested());
}

TEST_CASE("an unknown key of any provider causes one fetch") {
  World world;
  const KeyTarget one = world.target("one");
  const KeyTarget two = world.target("two");
  KeyFetcher fetcher(world.dependencies, one);
  fetcher.use({one, two});
  world.serve(answer(key_set({"a"}), "Cache-Control: max-age=3600\r\n"));
  fetcher.check();
  CHECK_FALSE(world.is_requested());
  one.settings.keys->note_unknown_key();
  two.settings.keys->note_unknown_key();
  fetcher.check();
  fetcher.check();
  world.serve(answer(key_set({"b"})));
  CHECK(two.settings.keys->number() == 2);
  // The removed key is gone.
  const auto keys = one.settings.keys->edition().keys;
  CHECK_FALSE(keys->candidates("a", jwt::JwsAlgorithm::es256).known);
  CHECK(keys->candidates("b", jwt::JwsAlgorithm::es256).known);
  fetcher.check();
  CHECK_FALSE(world.is_requested());
}

TEST_CASE("keys that have not changed are not published again") {
  Fetched world;
  world.fetch_again(answer(key_set({"a"})));
  CHECK(world.editions() == 1);
  CHECK(world.fetcher.health()->ok.value() == 2);
  CHECK(world.take_log().empty());
}

TEST_CASE("while fetching fails the keys stay, and each reason is logged once") {
  Fetched world;
  const std::string kept = "; the keys fetched before stay in use\n";
  const auto fail = [&](const std::string& text) {
    world.fetch_again(text);
    CHECK(world.editions() == 1);
    std::string line = world.take_log();
    const std::string begin = "jwt provider one: cannot fetch the keys from http://issuer/keys: ";
    CHECK((line.empty() || (line.starts_with(begin) && line.ends_with(kept))));
    return line.empty() ? line
                        : line.substr(begin.size(), line.size() - begin.size() - kept.size());
  };
  CHECK(fail("") == "the connection was closed without an answer");
  CHECK(fail("") == "");
  CHECK(fail("HTTP/1.1 500 Oops\r\n\r\n") == "it answered 500");
  CHECK(fail("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1/marker\r\n\r\n") ==
        "it answered 301; redirects are not followed, so set the URL that it leads to");
  CHECK(fail("HTTP/1.1 204 No Content\r\n\r\n") == "it answered 204");
  CHECK(fail(answer("<html>")) == "its answer cannot be used: it is not JSON");
  CHECK(fail(answer("{}")) ==
        "its answer cannot be used: it is not a JWK set: an object with a list \"keys\"");
  CHECK(fail("HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n") ==
        "its body has 10485760 bytes, more than 4194304");
  CHECK(world.fetcher.health()->failed.value() == 8);
  world.fetch_again(answer(key_set({"a"})));
  CHECK(world.take_log() == "jwt provider one: the keys can be fetched again\n");
}

TEST_CASE("a refresh that fails is reported at once, with the age of the keys in use") {
  Fetched world({.refresh = hours(2), .cooldown = Duration{0}});
  const auto health = world.fetcher.health();
  CHECK(health->degraded().empty());
  world.fetch_again("HTTP/1.1 503 No\r\n\r\n");
  CHECK(health->degraded().starts_with("the keys fetched "));
  CHECK(health->degraded().ends_with(" s ago stay in use: it answered 503"));
  world.fetch_again(answer(key_set({"a"})));
  CHECK(health->degraded().empty());
}

TEST_CASE("without keys the failure is reported, and a reload tries again") {
  World world;
  const KeyTarget one = world.target("one", patient);
  KeyFetcher fetcher(world.dependencies, one);
  fetcher.use({one});
  world.serve("HTTP/1.1 404 Not Found\r\n\r\n");
  CHECK(one.settings.keys->number() == 0);
  CHECK(fetcher.health()->degraded() == "no keys have been fetched: it answered 404");
  CHECK(world.take_log() ==
        "jwt provider one: cannot fetch the keys from http://issuer/keys: it answered 404; tokens "
        "cannot be verified until the keys have been fetched\n");
  fetcher.check();
  CHECK_FALSE(world.is_requested());
  fetcher.use({one});
  world.serve(answer(key_set({"a"})));
  CHECK(one.settings.keys->number() == 1);
}

TEST_CASE("a set without a usable key replaces the keys; its problems are logged") {
  Fetched world;
  world.fetch_again(answer(key_set({"b", "b"})));
  CHECK(size_of(world.one) == 0);
  CHECK(world.take_log() ==
        "jwt provider one: fetched 0 keys from http://issuer/keys\n"
        "jwt provider one: key 1 (kid \"b\") is not used: another key has the same \"kid\"\n"
        "jwt provider one: key 2 (kid \"b\") is not used: another key has the same \"kid\"\n"
        "jwt provider one: the set has no usable key; every token is rejected\n");
  // It is the set in use, so it is neither old nor a failure, but no token is verified.
  const auto health = world.fetcher.health();
  const std::string reason = "the set has no usable key; every token is rejected";
  CHECK(health->degraded() == reason);
  CHECK(health->ok.value() == 2);
  CHECK(health->failed.value() == 0);
  world.fetch_again("HTTP/1.1 503 No\r\n\r\n");
  CHECK(health->degraded() == reason);
  CHECK(size_of(world.one) == 0);
  world.fetch_again(answer(key_set({"c"})));
  CHECK(health->degraded().empty());
}

TEST_CASE("the settings of providers with the same URL are combined") {
  World world;
  const KeyTarget slow = world.target("slow", {.refresh = hours(2), .cooldown = hours(1)});
  const KeyTarget fast = world.target("fast", {.refresh = hours(1), .cooldown = Duration{0}});
  KeyFetcher fetcher(world.dependencies, slow);
  fetcher.use({slow, fast});
  world.serve(answer(key_set({"a"})));
  slow.settings.keys->note_unknown_key();
  fetcher.check();
  world.serve(answer(key_set({"a"})));
  CHECK(fetcher.health()->ok.value() == 2);
}

TEST_CASE("an earlier configuration gets the keys while it exists") {
  World world;
  KeyTarget first = world.target("one");
  KeyFetcher fetcher(world.dependencies, first);
  fetcher.use({first});
  world.serve(answer(key_set({"a"})));
  const KeyTarget second = world.target("one");
  fetcher.use({second});
  const std::uint64_t published = first.settings.keys->number();
  // A worker that has no memory for the second one needs a key.
  first.settings.keys->note_unknown_key();
  fetcher.check();
  world.serve(answer(key_set({"b"})));
  CHECK(first.settings.keys->number() == published + 1);
  CHECK(first.settings.keys->edition().keys == second.settings.keys->edition().keys);
  CHECK_FALSE(first.settings.keys->edition().keys->candidates("a", jwt::JwsAlgorithm::es256).known);
  // Also with other TLS settings.
  KeyTarget third = world.target("one");
  third.settings.tls.server_name = "issuer.example";
  KeyFetcher other(world.dependencies, third);
  other.inherit(fetcher, "one");
  other.use({third});
  world.serve(answer(key_set({"c"})));
  CHECK(first.settings.keys->edition().keys == third.settings.keys->edition().keys);
  CHECK(second.settings.keys->edition().keys == third.settings.keys->edition().keys);
  const std::weak_ptr<jwt::PublishedKeys> watched = first.settings.keys;
  first.settings.keys.reset();
  CHECK(watched.expired());
  third.settings.keys->note_unknown_key();
  other.check();
  world.serve(answer(key_set({"d"})));
  CHECK(second.settings.keys->edition().keys == third.settings.keys->edition().keys);
}

/// The fetchers of a process.
struct Process : World {
  KeyFetchers fetchers{io, clock, 1, [this](const LogLine& line) { lines += line.text + "\n"; }};
};

/// The loop has a timer, so it is polled and never runs out of work.
TEST_CASE("one URL is fetched once, whatever the number of providers and reloads") {
  Process process;
  const KeyTarget one = process.target("one", patient);
  KeyTarget other = process.target("other", patient);
  other.settings.url.target = "/other";
  KeyTarget verified = process.target("verified", patient);
  verified.settings.tls.server_name = "issuer.example";
  process.fetchers.use({one, process.target("two", patient), other, verified});
  run(process.io);
  int requests = 0;
  while (process.server.accept())
    ++requests;
  CHECK(requests == 3);
  const auto health = process.fetchers.health();
  REQUIRE(health.size() == 4);
  CHECK(health[1].provider == "two");
  CHECK(health[0].health == health[1].health);
  CHECK(health[0].health != health[2].health);
  process.fetchers.stop();
  run(process.io);
}

TEST_CASE("with other TLS settings the keys stay until some have been fetched") {
  Process process;
  const KeyTarget before = process.target("one", patient);
  process.fetchers.use({before});
  process.serve(answer(key_set({"a"})));
  process.take_log();
  KeyTarget after = process.target("one", patient);
  after.settings.tls.server_name = "issuer.example";
  process.fetchers.use({after});
  CHECK(after.settings.keys->edition().keys == before.settings.keys->edition().keys);
  auto health = process.fetchers.health().front().health;
  CHECK(health->age().has_value());
  CHECK(health->degraded().empty());
  process.serve("HTTP/1.1 500 Oops\r\n\r\n");
  CHECK(size_of(after) == 1);
  CHECK(health->degraded() == "no keys have been fetched since jwks.tls changed: it answered 500");
  CHECK(process.take_log() ==
        "jwt provider one: cannot fetch the keys from http://issuer/keys: it answered 500; the "
        "keys fetched before stay in use\n");
  // The next reload hands them on, and its first fetch replaces them.
  KeyTarget last = process.target("one", patient);
  last.settings.tls.server_name = "issuer.test";
  process.fetchers.use({last});
  health = process.fetchers.health().front().health;
  CHECK(size_of(last) == 1);
  process.serve(answer(key_set({"b"})));
  CHECK(last.settings.keys->edition().keys->candidates("b", jwt::JwsAlgorithm::es256).known);
  CHECK_FALSE(last.settings.keys->edition().keys->candidates("a", jwt::JwsAlgorithm::es256).known);
  CHECK(health->degraded().empty());
  process.fetchers.stop();
}

TEST_CASE("a provider gets no keys that others fetch with their TLS settings") {
  Process process;
  process.fetchers.use({process.target("one", patient), process.target("two", patient)});
  process.serve(answer(key_set({"a"})));
  // The second one leaves the fetcher that the first one goes on with; the third one is new.
  const KeyTarget one = process.target("one", patient);
  KeyTarget two = process.target("two", patient);
  KeyTarget three = process.target("three", patient);
  two.settings.tls.server_name = "issuer.example";
  three.settings.tls.server_name = "issuer.test";
  process.fetchers.use({one, two, three});
  CHECK(size_of(one) == 1);
  CHECK(size_of(two) == 1);
  CHECK(three.settings.keys->number() == 0);
  run(process.io);
  int requests = 0;
  while (process.server.accept())
    ++requests;
  CHECK(requests == 2);
  process.fetchers.stop();
  run(process.io);
}

TEST_CASE("a reload hands over the keys of a URL, and ends the fetches of others") {
  Process process;
  const KeyTarget before = process.target("one", patient);
  process.fetchers.use({before});
  process.serve(answer(key_set({"a"})));
  CHECK(size_of(before) == 1);
  // The next configuration.
  const KeyTarget after = process.target("renamed", patient);
  process.fetchers.use({after});
  CHECK(after.settings.keys->edition().keys == before.settings.keys->edition().keys);
  CHECK_FALSE(process.is_requested());
  // A fetch that is in progress goes on for the next configuration.
  KeyTarget moved = process.target("one", patient);
  moved.settings.url.target = "/keys?2";
  process.fetchers.use({moved});
  run(process.io);
  const auto far = process.server.accept();
  REQUIRE(far);
  KeyTarget again = moved;
  again.settings.keys = std::make_shared<jwt::PublishedKeys>();
  process.fetchers.use({again});
  run(process.io);
  far->receive();
  far->send(answer(key_set({"b"})));
  run(process.io);
  CHECK(again.settings.keys->number() == 1);
  CHECK(moved.settings.keys->number() == 1);  // a worker may still use it
  // And ends with the URL.
  process.fetchers.use({before});
  run(process.io);
  const auto last = process.server.accept();
  REQUIRE(last);
  last->receive();
  process.fetchers.use({});
  run(process.io);
  CHECK(last->has_ended());
  CHECK(process.fetchers.health().empty());
}

}  // namespace
}  // namespace weir::app
