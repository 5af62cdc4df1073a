#include "config/written.hpp"

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

TEST_CASE("a value that is noted is shown as written, on one line") {
  Written written;
  written.add("routes[0].match.host", "${HOST}");
  written.add("a", "x\n\t${B}\x01");
  CHECK(written.shown("routes[0].match.host", "secret.test") == "${HOST}");
  CHECK(written.shown("routes[1].match.host", "shown.test") == "shown.test");
  CHECK(written.shown("a", "v") == "x??${B}?");
  CHECK(written.has("a"));
  CHECK_FALSE(written.has("b"));
}

TEST_CASE("a value hides those that it is part of") {
  Written written;
  written.add("policies.p.rates[1]", "${RATE}");
  written.add("policies.pq.burst", "${BURST}");
  CHECK(written.has_within("policies.p"));
  CHECK(written.has_within("policies.p.rates"));
  CHECK(written.has_within("policies.p.rates[1]"));
  CHECK_FALSE(written.has_within("policies.p.rate"));
  CHECK_FALSE(written.has_within("policie"));
  CHECK(written.hides_numbers_of("policies.p"));
  CHECK(written.hides_numbers_of("policies.pq"));
  CHECK_FALSE(written.hides_numbers_of("policies.q"));
  written.add("policies.q.mode", "${MODE}");
  CHECK_FALSE(written.hides_numbers_of("policies.q"));
}

TEST_CASE("a source is shown with the names that are written") {
  const auto config = test::must_load(
      "identities:\n"
      "  a: {any_of: [{header: \"${H}\"}, {all_of: [{query: \"${Q}\"}, {cookie: b}]}, {path: "
      "{}}]}\n"
      "  b: {path: \"${P}\"}\n" +
          test::route_tail,
      test::environment({{"H", "x-secret"}, {"Q", "secret"}, {"P", "segment"}}));
  const auto shown = [&](const std::string& name, std::size_t i) {
    return identity::describe(
        config->written.shown("identities." + name, config->identities[i].source));
  };
  CHECK(shown("a", 1) == "any of (header ${H}, all of (query ${Q}, cookie b), path)");
  CHECK(shown("b", 2) == "path ${P}");
  CHECK(identity::describe(config->identities[2].source) == "path segment");
}

TEST_CASE("scalars with variables and secrets in files are noted, and nothing else") {
  const auto config = test::must_load(
      "workers: ${WORKERS}\nshutdown_timeout: 5s\nidentity_secret: $${NONE}\n"
      "access_log: {path: \"${NONE:-off}\"}\n" +
          test::route_tail,
      test::environment({{"WORKERS", "2"}}));
  CHECK(config->written.shown("workers", "2") == "${WORKERS}");
  CHECK(config->written.shown("access_log.path", "off") == "${NONE:-off}");
  CHECK_FALSE(config->written.has("shutdown_timeout"));
  CHECK_FALSE(config->written.has("identity_secret"));
}

TEST_CASE("the name of a route is the text in the file") {
  const auto config = test::must_load(
      "routes:\n"
      "- {name: \"a-${X}\", match: {path: /a}, respond: {}}\n"
      "- {match: {path: \"/b/${X}\"}, respond: {}}\n"
      "- {match: {path: /c}, respond: {}}\n",
      test::environment({{"X", "secret"}}));
  CHECK(config->routes[0].name == "a-${X}");
  CHECK(config->routes[1].name == "/b/${X}");
  CHECK(config->routes[1].match.path->text() == "/b/secret");
  CHECK(config->routes[2].name == "/c");
}

TEST_CASE("a limit without a cost of its own shows that of its policy") {
  const auto config = test::must_load(
      "policies: {p: {rate: 10/1s, cost: \"${COST}\"}}\n"
      "routes: [{respond: {}, limits: [{policy: p}]}, {match: {path: /}, respond: {},"
      " limits: [{policy: p, cost: 3}]}]\n",
      test::environment({{"COST", "3"}}));
  CHECK(config->written.shown("routes[0].limits[0].cost", "3") == "${COST}");
  CHECK(config->written.shown("routes[1].limits[0].cost", "3") == "3");
}

TEST_CASE("messages about numbers that come from variables have none") {
  CHECK(without_numbers("burst 12 is above 3s") == "burst ... is above ...s");
  CHECK(without_numbers("none") == "none");
  const std::string problems =
      test::problems_of("policies: {p: {rate: \"${R}\"}, q: {rate: 0/1s}}\n" + test::route_tail,
                        test::environment({{"R", "0/7s"}}));
  CHECK(problems ==
        "1:22: policies.p.rate: the rate's count is ...: it must be at least ...\n"
        "1:41: policies.q.rate: the rate's count is 0: it must be at least 1\n");
}

}  // namespace
}  // namespace weir::config
