// Reports of results that are made up, as text and as JUnit XML.
#include "scenario/report.hpp"

#include "catch.hpp"

namespace weir::scenario {
namespace {

using namespace std::chrono_literals;

Step step_of(std::size_t number, int line) {
  Step step;
  step.number = number;
  step.line = line;
  step.request.url = "http://a.test/x?key=secret";
  step.expect.status = 200;
  return step;
}

}  // namespace

TEST_CASE("a file whose steps are ok is one line") {
  const Step one = step_of(1, 3), two = step_of(2, 4);
  FileResult result{.file = "limits.yaml", .steps = {{.step = &one}}};
  CHECK(to_text(result) == "limits.yaml: 1 step ok\n");
  result.steps.push_back({.step = &two});
  CHECK(to_text(result) == "limits.yaml: 2 steps ok\n");
  CHECK(result.is_ok());
}

TEST_CASE("the last line has the number of requests without an expectation") {
  const Step one = step_of(1, 3);
  Step two = step_of(2, 4), override = step_of(3, 5);
  two.expect = override.expect = {};
  override.override.emplace();
  FileResult result{.file = "limits.yaml",
                    .steps = {{.step = &one}, {.step = &two}, {.step = &override}}};
  CHECK(to_text(result) == "limits.yaml: 3 steps ok (1 without expect)\n");
  CHECK(result.is_ok());
  result.steps.front().of_all = {{"responses with status 200", "1", "2"}};
  CHECK_THAT(to_text(result),
             Catch::Contains("\nlimits.yaml: 1 of 3 steps failed (1 without expect)\n"));
}

TEST_CASE("a failed step has its line, its differences and its explanation") {
  const Step step = step_of(2, 7);
  const FileResult result{.file = "limits.yaml",
                          .steps = {{.step = &step,
                                     .name = "too many",
                                     .request = "POST http://a.test/x",
                                     .failed = 1,
                                     .repetition = 1,
                                     .at = 1500ms,
                                     .differences = {{"status", "200", "429"}},
                                     .explanation = "request  POST /x\n\nverdict  denied\n"}}};
  CHECK(to_text(result) ==
        "limits.yaml:7: step 2 \"too many\", at 1500ms: POST http://a.test/x\n"
        "  status: expected 200, found 429\n"
        "\n"
        "    request  POST /x\n"
        "\n"
        "    verdict  denied\n"
        "\n"
        "limits.yaml: 1 of 1 step failed\n");
  CHECK_FALSE(result.is_ok());
}

TEST_CASE("control characters do not reach the terminal") {
  const Step step = step_of(2, 7);
  const FileResult result{.file = "limits.yaml",
                          .steps = {{.step = &step,
                                     .name = "a\x1b[31m\xc2\x9b\nb\xff caf\xc3\xa9",
                                     .request = "GET http://a.test/x",
                                     .failed = 1,
                                     .repetition = 1,
                                     .differences = {{"body", "\"\"", "\"\x07\""}},
                                     .explanation = "verdict  \x08\n"}}};
  CHECK(to_text(result) ==
        "limits.yaml:7: step 2 \"a?[31m? b? caf\xc3\xa9\", at 0s: GET http://a.test/x\n"
        "  body: expected \"\", found \"?\"\n"
        "\n"
        "    verdict  ?\n"
        "\n"
        "limits.yaml: 1 of 1 step failed\n");
}

TEST_CASE("JUnit XML has a suite for each file, and every text is escaped") {
  const Step fine = step_of(1, 3);
  const Step wrong = step_of(2, 4);
  Step used = step_of(3, 5);
  used.expect = {};
  const FileResult results[] = {
      {.file = "a&b.yaml",
       .steps = {{.step = &fine, .request = "GET http://a.test/x"},
                 {.step = &wrong,
                  .name = "<a & \"b\"> \x01\xff",
                  .request = "GET http://a.test/x",
                  .failed = 1,
                  .repetition = 1,
                  .differences = {{"body", "\"<p>\"", "\"]]>\""}}},
                 {.step = &used, .request = "GET http://a.test/x"}}},
      {.file = "bad.yaml",
       .problems = {{.file = "bad.yaml",
                     .problems = {{.line = 1, .column = 2, .key_path = "k", .message = "wrong"}}}}},
  };
  CHECK(
      to_junit(results) ==
      R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="a&amp;b.yaml" tests="3" failures="1" errors="0" skipped="1" time="0">
    <testcase classname="a&amp;b.yaml" name="step 1, at 0s: GET http://a.test/x" file="a&amp;b.yaml" line="3" time="0"/>
    <testcase classname="a&amp;b.yaml" name="step 2 &quot;&lt;a &amp; &quot;b&quot;&gt; )"
      "\xef\xbf\xbd\xef\xbf\xbd"
      R"(&quot;, at 0s: GET http://a.test/x" file="a&amp;b.yaml" line="4" time="0">
      <failure message="body: expected &quot;&lt;p&gt;&quot;, found &quot;]]&gt;&quot;">a&amp;b.yaml:4: step 2 &quot;&lt;a &amp; &quot;b&quot;&gt; )"
      "\xef\xbf\xbd\xef\xbf\xbd"
      R"(&quot;, at 0s: GET http://a.test/x&#10;  body: expected &quot;&lt;p&gt;&quot;, found &quot;]]&gt;&quot;&#10;</failure>
    </testcase>
    <testcase classname="a&amp;b.yaml" name="step 3, at 0s: GET http://a.test/x" file="a&amp;b.yaml" line="5" time="0"><skipped message="the step has no expect"/></testcase>
  </testsuite>
  <testsuite name="bad.yaml" tests="1" failures="0" errors="1" skipped="0" time="0">
    <testcase classname="bad.yaml" name="the scenario and its configuration" file="bad.yaml" time="0">
      <error message="the file cannot be used">bad.yaml:1:2: k: wrong&#10;</error>
    </testcase>
  </testsuite>
</testsuites>
)");
}

}  // namespace weir::scenario
