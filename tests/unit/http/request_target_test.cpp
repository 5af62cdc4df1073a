#include "http/request_target.hpp"

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

struct ReadTarget {
  int status = 0;
  std::string target{}, path{}, query{}, host{};
};

ReadTarget outcome_of(std::string_view method, std::string_view received,
                      std::initializer_list<NameValue> fields, std::uint8_t version_minor = 1,
                      RawBytes raw = RawBytes::refuse) {
  RequestOf request{fields, method, version_minor};
  std::string storage;
  if (const auto refusal = set_target(request.view, received, storage, raw))
    return {.status = refusal->status};
  const RequestView& view = request.view;
  return {0, std::string{view.target}, std::string{view.path}, std::string{view.query},
          std::string{view.host}};
}

TEST_CASE("H9: path and query stay byte for byte") {
  for (const char* target : {"/", "/a/b", "/a//b/../c/./", "/%2e%2E/%41", "/a?b=c&d", "/?",
                             "/a?b?c", "//host/x", "/|\"<>^`{}\\", "/caf\xc3\xa9", "/*"}) {
    INFO(target);
    const ReadTarget outcome = outcome_of("GET", target, {{"Host", "h:1"}}, 1, RawBytes::pass);
    CHECK(outcome.status == 0);
    CHECK(outcome.target == target);
    CHECK(outcome.host == "h");
    const std::string_view whole = target;
    const auto question = whole.find('?');
    CHECK(outcome.path == whole.substr(0, question));
    CHECK(outcome.query == (question == std::string_view::npos ? "" : whole.substr(question + 1)));
  }
}

TEST_CASE("backslashes and bytes from 0x80 are refused unless they may pass") {
  struct Row {
    const char* target;
    int refused;
    int passed;
  };
  for (const Row& row : {
           Row{"/|\"<>^`{}~!", 0, 0},
           Row{"/%5C%C3%A9", 0, 0},
           Row{"/a\\b", 400, 0},
           Row{"/?\\", 400, 0},
           Row{"/\x80", 400, 0},
           Row{"/caf\xc3\xa9", 400, 0},
           Row{"/a?\xff", 400, 0},
           Row{"http://h/\xe9", 400, 0},
           // never
           Row{"\\", 400, 400},
           Row{"\xc3\xa9", 400, 400},
           Row{"http://\xc3\xa9/", 400, 400},
           Row{"/\xe9#", 400, 400},
           Row{"/\\ ", 400, 400},
           Row{"/\x7f\\", 400, 400},
       }) {
    INFO(row.target);
    CHECK(outcome_of("GET", row.target, {{"Host", "h"}}).status == row.refused);
    CHECK(outcome_of("GET", row.target, {{"Host", "h"}}, 1, RawBytes::pass).status == row.passed);
  }
}

TEST_CASE("R2: the absolute form is reduced, and agrees with Host") {
  struct Row {
    const char* received;
    const char* host_field;
    const char* target;
    const char* host;
  };
  for (const Row& row :
       {Row{"http://h/a?b", "h", "/a?b", "h"}, Row{"HTTP://H/a", "h", "/a", "H"},
        Row{"http://h:80/", "h", "/", "h"}, Row{"http://h/", "h:80", "/", "h"},
        Row{"https://h/", "h:443", "/", "h"}, Row{"http://h:8080/x", "h:8080", "/x", "h"},
        Row{"http://h", "h", "/", "h"}, Row{"http://h?q=1", "h", "/?q=1", "h"},
        Row{"http://[::1]:80/a", "[::1]", "/a", "[::1]"}}) {
    INFO(row.received);
    const ReadTarget outcome = outcome_of("GET", row.received, {{"Host", row.host_field}});
    CHECK(outcome.status == 0);
    CHECK(outcome.target == row.target);
    CHECK(outcome.host == row.host);
  }
  CHECK(outcome_of("GET", "http://other/", {{"Host", "h"}}).status == 400);
  CHECK(outcome_of("GET", "http://h:81/", {{"Host", "h"}}).status == 400);
  CHECK(outcome_of("GET", "https://h/", {{"Host", "h:80"}}).status == 400);
  CHECK(outcome_of("GET", "http://h/", {}).status == 400);
  CHECK(outcome_of("GET", "http://h/", {}, 0).host == "h");
}

TEST_CASE("R3: a target in none of the forms is refused, never corrected") {
  for (const char* target : {"",
                             "a",
                             "a/b",
                             "?x",
                             "#",
                             "/a#b",
                             "/a b",
                             " /",
                             "/a\tb",
                             "/a\x01",
                             "/a\x7f",
                             "ftp://h/",
                             "http:/h/",
                             "http:h",
                             "http://",
                             "http:///a",
                             "http://user@h/",
                             "http://user:pw@h/",
                             "http://h:x/",
                             "http://h\\a",
                             "https//h",
                             "h:80",
                             "**",
                             "*/"}) {
    INFO(target);
    CHECK(outcome_of("GET", target, {{"Host", "h"}}).status == 400);
  }
}

TEST_CASE("R5: the asterisk is for OPTIONS only") {
  CHECK(outcome_of("OPTIONS", "*", {{"Host", "h"}}).path == "*");
  CHECK(outcome_of("OPTIONS", "http://h", {{"Host", "h"}}).target == "*");
  CHECK(outcome_of("OPTIONS", "http://h?x", {{"Host", "h"}}).target == "/?x");
  CHECK(outcome_of("OPTIONS", "http://h/", {{"Host", "h"}}).target == "/");
  CHECK(outcome_of("GET", "*", {{"Host", "h"}}).status == 400);
  CHECK(outcome_of("options", "*", {{"Host", "h"}}).status == 400);
}

TEST_CASE("R6 and H19: CONNECT and TRACE are not served") {
  CHECK(outcome_of("CONNECT", "h:443", {{"Host", "h:443"}}).status == 405);
  CHECK(outcome_of("CONNECT", "h", {{"Host", "h"}}).status == 405);
  CHECK(outcome_of("TRACE", "/", {{"Host", "h"}}).status == 405);
}

TEST_CASE("R1: a bad Host is refused whatever the form of the target") {
  CHECK(outcome_of("GET", "/", {}).status == 400);
  CHECK(outcome_of("GET", "http://a/", {{"Host", "a"}, {"Host", "a"}}).status == 400);
  CHECK(outcome_of("OPTIONS", "*", {{"Host", ""}}).status == 400);
  CHECK(outcome_of("GET", "/", {{"Host", "a"}, {"Host", "a"}}, 0).status == 400);
}

TEST_CASE("R1: HTTP/1.1 needs Host, HTTP/1.0 does not") {
  RequestOf request{{}, "GET", 1};
  std::string storage;
  CHECK(set_target(request.view, "/", storage) == Refusal{400, "no Host field"});
  CHECK(outcome_of("GET", "/", {}, 0).status == 0);
}

TEST_CASE("a target is checked apart from its form") {
  struct Row {
    const char* method;
    const char* target;
    int status;
  };
  for (const Row& row : {
           Row{"GET", "/a?b", 0},
           Row{"OPTIONS", "*", 0},
           Row{"GET", "none of the forms", 400},
           Row{"GET", "none-of-the-forms", 0},
           Row{"GET", "", 400},
           Row{"GET", "/#", 400},
           Row{"GET", "/\xe9", 400},
           // The method first.
           Row{"CONNECT", "", 405},
           Row{"TRACE", "/", 405},
       }) {
    CAPTURE(row.method, row.target);
    const auto refusal = check_target(row.method, row.target, RawBytes::refuse);
    CHECK((refusal ? refusal->status : 0) == row.status);
  }
  CHECK_FALSE(check_target("GET", "/\xe9", RawBytes::pass));
}

TEST_CASE("a target in parts is the same as in one text") {
  struct Row {
    const char* method;
    TargetUri uri;
    const char* host_field;  ///< empty: none
    int status;
    const char* target;
    const char* host;
    const char* authority;
  };
  for (const Row& row : {
           Row{"GET", {"https", "a.example", "/b?c"}, "", 0, "/b?c", "a.example", "a.example"},
           Row{"GET", {"http", "A:8080", "/"}, "a:8080", 0, "/", "A", "A:8080"},
           Row{"GET", {"HTTPS", "a:443", "/"}, "a", 0, "/", "a", "a:443"},
           Row{"GET", {"https", "[::1]:1", "//x"}, "", 0, "//x", "[::1]", "[::1]:1"},
           Row{"OPTIONS", {"https", "a", "*"}, "a", 0, "*", "a", "a"},
           Row{"OPTIONS", {"https", "a", ""}, "", 0, "*", "a", "a"},
           Row{"GET", {"https", "a", ""}, "", 0, "/", "a", "a"},
           Row{"GET", {"https", "a", "?b"}, "", 0, "/?b", "a", "a"},
           Row{"GET", {"https", "a", "*"}, "", 400, "", "", ""},
           Row{"GET", {"https", "a", "b"}, "", 400, "", "", ""},
           Row{"GET", {"https", "a", "http://a/"}, "a", 400, "", "", ""},
           Row{"OPTIONS", {"https", "a", "*/"}, "", 400, "", "", ""},
           Row{"GET", {"ftp", "a", "/"}, "", 400, "", "", ""},
           Row{"GET", {"", "a", "/"}, "", 400, "", "", ""},
           Row{"GET", {"https", "", "/"}, "", 400, "", "", ""},
           Row{"GET", {"https", "user@a", "/"}, "", 400, "", "", ""},
           Row{"GET", {"https", "a", "/"}, "b", 400, "", "", ""},
           Row{"GET", {"https", "a", "/"}, "a:80", 400, "", "", ""},
           Row{"GET", {"http", "a", "/"}, "a:443", 400, "", "", ""},
       }) {
    CAPTURE(row.method, row.uri.scheme, row.uri.authority, row.uri.path, row.host_field);
    RequestView request;
    request.method = row.method;
    const std::string_view field = row.host_field;
    const Authority host = field.empty() ? Authority{} : parse_authority(field).value();
    std::string storage;
    const auto refusal = set_uri(request, row.uri, host, storage);
    CHECK((refusal ? refusal->status : 0) == row.status);
    CHECK(request.target == row.target);
    CHECK(request.host == row.host);
    CHECK(request.authority == row.authority);
  }
}

}  // namespace
}  // namespace weir::http
