// The reserves that the body of a request states, for every way in which it can arrive.
#include "decision/stated_reserves.hpp"

#include "catch.hpp"
#include "decision/head_inspection.hpp"
#include "decision/request_routes.hpp"
#include "unit/decision/configuration.hpp"

namespace weir::decision::test {
namespace {

/// One route: a limit without a reserve, and one whose units are in the body.
Configuration with_reserve() {
  Configuration config;
  const usage::UsageSource source{.pointers = {*usage::JsonPointer::parse("/max_tokens")}};
  limiter::Limit limit;
  limit.charge = limiter::Charge{
      .reserve = limiter::Reserve{.in_body = *usage::UsagePlan::compile({&source, 1})}};
  options::Route& route = config.proxy.routes.emplace_back();
  route.limits = {limiter::Limit{}, limit};
  route.needs = options::needs_body;
  return config;
}

struct StatingBody {
  /// Passes the pieces, and ends the body if `is_whole`. Returns whether it was to be read.
  bool read(const std::string& fields, std::initializer_list<std::string_view> pieces,
            bool is_whole = true) {
    head = "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    request.clear();
    REQUIRE_FALSE(inspect_head(rules, head, request));
    REQUIRE_FALSE(routes.find(rules, request));
    if (!reserves.begin(request, routes.gathered())) return false;
    for (const std::string_view piece : pieces)
      reserves.feed(piece);
    if (is_whole) reserves.finish();
    return true;
  }
  std::optional<std::int64_t> stated() const {
    const auto all = routes.evidence()[0].stated;
    REQUIRE(all.size() == 2);
    CHECK_FALSE(all[0]);
    return all[1];
  }

  Configuration config = with_reserve();
  RequestRules rules{config.proxy, config.limiter};
  std::string head;
  http::ReceivedRequest request;
  RequestRoutes routes;
  StatedReserves reserves;
};

const std::string chunked = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("A body in pieces states what to reserve, and the next one something else") {
  StatingBody body;
  CHECK(body.read(chunked, {R"({"max_to)", R"(kens": 70})"}));
  CHECK(body.stated() == 70);
  CHECK(body.read("Content-Length: 17\r\n", {R"({"max_tokens":7})"}));
  CHECK(body.stated() == 7);
}

TEST_CASE("A body that is not whole, not JSON or encoded states nothing") {
  StatingBody body;
  CHECK(body.read(chunked, {R"({"max_tokens": 70})"}, false));
  CHECK_FALSE(body.stated());
  CHECK(body.read(chunked, {R"({"max_tokens": 70)"}));
  CHECK_FALSE(body.stated());
  CHECK(body.read(chunked + "Content-Encoding: gzip\r\n", {R"({"max_tokens": 70})"}));
  CHECK_FALSE(body.stated());
}

TEST_CASE("A request without a body, or with one that is too large, is not read") {
  StatingBody body;
  CHECK_FALSE(body.read("", {}));
  CHECK_FALSE(body.stated());
  CHECK_FALSE(body.read("Content-Length: 65537\r\n", {}));
  CHECK_FALSE(body.stated());
  CHECK(body.read("Content-Length: 65536\r\n", {}, false));
}

}  // namespace weir::decision::test
