#include "cli/probe.hpp"

#include <algorithm>
#include <map>

#include "catch.hpp"

namespace weir::cli {
namespace {

ProbeTarget target_of(const char* url) {
  return parse_probe_url(url).value();
}

TEST_CASE("a URL to probe is one of http, with a path") {
  const ProbeTarget target = target_of("http://[::1]:3000/api/items?id=1&x=?");
  CHECK(target.address.host == "::1");
  CHECK(target.address.port == 3000);
  CHECK(target.host == "[::1]:3000");
  CHECK(target.path == "/api/items");
  CHECK(target.query == "id=1&x=?");
  CHECK(target_of("http://example.test/").address.port == 80);
  CHECK(target_of("http://example.test/").query.empty());
  for (const char* url :
       {"", "http://", "http://a", "http://a?b", "https://a/", "a/b", "http:///a", "http://a:b/",
        "http://u@a/", "http://a/ b", "http://a/#b", "http://a/\xc3\xa9", "http://a/\r\n"}) {
    CAPTURE(url);
    REQUIRE_FALSE(parse_probe_url(url).has_value());
    CHECK(parse_probe_url(url).error().message.starts_with("expected http://HOST:PORT/PATH"));
  }
}

TEST_CASE("a field to probe with is a name and a value") {
  CHECK(parse_probe_field("X-Api-Key:  a b ").value() == ProbeField{"X-Api-Key", "a b"});
  for (const char* text : {"", "X", "X:", ": a", "X Y: a", "X: a\r\nY: b"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_probe_field(text).has_value());
    CHECK(parse_probe_field(text).error().message ==
          "expected a field, such as 'X-Api-Key: VALUE'");
  }
}

/// Answers 200 to the targets that it is given, with the text beside each, and 404 to others.
struct Service {
  std::map<std::string, std::string> bodies;
  std::vector<std::string> asked{};

  ProbeReport probed(const ProbeTarget& target) {
    return probe(target,
                 [this](const ProbeRequest& request) -> Result<ProbeAnswer> {
                   const std::string field =
                       request.field ? " " + request.field->first + "=" + request.field->second
                                     : "";
                   asked.push_back(request.method + " " + request.target + field);
                   const auto found = bodies.find(asked.back());
                   if (found == bodies.end()) return ProbeAnswer{.status = 404, .body = {}};
                   if (found->second == "limited") return ProbeAnswer{.status = 429, .body = {}};
                   if (found->second == "gone") return Problem{"no answer"};
                   return ProbeAnswer{.status = 200, .body = found->second};
                 })
        .value();
  }
};

std::string reading_of(const ProbeReport& report, const std::string& form) {
  for (const ProbeFinding& finding : report.findings) {
    if (finding.form.starts_with(form)) return finding.reading;
  }
  return "no such form";
}

std::string advice_for(const ProbeReport& report, const std::string& form) {
  for (const ProbeFinding& finding : report.findings) {
    if (finding.form.starts_with(form)) return finding.advice;
  }
  return "no such form";
}

TEST_CASE("each form of the path differs by one thing") {
  Service service{.bodies = {{"GET /api/items", "x"}}};
  const ProbeReport report = service.probed(target_of("http://a/api/items"));
  const std::vector<std::string> expected{"GET /api/items",
                                          "GET /api/items",
                                          "GET /api/items-weir-probe-none",
                                          "GET /api%2Fitems",
                                          "GET /api/item%2573",
                                          "GET /api//items",
                                          "GET /api/weir-probe/../items",
                                          "GET /api/items/",
                                          "GET /API/ITEMS",
                                          "GET /api/items;weir=probe",
                                          "get /api/items"};
  CHECK(service.asked == expected);
  CHECK(report.is_steady);
  for (const char* form : {"encoded slash", "double encoding", "repeated slashes", "dot segments",
                           "trailing slash", "letter case", "parameters", "lower-case method"}) {
    CAPTURE(form);
    CHECK(reading_of(report, form) == "tells them apart");
  }
  CHECK(reading_of(report, "look-alike") == "not found out");
  CHECK(reading_of(report, "repeated query parameter") == "not found out");
}

TEST_CASE("the query goes with every form, and into no finding") {
  Service service{.bodies = {{"GET /a?key=secret", "x"}}};
  const ProbeReport report = service.probed(target_of("http://a/a?key=secret"));
  CHECK(std::find(service.asked.begin(), service.asked.end(), "GET /a/?key=secret") !=
        service.asked.end());
  for (const ProbeFinding& finding : report.findings)
    CHECK((finding.form + finding.advice).find("secret") == std::string::npos);
}

TEST_CASE("forms that a path does not have are not requested") {
  Service service{.bodies = {{"GET /", "x"}}};
  const ProbeReport report = service.probed(target_of("http://a/"));
  for (const char* form : {"encoded slash", "double encoding", "trailing slash", "letter case"}) {
    CAPTURE(form);
    CHECK(reading_of(report, form) == "not found out");
  }
  CHECK(reading_of(report, "repeated slashes: GET //") == "tells them apart");
}

TEST_CASE("alike is the same status and body") {
  Service service{.bodies = {{"GET /a/b", "x"},
                             {"GET /a%2Fb", "x"},
                             {"GET /A/B", "y"},
                             {"GET /a/b;weir=probe", "x"},
                             {"GET /a/b/", "limited"},
                             {"GET /a//b", "gone"}}};
  const ProbeReport report = service.probed(target_of("http://a/a/b"));
  CHECK(reading_of(report, "encoded slash") == "reads both alike");
  CHECK(reading_of(report, "parameters") == "reads both alike");
  CHECK(reading_of(report, "dot segments") == "tells them apart");
  CHECK(reading_of(report, "letter case") == "not found out");
  CHECK(advice_for(report, "letter case") ==
        "it answered 200 with another body; unless that is another resource, keep letter_case in "
        "paths.also_match");
  CHECK(reading_of(report, "trailing slash") == "not found out");
  CHECK(reading_of(report, "repeated slashes") == "not found out");
}

TEST_CASE("the path of the request in a body makes no difference") {
  Service service{.bodies = {{"GET /a/b?q", R"({"url":"/a/b?q","path":"\/a\/b"})"},
                             {"GET /a//b?q", R"({"url":"/a//b?q","path":"\/a\/\/b"})"},
                             {"GET /a%2Fb?q", R"({"url":"/a%2Fb?q","path":"\/a\/b"})"},
                             {"GET /a/%2562?q", R"({"url":"/a/%2562?q","path":"\/a\/b"})"},
                             {"GET /a/b;weir=probe?q", R"({"url":"/a/b;weir=probe?q","path":"/"})"},
                             {"GET /a/b/?q", R"({"url":"/a/b/?q","path":"\/a\/b\/"})"}}};
  const ProbeReport report = service.probed(target_of("http://a/a/b?q"));
  for (const char* form :
       {"repeated slashes", "encoded slash", "double encoding", "trailing slash"}) {
    CAPTURE(form);
    CHECK(reading_of(report, form) == "reads both alike");
  }
  CHECK(reading_of(report, "parameters") == "not found out");
  service.bodies["GET /a/b-weir-probe-none?q"] =
      R"({"url":"/a/b-weir-probe-none?q","path":"\/a\/b-weir-probe-none"})";
  CHECK(reading_of(service.probed(target_of("http://a/a/b?q")), "paths") == "not found out");
}

TEST_CASE("a service that answers any path alike shows nothing of paths") {
  Service service{.bodies = {{"GET /a/b", "x"}, {"GET /a/b-weir-probe-none", "x"}}};
  const ProbeReport report = service.probed(target_of("http://a/a/b"));
  CHECK(reading_of(report, "paths") == "not found out");
  CHECK(reading_of(report, "encoded slash") == "no such form");
  CHECK(reading_of(report, "lower-case method") == "tells them apart");
}

TEST_CASE("if bodies differ each time, only the status counts") {
  int count = 0;
  const auto report = probe(target_of("http://a/a/b"), [&](const ProbeRequest& request) {
    const bool is_known = request.target == "/a/b" || request.target == "/a/b/";
    return Result<ProbeAnswer>{
        ProbeAnswer{.status = is_known ? 200 : 404, .body = std::to_string(++count)}};
  });
  REQUIRE(report.has_value());
  CHECK_FALSE(report->is_steady);
  CHECK(reading_of(*report, "trailing slash") == "reads both alike");
  CHECK(reading_of(*report, "letter case") == "tells them apart");
}

TEST_CASE("an answer that is not a success cannot serve for comparison") {
  const auto report = probe(target_of("http://a/a?b=c"), [](const ProbeRequest&) {
    return Result<ProbeAnswer>{ProbeAnswer{.status = 404, .body = {}}};
  });
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().message ==
        "GET /a is answered 404 and 404; give the URL of something that the service serves");
  const auto none = probe(target_of("http://a/a"), [](const ProbeRequest&) -> Result<ProbeAnswer> {
    return Problem{"no answer: Connection refused"};
  });
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == "no answer: Connection refused");
}

TEST_CASE("look-alikes of a field are compared with the field") {
  ProbeTarget target = target_of("http://a/a");
  target.field = ProbeField{"X-Api-Key", "k"};
  Service service{.bodies = {{"GET /a", "anonymous"},
                             {"GET /a X-Api-Key=k", "known"},
                             {"GET /a X_Api_Key=k", "known"},
                             {"GET /a X.Api.Key=k", "anonymous"}}};
  const ProbeReport report = service.probed(target);
  CHECK(reading_of(report, "look-alike header name: GET /a with X_Api_Key") == "reads both alike");
  CHECK(reading_of(report, "look-alike header name: GET /a with X.Api.Key") == "tells them apart");

  service.bodies["GET /a X-Api-Key=k"] = "anonymous";
  CHECK(reading_of(service.probed(target), "look-alike") == "not found out");
  target.field = ProbeField{"Authorization", "k"};
  service.bodies["GET /a Authorization=k"] = "known";
  CHECK(reading_of(service.probed(target), "look-alike") == "not found out");
}

TEST_CASE("the answers to both orders show which of two values counts") {
  struct Row {
    const char* first_before;
    const char* first_after;
    const char* reading;
  };
  for (const Row& row :
       {Row{"1", "other", "reads the first"}, Row{"other", "1", "reads the last"},
        Row{"both", "both", "reads neither alone"}, Row{"1", "1", "reads neither alone"}}) {
    CAPTURE(row.reading);
    Service service{.bodies = {{"GET /a?id=1&x=y", "1"},
                               {"GET /a?id=weir-probe", "other"},
                               {"GET /a?id=1&id=weir-probe", row.first_before},
                               {"GET /a?id=weir-probe&id=1", row.first_after}}};
    CHECK(reading_of(service.probed(target_of("http://a/a?id=1&x=y")),
                     "repeated query parameter: id") == row.reading);
  }
  Service blind{.bodies = {{"GET /a?id=1", "1"}, {"GET /a?id=weir-probe", "1"}}};
  CHECK(reading_of(blind.probed(target_of("http://a/a?id=1")), "repeated query parameter: id") ==
        "not found out");
}

}  // namespace
}  // namespace weir::cli
