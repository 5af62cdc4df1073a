#include "config/foreign_variable.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

TEST_CASE("a variable of another program is found in a text") {
  const auto [text, variable] = GENERATE(table<std::string_view, std::string_view>({
      // nginx
      {"$host", "$host"},
      {"https://$host$request_uri", "$host"},
      {"x-$remote_addr", "$remote_addr"},
      {"script-src 'nonce-$request_id'", "$request_id"},
      {"a$http_x_b", "$http_x_b"},
      {"/new/$1", "$1"},
      {"id=$tenant", "$tenant"},
      {"$TENANT", "$TENANT"},
      // Caddy
      {"{http.request.host}", "{http.request.host}"},
      {"a {remote_host} b", "{remote_host}"},
      {"{http.request.header.X-Foo}", "{http.request.header.X-Foo}"},
      {"/users/{id}/x", "{id}"},
      // Templates
      {"{{ .Host }}", "{{ .Host }}"},
      {"https://{{.Host}}/", "{{.Host}}"},
      {"{{ env \"HOST\" }}", "{{ env \"HOST\" }}"},
      // Envoy
      {"%REQ(x-a)%", "%REQ(x-a)%"},
      {"%REQ(:authority?x):20%;b", "%REQ(:authority?x):20%"},
      {"%DOWNSTREAM_REMOTE_ADDRESS%", "%DOWNSTREAM_REMOTE_ADDRESS%"},
      {"%ACCESS_LOG_TYPE%", "%ACCESS_LOG_TYPE%"},
      // HAProxy
      {"%[src]", "%[src]"},
      {"a%[req.hdr(host),lower]b", "%[req.hdr(host),lower]"},
  }));
  CAPTURE(text);
  CHECK(foreign_variable_in(text) == variable);
}

TEST_CASE("a text that only looks like a variable is none") {
  const auto* const text = GENERATE(
      "", "$", "a$", "$$", "5 $ {", "from $5 a month", "US$10", "${HOST}", "${HOST:-a}", "$${host}",
      "script-src 'nonce-r4nd0m$abc'", "script-src 'nonce-$aBc9+/='", "script-src 'nonce-$abc'",
      "p$ssw0rd", "{ }", "{}", "{\"json\":1}",
      "{\"group\": \"a\", \"max_age\": 1, \"endpoints\": [{\"url\": \"https://a.example/\"}]}",
      "[{\"a\":{\"b\":1}}]", "{\"$schema\":\"https://a.example/\"}", "{\"a\":{\"$ref\":\"x\"}}",
      "{a, b}", "{3}", "{{}}", "{{", "/a%20b", "/%E2%82%AC", "/%C3ABC%20", "%ABC%DEF%20", "100%",
      "50% OFF 20%", "%d/%b/%Y", "%[]", "%[", "%REQ(x", "%AB%");
  CAPTURE(text);
  CHECK(foreign_variable_in(text).empty());
}

TEST_CASE("fields that Weir adds to forwarded requests") {
  const auto [variable, field] = GENERATE(table<std::string_view, std::string_view>({
      {"$remote_addr", "X-Forwarded-For"},
      {"$binary_remote_addr", "X-Forwarded-For"},
      {"$proxy_add_x_forwarded_for", "X-Forwarded-For"},
      {"%REQ(X-Forwarded-For)%", "X-Forwarded-For"},
      {"%DOWNSTREAM_REMOTE_ADDRESS%", "X-Forwarded-For"},
      {"%[src]", "X-Forwarded-For"},
      {"{remote_host}", "X-Forwarded-For"},
      {"{client_ip}", "X-Forwarded-For"},
      {"$host", "X-Forwarded-Host"},
      {"{{ .Host }}", "X-Forwarded-Host"},
      {"%REQ(:AUTHORITY)%", "X-Forwarded-Host"},
      {"{http.request.host}", "X-Forwarded-Host"},
      {"$scheme", "X-Forwarded-Proto"},
      {"%REQ(X-FORWARDED-PROTO)%", "X-Forwarded-Proto"},
      {"$hostname", ""},
      {"%UPSTREAM_HOST%", ""},
      {"$remote_user", ""},
      {"$proxy_host", ""},
      {"$remote_port", ""},
      {"%DOWNSTREAM_REMOTE_PORT%", ""},
      {"$proxy_protocol_addr", ""},
      {"{id}", ""},
  }));
  CAPTURE(variable);
  CHECK(forwarded_field_for(variable) == field);
}

}  // namespace
}  // namespace weir::config
