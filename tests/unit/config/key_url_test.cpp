#include "config/key_url.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "config/sections.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Reading {
  std::vector<KeyUrl> all;
  identity::TokenProvider provider;
  std::string problems;
  std::string warnings;

  const KeyUrl& settings() const {
    REQUIRE(all.size() == 1);
    return all.front();
  }
};

std::string lines_of(const std::vector<Diagnostic>& all) {
  std::string lines;
  for (const Diagnostic& one : all)
    lines += one.to_string() + "\n";
  return lines;
}

/// Reads `yaml` as the value of `jwks`.
Reading read(std::string_view yaml, const test::Variables& variables = {}) {
  const Environment environment = test::environment(variables);
  Loading loading{.environment = environment,
                  .written = {},
                  .files = {},
                  .secrets = {},
                  .problems = {},
                  .warnings = {}};
  const auto root = parse_document(yaml, loading.problems);
  REQUIRE(root.has_value());
  Config config;
  Reading reading;
  reading.provider.name = "idp";
  read_jwks(Cursor(loading, *root, "jwks"), reading.provider, config);
  reading.all = std::move(config.key_urls);
  reading.problems = lines_of(loading.problems);
  reading.warnings = lines_of(loading.warnings);
  return reading;
}

TEST_CASE("a URL of keys with the defaults, and with every key") {
  const Reading defaults = read("url: https://issuer.example/keys");
  CHECK(defaults.problems + defaults.warnings == "");
  CHECK((defaults.settings().times.refresh == minutes(10)));
  CHECK((defaults.settings().times.cooldown == seconds(30)));
  CHECK((defaults.settings().timeout == seconds(5)));
  CHECK((defaults.settings().tls == tls::ClientFiles()));
  CHECK(defaults.settings().provider == "idp");
  CHECK(defaults.settings().keys.get() == &defaults.provider.state->keys);

  const Reading all = read(
      "{url: https://issuer.example/keys, refresh: 1h, cooldown: 1m, timeout: 100ms,"
      " tls: {server_name: keys.internal}}");
  CHECK(all.problems + all.warnings == "");
  CHECK((all.settings().times.refresh == minutes(60)));
  CHECK((all.settings().times.cooldown == minutes(1)));
  CHECK((all.settings().timeout == milliseconds(100)));
  CHECK(all.settings().tls.server_name == "keys.internal");
  CHECK_FALSE(all.settings() == defaults.settings());
  CHECK(read("url: https://issuer.example/keys").settings() == defaults.settings());
}

TEST_CASE("the parts of a URL of keys") {
  struct Row {
    std::string_view text;
    http::Url url;
    std::string_view shown;
  };
  const Row rows[] = {
      {"https://issuer.example",
       {.is_secure = true, .host = "issuer.example", .port = 443, .target = "/"},
       "https://issuer.example"},
      {"HTTPS://Issuer:8443/a/b%20c",
       {.is_secure = true, .host = "Issuer", .port = 8443, .target = "/a/b%20c"},
       "HTTPS://Issuer:8443/a/b%20c"},
      {"http://127.0.0.1/keys?appid=1&b=/?",
       {.host = "127.0.0.1", .port = 80, .target = "/keys?appid=1&b=/?"},
       "http://127.0.0.1/keys"},
      {"http://[::1]:81?x", {.host = "::1", .port = 81, .target = "/?x"}, "http://[::1]:81"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Reading found = read("url: \"" + std::string(row.text) + "\"");
    CHECK(found.problems + found.warnings == "");
    CHECK((found.settings().url == row.url));
    CHECK(found.settings().shown == row.shown);
  }
}

TEST_CASE("a variable in a URL is not shown, and neither is a query") {
  const Reading found = read("url: \"https://${HOST}/keys?key=${KEY}\"",
                             {{"HOST", "marker.example"}, {"KEY", "marker"}});
  CHECK(found.problems == "");
  CHECK(found.settings().url.host == "marker.example");
  CHECK(found.settings().url.target == "/keys?key=marker");
  CHECK(found.settings().shown == "https://${HOST}/keys");
}

TEST_CASE("plain http is a warning, except on this host") {
  for (const std::string host : {"127.0.0.1", "127.9.9.9", "[::1]", "localhost"}) {
    CAPTURE(host);
    CHECK(read("url: http://" + host + ":8080/keys").warnings == "");
  }
  for (const std::string host : {"issuer.example", "192.0.2.1", "[2001:db8::1]", "127.example"}) {
    CAPTURE(host);
    const Reading found = read("url: http://" + host + "/keys");
    CHECK(found.problems == "");
    CHECK(found.warnings ==
          "1:6: jwks.url: over http:// anyone on the network path can replace the keys; use "
          "https://\n");
  }
}

TEST_CASE("bad settings of a URL of keys") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"{}", "1:1: jwks: expected {file: NAME} or {url: URL}\n"},
      {"{ur: \"https://i/\"}", "1:2: jwks.ur: unknown key \"ur\"; did you mean \"url\"?\n"},
      {"{refresh: 1m}", "1:11: jwks.refresh: has no meaning without url\n"},
      {"{tls: {verify: true}}", "1:7: jwks.tls: has no meaning without url\n"},
      {"{url: issuer.example/marker}",
       "1:7: jwks.url: expected a URL, such as https://issuer.example/.well-known/jwks.json\n"},
      {"{url: \"ftp://marker/keys\"}",
       "1:7: jwks.url: unknown scheme; expected https://HOST/PATH or http://HOST/PATH\n"},
      {"{url: \"https://user:marker@issuer.example/\"}",
       "1:7: jwks.url: a user or password in the URL is not used; remove it\n"},
      {"{url: \"https:///marker\"}",
       "1:7: jwks.url: expected https://HOST/PATH, such as "
       "https://issuer.example/.well-known/jwks.json\n"},
      {"{url: \"https://issuer.example:0/\"}", "1:7: jwks.url: port 0 cannot be connected to\n"},
      {"{url: \"https://issuer.example/keys#marker\"}",
       "1:7: jwks.url: a fragment (# and what follows) is not sent; remove it\n"},
      {"{url: \"https://issuer.example/mar ker\"}",
       "1:7: jwks.url: the path or the query has a space, a control character or a letter outside "
       "ASCII; write it as %XX\n"},
      {"{url: \"https://issuer.example/\\r\\nmarker: 1\"}",
       "1:7: jwks.url: the path or the query has a space,"},
      {"{url: \"https://i/\", refresh: 9s}", "1:30: jwks.refresh: "},
      {"{url: \"https://i/\", refresh: 25h}", "1:30: jwks.refresh: "},
      {"{url: \"https://i/\", cooldown: 999ms}", "1:31: jwks.cooldown: "},
      {"{url: \"https://i/\", cooldown: 61m, refresh: 1d}", "1:31: jwks.cooldown: "},
      {"{url: \"https://i/\", timeout: 99ms}", "1:30: jwks.timeout: "},
      {"{url: \"https://i/\", timeout: 61s}", "1:30: jwks.timeout: "},
      {"{url: \"https://i/\", cooldown: 61s, refresh: 1m}",
       "1:31: jwks.cooldown: longer than refresh; make it shorter, or refresh longer\n"},
      {"{url: \"https://i/\", interval: 1m}", "1:21: jwks.interval: unknown key \"interval\""},
      {"{url: \"http://127.0.0.1/\", tls: {verify: true}}",
       "1:33: jwks.tls: tls has no meaning for http://; write https://\n"},
      {"{url: \"https://i/\", tls: {ca: /missing/marker.pem}}", "1:31: jwks.tls.ca: "},
  };
  for (const auto& [yaml, problem] : rows) {
    const std::string found = read(yaml).problems;
    CAPTURE(yaml, found);
    CHECK(found.starts_with(problem));
    CHECK(std::count(found.begin(), found.end(), '\n') == 1);
    if (problem.find("tls.ca") == std::string_view::npos)
      CHECK(found.find("marker") == std::string::npos);
  }
}

TEST_CASE("cooldown is not longer than refresh, unless it is written") {
  const Reading found = read("{url: \"https://i/\", refresh: 10s}");
  CHECK(found.problems == "");
  CHECK((found.settings().times.cooldown == seconds(10)));
  CHECK(read("{url: \"https://i/\", refresh: 10s, cooldown: 10s}").problems == "");
}

}  // namespace
}  // namespace weir::config
