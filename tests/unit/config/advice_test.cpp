#include "config/advice.hpp"

#include <array>

#include "catch.hpp"

namespace weir::config {
namespace {

using Rows = std::vector<std::pair<std::string_view, std::string_view>>;

void check_advice(std::string (*advice)(std::string_view), const Rows& rows) {
  for (const auto& [written, expected] : rows) {
    CAPTURE(written);
    CHECK(advice(written) == expected);
  }
}

TEST_CASE("values of every kind") {
  check_advice(
      value_advice,
      {{"$BACKEND", "; for the environment variable write ${BACKEND}"},
       {"$WEIR_URL2", "; for the environment variable write ${WEIR_URL2}"},
       {"$remote_addr", ""},
       {"${BACKEND}", ""},
       {"http://${BACKEND}:8080", ""},
       {"http://$BACKEND:$PORT", "; for the environment variables write ${BACKEND} and ${PORT}"},
       {"http://$HOST:8080", "; for the environment variable write ${HOST}"},
       {"$A.$B.$A.$C", "; for the environment variables write ${A}, ${B} and ${C}"},
       {"redis://:$PASS@$HOST:6379", "; for an environment variable write ${NAME}"},
       {"http://$host:80", ""},
       {"a$Bc", ""},
       {"$", ""},
       {"$5", ""},
       {"", ""},
       {"\xe2\x80\x9cgcra\xe2\x80\x9d",
        "; replace the curly quotes by straight ones (\") or remove them"}});
  CHECK(is_shell_variable("$BACKEND"));
  for (const char* const other : {"", "$", "a$B", "$A$B", "$A-", "${A}", "$a"})
    CHECK_FALSE(is_shell_variable(other));
  check_advice(flag_advice, {{"yes", "; did you mean \"true\"?"},
                             {"On", "; did you mean \"true\"?"},
                             {"True", "; did you mean \"true\"?"},
                             {"no", "; did you mean \"false\"?"},
                             {"0", "; did you mean \"false\"?"},
                             {"maybe", ""}});
  check_advice(colon_advice, {{"rate:10/s", "; write a space after the colon: rate: VALUE"},
                              {"http://a", ""},
                              {"10/s", ""},
                              {"rate:", ""},
                              {":x", ""}});
}

TEST_CASE("words in another spelling, or of other programs") {
  constexpr std::array<std::string_view, 2> algorithms{"gcra", "token_bucket"};
  CHECK(word_advice("GCRA", algorithms) == "; did you mean \"gcra\"?");
  CHECK(word_advice("Token-Bucket", algorithms) == "; did you mean \"token_bucket\"?");
  CHECK(word_advice("token bucket", algorithms) == "; did you mean \"token_bucket\"?");
  CHECK(word_advice("dry_run", algorithms).empty());
  constexpr std::array<std::string_view, 2> modes{"enforce", "shadow"};
  CHECK(word_advice("dry-run", modes) == "; did you mean \"shadow\"?");
}

TEST_CASE("addresses and prefixes") {
  check_advice(
      prefix_advice,
      {{"10.0.0.1/8", "; did you mean \"10.0.0.0/8\"?"},
       {"2001:db8::1/32", "; did you mean \"2001:db8::/32\"?"},
       {"10.0.0.0/255.255.0.0", "; did you mean \"10.0.0.0/16\"?"},
       {"10.0.0.5/255.0.0.0", "; did you mean \"10.0.0.0/8\"?"},
       {"10.0.0.0/255.0.255.0", "; the number after / is at most 32 for IPv4 and 128 for IPv6"},
       {"10.0.0.0/33", "; the number after / is at most 32 for IPv4 and 128 for IPv6"},
       {"10.0.0.*", "; did you mean \"10.0.0.0/24\"?"},
       {"10.*", "; did you mean \"10.0.0.0/8\"?"},
       {"10.*.*.*", "; did you mean \"10.0.0.0/8\"?"},
       {"300.*", ""},
       {"*", "; did you mean \"0.0.0.0/0\"?"},
       {"192.0.2.1-192.0.2.9", "; write a range as one or more prefixes"},
       {"proxy.internal", "; names are not looked up: write their addresses"},
       {"$PROXY", "; for the environment variable write ${PROXY}"}});
  check_advice(endpoint_advice, {{"8080", "; did you mean \"0.0.0.0:8080\"?"},
                                 {":8080", "; did you mean \"0.0.0.0:8080\"?"},
                                 {"*:8080", "; did you mean \"0.0.0.0:8080\"?"},
                                 {"http://127.0.0.1:80/", "; did you mean \"127.0.0.1:80\"?"},
                                 {":::8080", "; did you mean \"[::]:8080\"?"},
                                 {"0.0.0.0:80800", "; a port is at most 65535"},
                                 {"unix:weir.sock", "; the path of a socket begins with /"},
                                 {"localhost", ""}});
  check_advice(host_advice, {{"https://api.example.com/v1", "; did you mean \"api.example.com\"?"},
                             {"api.example.com:8080", "; did you mean \"api.example.com\"?"},
                             {"https://user:secret@api.example.com", ""},
                             {"a b", ""}});
}

TEST_CASE("path patterns") {
  const std::string_view regex =
      "; a pattern is not a regular expression: * is one segment, ** at the end any number, "
      "{name} one that identities can read";
  check_advice(pattern_advice, {{"^/v1/.*$", regex},
                                {"~ ^/v1", regex},
                                {"/users/(a|b)*", regex},
                                {"v1/search", "; did you mean \"/v1/search\"?"},
                                {"/v1*", "; did you mean \"/v1/**\"?"},
                                {"/a?b=c", "; remove the query, which no pattern can match"},
                                {"/**/a", "; write * for one segment"},
                                {"/a b", ""}});
  CHECK(pattern_advice("https://a.example/v1").find("host: api.example.com") != std::string::npos);
  CHECK(pattern_doubt("/users/:id/x") ==
        "matches the text \":id\"; for a segment of any value write {id}");
  CHECK(pattern_doubt("/users/[0-9]+").starts_with("has characters of a regular expression"));
  for (const char* const fine : {"/users/{id}", "/v1/**", "/a:b", "/:"})
    CHECK(pattern_doubt(fine).empty());
}

TEST_CASE("values of headers that look like patterns") {
  for (const char* const pattern :
       {"^Mozilla.*", ".*bot.*", "~foo", "~* bot", "/x/i", "/bot/gi", "^1$", "v[0-9]+", "\\d+",
        "a.+", "(bot|crawler)", "(?i)bot", "*bot*", "Mozilla*", "*.example.com"}) {
    CAPTURE(pattern);
    CHECK(header_value_doubt(pattern).starts_with("is compared as it is, and is not a pattern: "));
  }
  for (const char* const value : {"",
                                  "1",
                                  "*",
                                  "*/*",
                                  "gzip, *",
                                  "/admin/ui",
                                  "/v1/img",
                                  "text/*",
                                  "image/webp,*/*;q=0.8",
                                  "application/json",
                                  "bytes=0-",
                                  "Mozilla/5.0 (X11; Linux x86_64) like Gecko",
                                  "/api/",
                                  "/en/us",
                                  "/a/b/i",
                                  "a|b",
                                  "a$b",
                                  "W/\"a\"",
                                  "[::1]",
                                  "a~b",
                                  "1.0",
                                  "{\"a\":[1]}",
                                  "(a)",
                                  "https://a.example/?b=c+d"}) {
    CAPTURE(value);
    CHECK(header_value_doubt(value).empty());
  }
}

TEST_CASE("references") {
  CHECK(reference_advice("identity", "header:x-api-key", false) ==
        "; define it first, as in identities: {x_api_key: {header: x-api-key}}, and write key: "
        "x_api_key");
  CHECK(reference_advice("identity", "cookie: sid", false) ==
        "; define it first, as in identities: {sid: {cookie: sid}}, and write key: sid");
  CHECK(reference_advice("identity", "ip", false) == "; did you mean \"client\"?");
  CHECK(reference_advice("identity", "user", false).empty());
  CHECK(reference_advice("policy", "p", true) ==
        "; none is defined; write policies: {NAME: {algorithm: gcra, rate: 10/s}}, and its NAME "
        "here");
  CHECK(reference_advice("policy", "p", false).empty());
  CHECK(reference_advice("policy", "p burst=20", false)
            .starts_with("; write the name of a policy alone, and the numbers in the policy"));
  CHECK(reference_advice("upstream", "http://a:1", false)
            .starts_with("; write upstreams: {NAME: {servers: "));
  CHECK(reference_advice("upstream", "api// comment", false) ==
        "; a comment begins with a space and #");
}

}  // namespace
}  // namespace weir::config
