#include "catch.hpp"
#include "unit/config/loading.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::config {
namespace {

using test::must_load;
using test::problems_of;

TEST_CASE("routes take their names from their configuration, their path or their place") {
  const auto config = must_load(R"(
routes:
  - {name: /b, match: {path: /a}, respond: {}}
  - {match: {path: /a, methods: [GET]}, respond: {}}
  - {match: {path: /a}, respond: {}}
  - {match: {path: /b}, respond: {}}
  - respond: {}
)");
  const char* const names[] = {"/b", "/a", "route-3", "route-4", "route-5"};
  REQUIRE(config->proxy.routes.size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(config->proxy.routes[i].name == names[i]);
  CHECK(problems_of("routes: [{name: route-2, respond: {}}, {respond: {}}]\n")
            .find("\"route-2\" is taken") != std::string::npos);
}

TEST_CASE("a match has the written conditions") {
  const auto config = must_load(R"(
routes:
  - match: {host: "*.example.com", path: "/u/{id}/**", methods: [GET, PURGE], headers: {X-Beta: 1, accept: "*/*"}}
    respond: {status: 204, content_type: text/html}
)");
  const routing::Match& match = config->proxy.routes[0].match;
  CHECK(match.host == "*.example.com");
  CHECK(match.path->parameters() == std::vector<std::string>{"id"});
  CHECK(match.methods == std::vector<std::string>{"GET", "PURGE"});
  REQUIRE(match.headers.size() == 2);
  CHECK(match.headers[0].first == "X-Beta");
  CHECK(match.headers[0].second == "1");
  CHECK(config->proxy.routes[0].respond.status == 204);
  CHECK(config->proxy.routes[0].respond.content_type == "text/html");
  CHECK_FALSE(config->proxy.routes[0].upstream);
}

TEST_CASE("the body of a fixed answer that names a file loads with a warning") {
  const auto [body, is_warned] = GENERATE(table<std::string, bool>(
      {{"file:robots.txt", true}, {"see file:x", false}, {"text", false}}));
  CAPTURE(body);
  const std::string text = "routes: [{respond: {body: \"" + body + "\"}}]\n";
  CHECK(must_load(text)->proxy.routes[0].respond.body == body);
  const auto warnings = test::warnings_of(text);
  REQUIRE(warnings.size() == (is_warned ? 1U : 0U));
  if (is_warned)
    CHECK_THAT(warnings[0],
               Catch::Matchers::EndsWith("routes[0].respond.body: is sent as it is: a body is not "
                                         "read from a file; write the text here"));
}

TEST_CASE("limits are resolved to indexes, whatever the order of sections") {
  const auto config = must_load(R"(
routes:
  - respond: {}
    limits:
      - {policy: second, key: user, otherwise: client}
      - {policy: second, key: client, cost: 0}
      - {policy: first, key: user, required: true, overdraft: true, cost: 7}
      - {policy: first}
policies: {first: {rate: 10/s}, second: {rate: 10/s, cost: 4}}
identities: {user: {header: x-user}}
)");
  const auto& limits = config->proxy.routes[0].limits;
  REQUIRE(limits.size() == 4);
  CHECK(limits[0].policy == 1);
  CHECK(config->limiter.identities[limits[0].identity].name == "user");
  REQUIRE(limits[0].otherwise);
  CHECK(config->limiter.identities[*limits[0].otherwise].name == "client");
  CHECK(limits[0].cost == 4);
  CHECK(limits[1].cost == 0);
  CHECK(limits[2].policy == 0);
  CHECK(limits[2].required);
  CHECK(limits[2].overdraft);
  CHECK(limits[2].cost == 7);
  CHECK(config->limiter.identities[limits[3].identity].name == "client");
  CHECK(limits[3].cost == 1);
}

TEST_CASE("a route that requires an identity has a challenge for the ways it may come") {
  const auto challenge = [](const std::string& limits) {
    return http::lines_of(
        must_load("identities: {user: {header: Authorization}, key: {header: x-api-key},\n"
                  "  any: {any_of: [{query: key}, {header: authorization}]},\n"
                  "  all: {all_of: [{cookie: a}, {path: {}}]}}\n"
                  "policies: {p: {rate: 1/s}, q: {rate: 2/s}}\n"
                  "routes: [{respond: {}, limits: [" +
                  limits + "]}]\n")
            ->proxy.routes[0]
            .challenge);
  };
  CHECK(challenge("{policy: p, key: user}").empty());
  CHECK(challenge("{policy: p, key: user, required: true}") == "WWW-Authenticate: Bearer\r\n");
  CHECK(challenge("{policy: p, key: key, required: true}") == "WWW-Authenticate: ApiKey\r\n");
  CHECK(challenge("{policy: p, key: all, required: true}") == "WWW-Authenticate: ApiKey\r\n");
  const std::string both = "WWW-Authenticate: Bearer, ApiKey\r\n";
  CHECK(challenge("{policy: p, key: any, required: true}") == both);
  CHECK(
      challenge("{policy: p, key: key, required: true}, {policy: q, key: user, required: true}") ==
      both);
}

TEST_CASE("a path identity needs a route that captures it, however deep it is named") {
  const std::string identities =
      "identities: {id: {path: id}, deep: {any_of: [{header: x}, {all_of: [{path: id}, {path: "
      "{}}]}]}}\n"
      "policies: {p: {rate: 1/s}, w: {algorithm: attributed_window, rate: 1/s, attributes: "
      "[\"identity:id\"]}}\n";
  const auto with = [&](const std::string& path, const std::string& limit) {
    return problems_of(identities + "routes: [{match: {path: \"" + path +
                       "\"}, respond: {}, limits: [" + limit + "]}]\n");
  };
  for (const std::string limit : {"{policy: p, key: id}", "{policy: p, key: deep}",
                                  "{policy: p, otherwise: id, key: client}", "{policy: w}"}) {
    CAPTURE(limit);
    CHECK(with("/u/{id}", limit).empty());
    CHECK(with("/u/{other}", limit).find("needs the path segment {id}") != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::config
