#include "routing/matcher.hpp"

#include <array>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

using http::RequestOf;

bool matches(const Match& match, const http::RequestView& request, std::string_view* captures) {
  return matches_apart_from_path(match, request, IpAddress()) &&
         matches_path(match, {.text = request.path}, captures);
}

bool matches_host(const char* pattern, std::string_view host) {
  RequestOf request{{}};
  request.view.host = host;
  return matches({.host = pattern, .path = {}, .methods = {}, .headers = {}}, request.view,
                 nullptr);
}

TEST_CASE("hosts match exactly or as any subdomain, whatever their case") {
  CHECK(matches_host("api.example.com", "API.Example.com"));
  CHECK(matches_host("api.example.com", "api.example.com."));
  CHECK_FALSE(matches_host("api.example.com", "example.com"));
  CHECK_FALSE(matches_host("api.example.com", "api.example.com.evil"));
  CHECK(matches_host("*.example.com", "a.example.com"));
  CHECK(matches_host("*.EXAMPLE.com", "a.b.example.COM"));
  CHECK_FALSE(matches_host("*.example.com", "example.com"));
  CHECK_FALSE(matches_host("*.example.com", ".example.com"));
  CHECK_FALSE(matches_host("*.example.com", "evilexample.com"));
  CHECK(matches_host("[2001:db8::1]", "[2001:DB8::1]"));
}

TEST_CASE("a request without a host matches every host, and the route needs one") {
  CHECK(matches_host("a", ""));
  CHECK(matches_host("*.example.com", ""));
  const Match hosted{.host = "a", .path = {}, .methods = {"GET"}, .headers = {}};
  RequestOf request{{}, "GET"};
  CHECK(matches(hosted, request.view, nullptr));
  CHECK(needs_host(hosted, request.view));
  CHECK_FALSE(needs_host(Match{}, request.view));
  CHECK_FALSE(matches(hosted, RequestOf{{}, "POST"}.view, nullptr));
  request.view.host = "a";
  CHECK_FALSE(needs_host(hosted, request.view));
}

TEST_CASE("methods match as they are written") {
  const Match match{.host = {}, .path = {}, .methods = {"GET", "HEAD"}, .headers = {}};
  CHECK(matches(match, RequestOf{{}, "HEAD"}.view, nullptr));
  CHECK_FALSE(matches(match, RequestOf{{}, "POST"}.view, nullptr));
  CHECK_FALSE(matches(match, RequestOf{{}, "get"}.view, nullptr));
  const Match get{.host = {}, .path = {}, .methods = {"GET"}, .headers = {}};
  CHECK(matches(get, RequestOf{{}, "HEAD"}.view, nullptr));
  const Match head{.host = {}, .path = {}, .methods = {"HEAD"}, .headers = {}};
  CHECK_FALSE(matches(head, RequestOf{{}, "GET"}.view, nullptr));
}

TEST_CASE("headers match by name in any case and by exact value, on any line") {
  const Match match{
      .host = {}, .path = {}, .methods = {}, .headers = {{"x-beta", "1"}, {"X-Tier", "Gold"}}};
  CHECK(matches(match, RequestOf{{{"X-Beta", "1"}, {"x-tier", "Gold"}}}.view, nullptr));
  CHECK(matches(match, RequestOf{{{"X-Beta", "0"}, {"x-tier", "Gold"}, {"x-beta", "1"}}}.view,
                nullptr));
  CHECK_FALSE(matches(match, RequestOf{{{"X-Beta", "1"}}}.view, nullptr));
  CHECK_FALSE(matches(match, RequestOf{{{"X-Beta", "1"}, {"x-tier", "gold"}}}.view, nullptr));
  CHECK_FALSE(matches(match, RequestOf{{{"X-Beta", "1, 1"}, {"x-tier", "Gold"}}}.view, nullptr));
}

TEST_CASE("the whole address of the client must be in the list") {
  const AddressList office("office", PrefixTable({IpPrefix::parse("192.0.2.0/24").value(),
                                                  IpPrefix::parse("2001:db8::7").value()}));
  const Match match{.host = {}, .path = {}, .methods = {"GET"}, .headers = {}, .address = office};
  RequestOf request{{}};
  const auto matches_from = [&](const char* client) {
    return matches_apart_from_path(match, request.view, IpAddress::parse(client).value());
  };
  CHECK(matches_from("192.0.2.7"));
  CHECK(matches_from("::ffff:192.0.2.7"));
  CHECK(matches_from("2001:db8::7"));
  CHECK_FALSE(matches_from("192.0.3.7"));
  CHECK_FALSE(matches_from("2001:db8::8"));
  request.view.method = "POST";
  CHECK_FALSE(matches_from("192.0.2.7"));
}

TEST_CASE("all conditions must hold, and a match without conditions matches all") {
  CHECK(matches(Match{}, RequestOf{{}}.view, nullptr));
  const Match match{.host = "h",
                    .path = PathPattern::parse("/u/{id}").value(),
                    .methods = {"GET"},
                    .headers = {{"a", "b"}}};
  RequestOf request{{{"a", "b"}}};
  request.view.host = "h";
  request.view.path = "/u/7";
  std::array<std::string_view, path_parameter_limit> captures;
  CHECK(matches(match, request.view, captures.data()));
  CHECK(captures[0] == "7");
  request.view.path = "/u";
  CHECK_FALSE(matches(match, request.view, captures.data()));
  request.view.path = "/u/7";
  request.view.host = "g";
  CHECK_FALSE(matches(match, request.view, captures.data()));
}

}  // namespace
}  // namespace weir::routing
