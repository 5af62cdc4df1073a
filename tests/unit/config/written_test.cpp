#include "config/written.hpp"

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

TEST_CASE("a value that is noted is shown as written, on one line") {
  Written written;
  written.add("routes[0].match.host", "${HOST}");
  written.add("a", "x\n\t${B}\x01");
  const Shown shown(written);
  CHECK(shown["routes"][0]["match"]["host"]("secret.test") == "${HOST}");
  CHECK(shown["routes"][1]["match"]["host"]("shown.test") == "shown.test");
  CHECK(shown["a"]("v") == "x??${B}?");
  CHECK(shown["a"](7) == "x??${B}?");
  CHECK(shown["b"](7) == "7");
  CHECK(shown["b"](std::chrono::seconds(90)) == "90s");
  CHECK(shown["a"].is_hidden());
  CHECK_FALSE(shown["b"].is_hidden());
  CHECK(unless_hidden(true, "7") == "(from the environment)");
  CHECK(unless_hidden(false, "7") == "7");
}

TEST_CASE("a value hides those that it is part of") {
  Written written;
  written.add("policies.p.rates[1]", "${RATE}");
  written.add("policies.pq.burst", "${BURST}");
  const Shown policies = Shown(written)["policies"];
  CHECK(policies["p"].is_hidden());
  CHECK(policies["p"]["rates"].is_hidden());
  CHECK(policies["p"]["rates"][1].is_hidden());
  CHECK_FALSE(policies["p"]["rate"].is_hidden());
  CHECK_FALSE(Shown(written, "policie").is_hidden());
  CHECK(policies["p"].hides_numbers());
  CHECK(policies["pq"].hides_numbers());
  CHECK_FALSE(policies["q"].hides_numbers());
  written.add("policies.q.mode", "${MODE}");
  CHECK_FALSE(policies["q"].hides_numbers());
}

TEST_CASE("values in quotes are replaced by their texts in a message") {
  Written written;
  written.add("identities.a.query", "${QUERY}", "secret_query");
  written.add("identities.b.cookie", "${COOKIE}", "Secret");
  written.add("policies.w.attributes[0]", "query:${PAGE}", "query:secret_page");
  written.add("policies.w.attributes[1]", "${ALL}", "header:Secret-Agent");
  written.add("policies.w.attributes[2]", "${DEFAULT:-query:part}", "query:part");
  written.add("client_address.untrusted_fields[1]", "${PREFIX}", "secret-*");
  written.add("admin.token", "${TOKEN}");
  const auto text = [](const std::string& name) {
    return "a field may be read as \"" + name + "\"; remove \"" + name + "\"";
  };
  const auto shown = [&](const std::string& name) { return written.without_values(text(name)); };
  CHECK(shown("secret_query") == text("${QUERY}"));
  CHECK(shown("Secret") == text("${COOKIE}"));
  CHECK(shown("secret") == text("${COOKIE}"));
  CHECK(shown("secret_page") == text("${PAGE}"));
  CHECK(shown("secret-agent") == text("${ALL}"));
  CHECK(shown("part") == text("${DEFAULT:-query:part}"));
  CHECK(shown("secret-*") == text("${PREFIX}"));
  CHECK(shown("other") == text("other"));
  CHECK(shown("") == text(""));
}

TEST_CASE("the loader notes the values of variables, and not those of secrets") {
  const auto config = test::must_load(
      "admin: {token: \"${TOKEN}\"}\nidentities: {a: {header: \"${FIELD}\"}}\n" + test::route_tail,
      test::environment({{"TOKEN", "secret-token"}, {"FIELD", "x-secret"}}));
  const Written& written = config->presentation.written;
  CHECK(config->shown()["admin"]["token"].is_hidden());
  CHECK(written.without_values("\"secret-token\" \"x-secret\"") == "\"secret-token\" \"${FIELD}\"");
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
        config->shown()["identities"][name](config->limiter.identities[i].source));
  };
  CHECK(shown("a", 1) == "any of (header ${H}, all of (query ${Q}, cookie b), path)");
  CHECK(shown("b", 2) == "path ${P}");
  CHECK(identity::describe(config->limiter.identities[2].source) == "path segment");
}

TEST_CASE("scalars with variables and secrets in files are noted, and nothing else") {
  const auto config = test::must_load(
      "workers: ${WORKERS}\nshutdown_timeout: 5s\nidentity_secret: $${NONE}\n"
      "access_log: {path: \"${NONE:-off}\"}\n" +
          test::route_tail,
      test::environment({{"WORKERS", "2"}}));
  CHECK(config->shown()["workers"](2) == "${WORKERS}");
  CHECK(config->shown()["access_log"]["path"]("off") == "${NONE:-off}");
  CHECK_FALSE(config->shown()["shutdown_timeout"].is_hidden());
  CHECK_FALSE(config->shown()["identity_secret"].is_hidden());
}

TEST_CASE("the name of a route is the text in the file") {
  const auto config = test::must_load(
      "routes:\n"
      "- {name: \"a-${X}\", match: {path: /a}, respond: {}}\n"
      "- {match: {path: \"/b/${X}\"}, respond: {}}\n"
      "- {match: {path: /c}, respond: {}}\n",
      test::environment({{"X", "secret"}}));
  CHECK(config->proxy.routes[0].name == "a-${X}");
  CHECK(config->proxy.routes[1].name == "/b/${X}");
  CHECK(config->proxy.routes[1].match.path->text() == "/b/secret");
  CHECK(config->proxy.routes[2].name == "/c");
}

TEST_CASE("a limit without a cost of its own shows that of its policy") {
  const auto config = test::must_load(
      "policies: {p: {rate: 10/1s, cost: \"${COST}\"}}\n"
      "routes: [{respond: {}, limits: [{policy: p}]}, {match: {path: /}, respond: {},"
      " limits: [{policy: p, cost: 3}]}]\n",
      test::environment({{"COST", "3"}}));
  CHECK(config->shown()["routes"][0]["limits"][0]["cost"](3) == "${COST}");
  CHECK(config->shown()["routes"][1]["limits"][0]["cost"](3) == "3");
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
