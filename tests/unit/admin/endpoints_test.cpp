#include "admin/endpoints.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "test_process.hpp"

using namespace weir::admin;

namespace {

/// The answer to a request, by the endpoints of this room and three that others add.
AdminAnswer answer(const AdminRequest& request, const Instruments& instruments) {
  auto endpoints = instrument_endpoints();
  const Handler nothing = [](const AdminCall&, const Instruments&, const Reply& reply) {
    reply({.status = 204});
  };
  endpoints.push_back({"/v1/reload", "POST", nothing});
  constexpr static std::string_view parameters[]{"identity", "key"};
  endpoints.push_back({.path = "/v1/overrides",
                       .methods = "GET, HEAD, PUT, DELETE",
                       .handle = nothing,
                       .parameters = {"GET, HEAD, DELETE", parameters}});
  endpoints.push_back({"/", "GET, HEAD", nothing, Access::page});
  const auto found = find_endpoint(endpoints, request, instruments.options);
  if (!found) return found.error();
  AdminAnswer given;
  (*found)->handle({}, instruments, [&given](AdminAnswer made) { given = std::move(made); });
  return given;
}

}  // namespace

TEST_CASE("admin endpoints answer by path and method") {
  struct Row {
    const char* method;
    const char* path;
    int status;
    std::string allow;
  };
  const std::vector<Row> rows{
      {"GET", "/healthz", 200, ""},
      {"HEAD", "/healthz", 200, ""},
      {"GET", "/readyz", 200, ""},
      {"GET", "/metrics", 200, ""},
      {"POST", "/v1/reload", 204, ""},
      {"PUT", "/v1/overrides", 204, ""},
      // wrong methods
      {"POST", "/healthz", 405, "GET, HEAD"},
      {"get", "/metrics", 405, "GET, HEAD"},
      {"GET", "/v1/reload", 405, "POST"},
      {"GET,", "/healthz", 405, "GET, HEAD"},
      {"POST", "/v1/overrides", 405, "GET, HEAD, PUT, DELETE"},
      {"", "/healthz", 405, "GET, HEAD"},
      {"GET", "/", 204, ""},
      {"POST", "/", 405, "GET, HEAD"},
      {"GET", "/v1/config", 200, ""},
      // unknown paths are exact
      {"GET", "", 404, ""},
      {"GET", "/healthz/", 404, ""},
      {"GET", "/HEALTHZ", 404, ""},
      {"GET", "/etc/passwd", 404, ""},
  };
  const TestProcess process;
  for (const auto& row : rows) {
    CAPTURE(row.method, row.path);
    const auto given = answer({.method = row.method, .path = row.path, .authorization = {}},
                              process.instruments());
    CHECK(given.status == row.status);
    CHECK(given.allow == row.allow);
    if (given.status >= 400) {
      CHECK(given.content_type == "application/problem+json");
      CHECK(nlohmann::json::parse(given.body)["status"] == row.status);
    }
  }
}

TEST_CASE("the answer to an unknown path lists the endpoints") {
  const TestProcess process;
  const auto given =
      answer({.method = "GET", .path = "/v1/limit", .authorization = {}}, process.instruments());
  CHECK(nlohmann::json::parse(given.body)["detail"] ==
        "no such admin endpoint; the endpoints are /healthz, /readyz, /metrics, /v1/config, "
        "/v1/reload, /v1/overrides, /");
}

TEST_CASE("an unknown parameter is refused with those that the request can have") {
  struct Row {
    const char* method;
    const char* path;
    const char* query;
    std::string detail;  ///< empty: accepted
  };
  const std::vector<Row> rows{
      {"GET", "/v1/overrides", "", ""},
      {"GET", "/v1/overrides", "key=a&identity=b", ""},
      {"GET", "/v1/overrides", "key&key=%zz", ""},  // the endpoint reads the values
      {"GET", "/v1/overrides", "key=a&kye=S",
       R"(unknown parameter "kye"; known are identity, key)"},
      {"HEAD", "/v1/overrides", "=a", R"(unknown parameter ""; known are identity, key)"},
      {"DELETE", "/v1/overrides", "KEY=a", R"(unknown parameter "KEY"; known are identity, key)"},
      {"PUT", "/v1/overrides", "key=a",
       R"(unknown parameter "key"; this request has no parameters)"},
      {"GET", "/v1/config", "key", R"(unknown parameter "key"; this request has no parameters)"},
      {"GET", "/healthz", "a=b", ""},
      {"GET", "/readyz", "a=b", ""},
      {"GET", "/metrics", "a=b", ""},
  };
  const TestProcess process;
  for (const auto& row : rows) {
    CAPTURE(row.method, row.path, row.query);
    const auto given =
        answer({.method = row.method, .path = row.path, .query = row.query, .authorization = {}},
               process.instruments());
    CHECK((given.status == 400) == !row.detail.empty());
    if (given.status != 400) continue;
    CHECK(given.content_type == "application/problem+json");
    CHECK(nlohmann::json::parse(given.body)["detail"] == row.detail);
  }
  CHECK(unknown_parameter(std::string(70, 'a') + "=b", {}) ==
        "unknown parameter \"" + std::string(60, 'a') + "...\"; this request has no parameters");
}

TEST_CASE("POST /v1/reload is answered with what has changed, or with every problem") {
  const auto applied = reload_answer(
      {.hash = "c0ffee", .changed = {"listen", "routes.\"a\""}, .restart_needed = {"workers"}});
  CHECK(applied.status == 200);
  CHECK(applied.content_type == "application/json");
  CHECK(nlohmann::json::parse(applied.body) ==
        nlohmann::json{{"hash", "c0ffee"},
                       {"changed", {"listen", "routes.\"a\""}},
                       {"restart_needed", {"workers"}}});

  const auto many =
      nlohmann::json::parse(reload_answer({.changed = {"listen"}, .changed_omitted = 9'900}).body);
  CHECK(many["changed"] == nlohmann::json{"listen"});
  CHECK(many["changed_omitted"] == 9'900);

  const auto rejected = reload_answer(
      {.outcome = ReloadReport::Outcome::rejected,
       .file = "weir.yaml",
       .problems = {{.line = 3, .column = 7, .path = "policies.p.rate", .message = "no \"rate\""},
                    {.message = "too many"}}});
  CHECK(rejected.status == 422);
  CHECK(rejected.content_type == "application/problem+json");
  const auto problem = nlohmann::json::parse(rejected.body);
  CHECK(problem["status"] == 422);
  CHECK(problem["title"] == "Unprocessable Content");
  CHECK(problem["problems"] == nlohmann::json::array({{{"file", "weir.yaml"},
                                                       {"line", 3},
                                                       {"column", 7},
                                                       {"path", "policies.p.rate"},
                                                       {"message", "no \"rate\""}},
                                                      {{"file", "weir.yaml"},
                                                       {"line", nullptr},
                                                       {"column", nullptr},
                                                       {"path", ""},
                                                       {"message", "too many"}}}));

  const auto draining = reload_answer({.outcome = ReloadReport::Outcome::unavailable});
  CHECK(draining.status == 503);
}

TEST_CASE("/readyz follows the state of the process") {
  struct Row {
    Readiness readiness;
    int status;
    const char* state;
  };
  TestProcess process;
  for (const auto& row :
       {Row{Readiness::starting, 503, "starting"}, Row{Readiness::ready, 200, "ready"},
        Row{Readiness::draining, 503, "draining"}}) {
    process.readiness = row.readiness;
    const auto given =
        answer({.method = "GET", .path = "/readyz", .authorization = {}}, process.instruments());
    CHECK(given.status == row.status);
    CHECK(nlohmann::json::parse(given.body)["state"] == row.state);
    const auto health =
        answer({.method = "GET", .path = "/healthz", .authorization = {}}, process.instruments());
    CHECK(health.status == 200);
  }
}

TEST_CASE("/readyz reports why it is degraded, and is unready only if no policy could decide") {
  using weir::limiter::OnFailure;
  struct Row {
    std::vector<OnFailure> policies;
    std::vector<bool> shadow;
    bool connected;
    int status;
  };
  const StoreStatus lost{.last_error = "redis is not reachable: \"connection refused\""};
  const StoreStatus silent{.connected = true, .last_error = "redis does not decide: timeout"};
  for (const Row& row : {
           Row{{OnFailure::local}, {false}, false, 200},
           Row{{OnFailure::deny, OnFailure::allow}, {false, false}, false, 200},
           Row{{OnFailure::deny}, {false}, false, 503},
           Row{{OnFailure::deny, OnFailure::deny}, {false, false}, false, 503},
           // a shadow policy denies nobody
           Row{{OnFailure::deny, OnFailure::local}, {false, true}, false, 503},
           Row{{OnFailure::deny}, {true}, false, 200},
           // no limits, nothing to decide
           Row{{}, {}, false, 200},
           // connected, but no answer is good
           Row{{OnFailure::deny}, {false}, true, 503},
           Row{{OnFailure::local}, {false}, true, 200},
       }) {
    CAPTURE(row.policies.size(), row.connected);
    TestProcess process({named_route("all")});
    process.share_store();
    process.config.limiter.policies.resize(row.policies.size());
    for (std::size_t i = 0; i < row.policies.size(); ++i) {
      process.config.limiter.policies[i].on_failure = row.policies[i];
      process.config.limiter.policies[i].shadow = row.shadow[i];
      process.config.proxy.routes[0].limits.emplace_back().policy = i;
    }
    process.health.report(0, {.connected = true, .deciding = true}, Instant{});
    process.health.report(1, row.connected ? silent : lost, Instant{});
    const auto given =
        answer({.method = "GET", .path = "/readyz", .authorization = {}}, process.instruments());
    CHECK(given.status == row.status);
    const auto body = nlohmann::json::parse(given.body);
    CHECK(body["state"] == (row.status == 200 ? "ready" : "unready"));
    CHECK(body["degraded"] ==
          nlohmann::json::array({row.connected ? silent.last_error : lost.last_error}));
  }
}

TEST_CASE("/readyz lists the providers without current keys, and stays ready") {
  TestProcess process;
  const auto keys = std::make_shared<KeyHealth>();
  process.keys = {{"idp", keys}, {"other", std::make_shared<KeyHealth>()}};
  const auto readyz = [&] {
    const auto given =
        answer({.method = "GET", .path = "/readyz", .authorization = {}}, process.instruments());
    CHECK(given.status == 200);
    return given.body;
  };
  CHECK(readyz() == "{\"state\":\"ready\"}\n");
  keys->set({}, "no keys have been fetched: it answered 500");
  const std::string reason = "\"jwt provider idp: no keys have been fetched: it answered 500\"";
  CHECK(readyz() == "{\"state\":\"ready\",\"degraded\":[" + reason + "]}\n");
  process.share_store();
  process.health.report(0, {.last_error = "redis is not reachable"}, Instant{});
  CHECK(readyz() ==
        "{\"state\":\"ready\",\"replicas\":1,\"degraded\":[\"redis is not reachable\"," + reason +
            "]}\n");
  process.health.report(0, {.connected = true, .deciding = true}, Instant{});
  keys->set(std::chrono::seconds(1), "");
  CHECK(readyz() == "{\"state\":\"ready\",\"replicas\":1}\n");
}

TEST_CASE("/readyz with a working store has no reason, and the number of instances") {
  TestProcess process;
  process.share_store();
  for (std::size_t worker : {0, 1})
    process.health.report(worker, {.connected = true, .deciding = true}, Instant{});
  CHECK(answer({.method = "GET", .path = "/readyz", .authorization = {}}, process.instruments())
            .body == "{\"state\":\"ready\",\"replicas\":1}\n");
  process.health.report_instances({.running = 2, .replicas = 3});
  const auto replicas = [&] {
    return nlohmann::json::parse(
        answer({.method = "GET", .path = "/readyz", .authorization = {}}, process.instruments())
            .body)["replicas"];
  };
  CHECK(replicas() == 1);
  process.config.redis.replicas = 5;
  CHECK(replicas() == 5);
  process.config.redis.replicas.reset();
  CHECK(replicas() == 3);
}

TEST_CASE("without a token all but the probes need a Host of this server") {
  TestProcess process;
  const auto status = [&](const char* path, const char* host) {
    return answer({.method = "GET", .path = path, .authorization = {}, .from = {.host = host}},
                  process.instruments())
        .status;
  };
  for (const char* path : {"/metrics", "/v1/config", "/", "/nothing"}) {
    CAPTURE(path);
    CHECK(status(path, "evil.test") == 403);
    CHECK(status(path, "127.0.0.1:9090") != 403);
  }
  CHECK(status("/healthz", "evil.test") == 200);
  CHECK(status("/readyz", "evil.test") == 200);
  process.config.admin->token = weir::Secret("s3cret");
  CHECK(status("/metrics", "evil.test") == 401);
}

TEST_CASE("the token protects everything but the probes and the page") {
  TestProcess process;
  process.config.admin->token = weir::Secret("s3cret");
  struct Row {
    const char* path;
    std::string authorization;
    int status;
  };
  const std::vector<Row> rows{
      {"/healthz", "", 200},
      {"/readyz", "Bearer wrong", 200},
      {"/metrics", "Bearer s3cret", 200},
      {"/metrics", "bearer  s3cret", 200},
      // not the token
      {"/metrics", "", 401},
      {"/metrics", "s3cret", 401},
      {"/metrics", "Bearer ", 401},
      {"/metrics", "Bearer s3cre", 401},
      {"/metrics", "Bearer s3crett", 401},
      {"/metrics", "Bearer S3cret", 401},
      {"/metrics", std::string("Bearer s3cret\0", 14), 401},
      {"/metrics", "Basic s3cret", 401},
      // without the token it is not visible which paths exist
      {"/nothing", "", 401},
      {"/nothing", "Bearer s3cret", 404},
      {"/v1/reload", "", 401},
      // the page is served without the token, but not with another one
      {"/", "", 204},
      {"/", "Bearer s3cret", 204},
      {"/", "Bearer wrong", 401},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path, row.authorization);
    const auto given =
        answer({.method = "GET", .path = row.path, .authorization = row.authorization},
               process.instruments());
    CHECK(given.status == row.status);
    CHECK(given.body.find("s3cret") == std::string::npos);
    if (given.status != 401) continue;
    const bool has_token = row.authorization.starts_with("Bearer ") && row.authorization.size() > 7;
    CHECK((given.body.find("and the request has none") == std::string::npos) == has_token);
    CHECK((given.body.find("the token that was sent is not") != std::string::npos) == has_token);
  }
}

TEST_CASE("a request is authorized by the token, and always if there is none") {
  TestProcess process;
  const auto authorized = [&](const char* field) {
    return is_authorized(field, process.instruments().options);
  };
  CHECK(authorized(""));
  CHECK(authorized("Bearer any"));
  process.config.admin->token = weir::Secret("s3cret");
  CHECK(authorized("Bearer s3cret"));
  CHECK_FALSE(authorized(""));
  CHECK_FALSE(authorized("Bearer any"));
  CHECK(is_authorized("", nullptr));
}
