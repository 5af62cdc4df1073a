#include "routing/find_routes.hpp"

#include <deque>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

/// /ask is answered without the original request; /v1/** and POST /v2 decide about it.
struct Table {
  Table() {
    add("/ask", {});
    add("/v1/**", {}, true);
    add("/v2", {"POST", "purge"}, true);
    add("/nginx", {});
  }
  void add(const char* path, std::vector<std::string> methods, bool decides = false) {
    Match& match = matches.emplace_back();
    match.path = PathPattern::parse(path).value();
    match.methods = std::move(methods);
    entries.push_back({.match = &match, .decides = decides});
  }
  /// The first candidate's route; -1: none.
  int find(const http::RequestOf& request, const PeerRules& peer) {
    const RouteTable table(entries, {});
    refusal = find_routes(table, request.view, peer, routed);
    return refusal || routed.candidates.empty() ? -1
                                                : static_cast<int>(routed.candidates.front().route);
  }

  std::deque<Match> matches;
  std::vector<RouteTable::Entry> entries;
  RoutedRequest routed;
  std::optional<http::Refusal> refusal;
};

constexpr PeerRules stranger{};
constexpr PeerRules trusted{.is_trusted = true};

http::RequestView& at(http::RequestOf& request, std::string_view path) {
  request.view.target = request.view.path = path;
  return request.view;
}

}  // namespace

TEST_CASE("a trusted peer describes the request that routes with decide see") {
  Table table;
  http::RequestOf question{
      {{"Host", "weir"}, {"X-Original-Method", "POST"}, {"X-Original-URI", "/v2?key=1"}}};
  at(question, "/auth");
  CHECK(table.find(question, trusted) == 2);
  CHECK(table.routed.seen_by(true).request.query == "key=1");
  CHECK(table.routed.seen_by(false).request.path == "/auth");
  // The fields of an untrusted peer are ignored.
  CHECK(table.find(question, stranger) == -1);
  CHECK_FALSE(table.refusal);
  at(question, "/v1/x");
  CHECK(table.find(question, stranger) == 1);
  CHECK(table.routed.seen_by(true).request.path == "/v1/x");
}

TEST_CASE("the original request is read only if a route that decides is reached") {
  Table table;
  http::RequestOf question{{{"Host", "weir"}, {"X-Original-URI", "no target"}}};
  at(question, "/ask");
  CHECK(table.find(question, trusted) == 0);
  at(question, "/nginx");
  CHECK(table.find(question, trusted) == -1);
  REQUIRE(table.refusal);
  CHECK(table.refusal->status == 400);
}

TEST_CASE("an original request has an accepted method and a target of bounded length") {
  Table table;
  const auto refusal_of = [&](std::string_view method, std::string_view target, std::size_t most) {
    http::RequestOf question{
        {{"Host", "weir"}, {"X-Original-Method", method}, {"X-Original-URI", target}}};
    at(question, "/auth");
    table.find(question, {.is_trusted = true, .max_target = most});
    return table.refusal;
  };
  CHECK_FALSE(refusal_of("purge", "/v2", 3));
  CHECK(refusal_of("post", "/v2", 3) == lower_case_method);
  CHECK(refusal_of("POST", "/v2?", 3) == http::target_too_long);
  CHECK(refusal_of("GET", "/v1/%00", 100)->status == 400);
}

TEST_CASE("raw bytes in the original target need the setting") {
  Table table;
  http::RequestOf question{{{"Host", "weir"}, {"X-Original-URI", "/v1/\xc3\xa9"}}};
  at(question, "/auth");
  CHECK(table.find(question, trusted) == -1);
  CHECK(table.refusal);
  CHECK(table.find(question, {.is_trusted = true, .raw = http::RawBytes::pass}) == 1);
}

TEST_CASE("a path that cannot be read is refused before any route is looked for") {
  Table table;
  http::RequestOf request{{{"Host", "weir"}}};
  at(request, "/ask%2f");
  CHECK(table.find(request, stranger) == -1);
  CHECK(table.refusal);
}

}  // namespace weir::routing
