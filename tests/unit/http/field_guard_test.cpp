#include "http/field_guard.hpp"

#include <vector>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

std::optional<Refusal> refusal(const FieldGuard& edge_guard, std::string_view name) {
  return edge_guard.refusal_of(fields_of({{"Host", "a"}, {name, "1"}}));
}

bool removed(const FieldGuard& edge_guard, std::string_view name, bool peer_is_trusted = false) {
  return edge_guard.is_removed(fields_of({{name, "1"}})[0], peer_is_trusted);
}

const FieldGuard edge_guard{{.client_field = "X-Edge.IP",
                             .own = {"X-Api-Key", "x_odd", "Accept-Language"},
                             .observed = {"user-agent"},
                             .untrusted = {"x-geo-country", "x-internal-*", "sec-*", "from"}}};

TEST_CASE("F7: names that a server may read as another field are recognised") {
  for (const char* name : {"Content_Length",
                           "TRANSFER_ENCODING",
                           "transfer_encoding",
                           "X_Forwarded_For",
                           "x-forwarded_host",
                           "X_FORWARDED-Proto",
                           "X_Real_IP",
                           "x-real_ip",
                           "X_Api_Key",
                           "x-api_key",
                           "X-Odd",
                           "x_original_uri",
                           "X_Original_Method",
                           "X-Original_Host",
                           "X.Api.Key",
                           "x-api!key",
                           "x.odd",
                           "User_Agent",
                           "accept.language",
                           "x_edge_ip",
                           "X-Edge-IP",
                           "x_forwarded",
                           "CF.Connecting.IP",
                           "X-Geo_Country",
                           "x_internal_user",
                           "X-Internal-User.Id",
                           "x_ssl_client_cert",
                           "X_Rewrite_URL",
                           "Front_End_Https",
                           "X-HTTP_Method",
                           "X-Forwarded-For.",
                           "Client_IP"}) {
    INFO(name);
    const auto refused = refusal(edge_guard, name);
    REQUIRE(refused);
    CHECK(refused->status == 400);
  }
  CHECK(
      refusal(edge_guard, "X.Api-Key")->detail ==
      "a field has a name that services may read as \"x-api-key\"; remove it, or write that name");
  CHECK(refusal(edge_guard, "X_Internal_User")->detail ==
        "a field has a name that services may read as \"x-internal-*\"; remove it, or write that "
        "name");
}

TEST_CASE("F7: the fields themselves, and others with underscores, are no look-alikes") {
  for (const char* name :
       {"Content-Length", "transfer-encoding", "X-Forwarded-For", "x-api-key", "X_ODD",
        "x_request_id", "_", "content_lengths", "X-A", "X-EDGE.ip", "user-agent", "X-Api-Key_",
        "X-Geo-Country", "x-internal-user", "accept-language", "x-geo-country_code"}) {
    INFO(name);
    CHECK_FALSE(refusal(edge_guard, name));
  }
}

TEST_CASE("fields for trusted peers are removed from others") {
  for (const char* name : {"Forwarded",
                           "X-FORWARDED-User",
                           "x-original-uri",
                           "X-Real-IP",
                           "x-edge.ip",
                           "X-Rewrite-URL",
                           "X-HTTP-Method-Override",
                           "X-Http-Method",
                           "X-Method-Override",
                           "X-Forwarded",
                           "True-Client-IP",
                           "CF-Connecting-IP",
                           "X-Client-IP",
                           "X-Cluster-Client-IP",
                           "Client-IP",
                           "Front-End-HTTPS",
                           "X-SSL-Client-Cert",
                           "x-geo-country",
                           "X-Internal-",
                           "X-Internal-User",
                           "Sec-Fetch-Site",
                           "From"}) {
    INFO(name);
    CHECK(removed(edge_guard, name));
    CHECK_FALSE(removed(edge_guard, name, true));
  }
  for (const char* name : {"Host", "User-Agent", "X-Api-Key", "X-Geo", "X-Internal",
                           "x-http-methods", "Client-IPs", "Front-End", "Cookie", "Sec", "~"}) {
    INFO(name);
    CHECK_FALSE(removed(edge_guard, name));
  }
  CHECK(removed(edge_guard, "Proxy"));
  CHECK(removed(edge_guard, "proxy", true));
}

TEST_CASE("the removal of the newer ones can be switched off") {
  const FieldGuard lenient{
      {.client_field = "true-client-ip", .removes_untrusted = false, .untrusted = {"x-mine"}}};
  for (const char* name : {"X-Rewrite-URL", "CF-Connecting-IP", "X-SSL-Client-Cert", "x-mine"}) {
    INFO(name);
    CHECK_FALSE(removed(lenient, name));
  }
  for (const char* name : {"Forwarded", "X-Forwarded-User", "X-Original-URL", "X-Real-IP",
                           "True-Client-IP", "Proxy"}) {
    INFO(name);
    CHECK(removed(lenient, name));
  }
  CHECK_FALSE(refusal(lenient, "X_Rewrite_URL"));
  CHECK(refusal(lenient, "True_Client_IP"));
}

TEST_CASE("fields of identities are not removed, unless no untrusted peer may send them") {
  const FieldGuard own{
      {.own = {"X-SSL-Client-S-DN", "x-method-override", "From", "X-Forwarded-User"},
       .observed = {"X-HTTP-Method-Override", "from"},
       .untrusted = {"from"}}};
  CHECK(removed(own, "X-HTTP-Method-Override"));
  CHECK_FALSE(removed(own, "X-HTTP-Method-Override", true));
  CHECK_FALSE(removed(own, "x-ssl-client-s-dn"));
  CHECK_FALSE(removed(own, "X-Method-Override"));
  CHECK_FALSE(removed(own, "From"));
  CHECK(removed(own, "X-SSL-Client-Cert"));
  CHECK(removed(own, "X-Forwarded-User"));
  CHECK(refusal(own, "X_Method_Override"));
}

TEST_CASE("Host and framing fields are never removed") {
  const FieldGuard greedy{{.untrusted = {"h*", "c*", "t*"}}};
  CHECK_FALSE(removed(greedy, "Host"));
  CHECK_FALSE(removed(greedy, "Content-Length"));
  CHECK(removed(greedy, "Cookie"));
  CHECK_FALSE(may_be_untrusted("HOST"));
  CHECK_FALSE(may_be_untrusted("content-length"));
  CHECK_FALSE(may_be_untrusted("Transfer-Encoding"));
  CHECK(may_be_untrusted("x-host"));
}

TEST_CASE("unusual names are dropped if that is configured") {
  auto fields = fields_of({{"Host", "a"}, {"X_A", "1"}, {"X-B", "2"}, {"x.api.key", "3"}});
  edge_guard.drop_unusual(fields);
  CHECK(fields.size() == 4);
  const FieldGuard dropping{{.drops_unusual = true}};
  dropping.drop_unusual(fields);
  REQUIRE(fields.size() == 2);
  CHECK(fields[1].name == "X-B");
  CHECK(dropping.is_forbidden_in_trailers("x_sum"));
  CHECK_FALSE(edge_guard.is_forbidden_in_trailers("x_sum"));
}

TEST_CASE("guarded names and their look-alikes are forbidden in trailers") {
  for (const char* name : {"X-Api-Key", "x.api.key", "X-Internal-A", "X_Internal_A", "User-Agent",
                           "x-edge-ip", "Content_Length", "Client.IP"}) {
    INFO(name);
    CHECK(edge_guard.is_forbidden_in_trailers(name));
  }
  CHECK_FALSE(edge_guard.is_forbidden_in_trailers("X-Sum"));
}

}  // namespace
}  // namespace weir::http
