#include <algorithm>
#include <sstream>

#include "catch.hpp"
#include "unit/cli/explained.hpp"

namespace weir::cli {
namespace {

TEST_CASE("the text of a decision for another proxy") {
  Sent sent = get("/auth", {"X-Original-Method: PUT", "X-Original-URI: /asked/x?key=secret"});
  sent.peer = "10.0.0.1";
  const auto config = loaded_config();
  const std::string text = to_text(explained(*config, sent));
  CHECK(
      text.starts_with("request     GET /auth\n"
                       "host        api.example.com\n"
                       "client      10.0.0.1\n"
                       "original    PUT /asked/x\n"
                       "  host      api.example.com\n"
                       "  because   described by X-Original-Method, X-Original-URI\n"
                       "route       asked (decides for another proxy)\n"));
  CHECK(text.ends_with("\n\nverdict     allowed, status 200\n"));
}

TEST_CASE("the text of a fixed answer is not that of a denial") {
  const auto config = loaded_config("routes: [{respond: {status: 403}}]\n");
  const std::string text = to_text(explained(*config, get("/")));
  CHECK(text.ends_with("\n\nverdict     allowed, answered by the route with status 403\n"));
}

TEST_CASE("an error for a gRPC call is shown with its grpc-status") {
  const auto verdict_of = [](const std::string& target, const std::string& content_type,
                             const std::string& more = {}) {
    const auto config = loaded_config(explained_yaml + more);
    const std::string text =
        to_text(explained(*config, get(target, {"Content-Type: " + content_type})));
    return text.substr(text.find("\n\nverdict") + 14);
  };
  const std::string grpc = "application/grpc+proto";
  CHECK(verdict_of("/private", grpc).starts_with("refused, status 401 (grpc-status 16): "));
  CHECK(verdict_of("/private", "application/json").starts_with("refused, status 401: "));
  CHECK(verdict_of("/none", grpc).starts_with("refused, status 404 (grpc-status 12): "));
  CHECK(verdict_of("/costly", grpc).starts_with("denied, status 503 (grpc-status 8)"));
  CHECK(verdict_of("/costly", grpc, "grpc: {denied_code: 14}\n")
            .starts_with("denied, status 503 (grpc-status 14)"));
  CHECK(verdict_of("/shadow", grpc).find("grpc-status") == std::string::npos);
}

TEST_CASE("a request that is refused before its target is read is shown as it was given") {
  const auto config = loaded_config();
  const auto text_of = [&](const Sent& sent) { return to_text(explained(*config, sent)); };
  const std::string host_and_client = "host        a.test\nclient      192.0.2.7\n";
  const auto to = [](std::string method, std::string target, std::vector<std::string> fields) {
    return Sent{.arguments = {.method = std::move(method),
                              .url = "http://a.test:81" + target,
                              .fields = std::move(fields)}};
  };
  // Larger than max_head; larger than max_target.
  const std::string large = text_of(to("GET", "/x?key=secret", {"X: " + std::string(40'000, 'a')}));
  CHECK(large.starts_with("request     GET /x\n" + host_and_client));
  for (const std::size_t size : {9000U, 40'000U}) {
    const std::string long_target = text_of(to("GET", "/" + std::string(size, 'a'), {}));
    CHECK(long_target.starts_with("request     GET /" + std::string(59, 'a') + "...\n" +
                                  host_and_client));
  }
  // Not parsed.
  std::vector<std::string> many(1000, "X: 1");
  CHECK(text_of(to("PUT", "/x", many)).starts_with("request     PUT /x\n" + host_and_client));
  const std::string traced = text_of(to("TRACE", "/x", {}));
  CHECK(traced.starts_with("request     TRACE /x\n" + host_and_client));
  CHECK(traced.find("\n\nverdict     refused, status 405: ") != std::string::npos);
  // A host that is not one is not shown.
  const std::string hostless = text_of(to("GET", "/x", {"Host: a b"}));
  CHECK(hostless.starts_with("request     GET /x\nclient      192.0.2.7\n"));
}

TEST_CASE("the text of an explanation") {
  const auto config = loaded_config();
  const std::string text = to_text(explained(*config, get("/v1/search?key=secret")));
  CHECK(
      text.starts_with("request     GET /v1/search\n"
                       "host        api.example.com\n"
                       "client      192.0.2.7\n"
                       "route       search\n"
                       "upstream    api\n"
                       "\n"
                       "limit       per_user: gcra 600/1m, 20 at once (from the policy)\n"
                       "  applies   yes: user is absent, client is present\n"
                       "  key       client (client_address) hash "));
  CHECK(text.find("  cost      5\n"
                  "  answer    allowed, 15 remaining, all of it again after 500 ms\n") !=
        std::string::npos);
  CHECK(text.ends_with("\nverdict     allowed, forwarded to api\n"));
  CHECK(text.find("secret") == std::string::npos);

  const std::string refused = to_text(explained(*config, get("/none")));
  CHECK(refused.find("route       none\n"
                     "skipped     search: path does not match /v1/search\n"
                     "            costly: path does not match /costly\n") != std::string::npos);
  CHECK(refused.ends_with("\n\nverdict     refused, status 404: no route matches the request\n"));
}

TEST_CASE("the text shows times, and a denial that does not end") {
  const auto config = loaded_config(R"(
listen: [{address: "127.0.0.1:0"}]
identities: {client: {client_address: {}}}
policies: {p: {algorithm: gcra, rate: 10/25s}, q: {algorithm: gcra, rate: 1/1m}}
routes:
  - match: {path: /a}
    respond: {status: 200}
    limits: [{policy: p, key: client, cost: 6}]
  - match: {path: /b}
    respond: {status: 200}
    limits: [{policy: q, key: client, cost: 2}]
)");
  const std::string allowed = to_text(explained(*config, get("/a")));
  CHECK(allowed.find("allowed, 4 remaining, all of it again after 15.0 s\n") != std::string::npos);
  const std::string never = to_text(explained(*config, get("/b")));
  CHECK(never.find("denied, 1 remaining, never succeeds: the cost is above the limit\n") !=
        std::string::npos);
  CHECK(never.ends_with("verdict     denied, status 429\n"));
}

TEST_CASE("lines of the text have at most 80 characters, and long lists are cut") {
  std::string many = "listen: [{address: \"127.0.0.1:0\"}]\nroutes:\n";
  for (int i = 0; i < 25; ++i)
    many += "  - {name: \"route number " + std::to_string(i) + "\", match: {path: \"/" +
            std::string(20, 'a') + std::to_string(i) +
            "\", methods: [GET, PUT]}, respond: {status: 200}}\n";
  const auto config = loaded_config(many);
  const Explanation found = explained(*config, get("/none"));
  CHECK(found.skipped.size() == 25);
  std::istringstream lines(to_text(found));
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size());
  CHECK(longest <= 80);
  CHECK(to_text(found).find("            and 5 more; --json lists all\n") != std::string::npos);
}

}  // namespace
}  // namespace weir::cli
