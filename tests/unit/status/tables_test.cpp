#include "status/tables.hpp"

#include <string>

#include "catch.hpp"
#include "unit/status/sample.hpp"

namespace weir::status {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The cells of the row with this name, as text with a blank between them.
std::string row_of(const std::string& html, const std::string& name) {
  const std::string head = "<th scope=\"row\">" + name + "</th>";
  const auto begin = html.find(head);
  if (begin == std::string::npos) return "no such row";
  std::string cells =
      html.substr(begin + head.size(), html.find("</tr>", begin) - begin - head.size());
  std::string text;
  for (bool is_tag = false; const char c : cells) {
    if (c == '<') is_tag = true;
    if (!is_tag) text += c;
    if (c == '>') is_tag = false;
    if (c == '>' && !text.empty() && text.back() != ' ') text += ' ';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

TEST_CASE("the tables have the numbers of the report") {
  const std::string html = tables_of(sample_report().report);
  CHECK(contains(html, "cover the last 10.0 s."));
  CHECK(row_of(html, "p (shadow)") == "gcra 0.2 0.8 0.1 0 0 2 8");
  CHECK(row_of(html, escaped(hostile)) == "0.2 0.8 0.2 0.1 50 \u00b5s 90 \u00b5s 99 \u00b5s 2 8");
  CHECK(row_of(html, "redis") == "0 \u2013 \u2013 \u2013 0");
  CHECK(row_of(html, "redis:6379") == "down half open 12 40 0 0 \u2013 \u2013");
  CHECK(row_of(html, "api") == "a:80 b:80 0.6 0.1 0 6 1");
  CHECK(row_of(html, "p") == "3 \u2013 7");
  CHECK(row_of(html, "idp") == "90 s 4 1 no answer");
  CHECK(row_of(html, "new") == "\u2013 0 0 \u2013");
  CHECK(row_of(html, "type") == "redis");
  CHECK(row_of(html, "instances that differ") == "1");
  CHECK(row_of(html, "decided by on_failure") == "11");
  CHECK(row_of(html, "configuration") == "c0ffee");
  CHECK(row_of(html, "loaded") == "2023-11-14 21:56:40 UTC");
  CHECK(row_of(html, "needs a restart") == "workers");
  CHECK(row_of(html, "resident memory") == "20 MiB");
  CHECK(contains(html, "<p class=\"problem\">redis is lost</p>"));
  CHECK(html.find("<caption>Policies") < html.find("<caption>Routes"));
  CHECK(!contains(html, "Most denied"));
  CHECK(!contains(html, "Reload in shadow"));
}

TEST_CASE("a configuration that was tried has a table") {
  Status status = sample_status();
  status.configuration.shadow_reload = sample_shadow_reload();
  const auto html = [&] { return tables_of(sample_report(status).report); };
  CHECK(contains(html(), "<caption>Reload in shadow"));
  CHECK(row_of(html(), "shadow") == "2026-01-01T00:00:00Z 2 700 0.5% 1 ab \u2013");
  status.configuration.shadow_reload.state = "dropped";
  status.configuration.shadow_reload.reason = hostile;
  CHECK(row_of(html(), "dropped") == "2026-01-01T00:00:00Z 2 700 0.5% 1 ab " + escaped(hostile));
}

TEST_CASE("no text of the configuration becomes markup") {
  Status status = sample_status();
  status.process.state = status.configuration.hash = hostile;
  status.configuration.restart_needed = status.problems = {hostile};
  status.policies[0].name = status.policies[0].algorithm = hostile;
  status.deciders[0].name = status.upstreams[0].name = hostile;
  status.upstreams[0].servers[0].name = status.upstreams[0].servers[1].name = hostile;
  status.store.shared->nodes[0].name = hostile;
  status.keys[0].provider = status.keys[0].problem = hostile;
  status.top = {
      .keys = {{.identity = hostile, .hash = hostile, .policy = hostile, .route = hostile}}};
  const std::string html = tables_of(compare(nullptr, status));
  CHECK(!contains(html, "<img"));
  CHECK(contains(html, "&lt;img src=x onerror=alert(&#39;1&#39;)&gt;&quot;&amp;"));
  CHECK(contains(html, "<caption>Most denied keys"));
}

TEST_CASE("the keys that are denied most have a table, if they are counted") {
  Status status = sample_status();
  status.top = {.window = std::chrono::seconds(60),
                .keys = {{.identity = "api_key",
                          .hash = "c0ffee00",
                          .policy = "p",
                          .route = "search",
                          .requests = 9,
                          .denied = 4,
                          .requests_error = 2}}};
  const std::string html = tables_of(compare(nullptr, status));
  CHECK(contains(html, "<caption>Most denied keys of the last 60.0 s</caption>"));
  CHECK(row_of(html, "c0ffee00") == "api_key p search 4 7\u20139");
}

TEST_CASE("without rates the page explains how to get them") {
  const std::string html = tables_of(compare(nullptr, sample_status()));
  CHECK(contains(html, "appear when the page is loaded again"));
  CHECK(row_of(html, "p (shadow)") == "gcra \u2013 \u2013 \u2013 \u2013 \u2013 2 8");
}

TEST_CASE("durations and rates have few digits") {
  Status status = sample_status();
  status.routes[0].responses = {0, 12'345, 0, 0, 0};
  status.routes[0].duration = {};
  status.routes[0].duration.buckets[11] = 90;
  status.routes[0].duration.buckets[6] = 110;
  const std::string html = tables_of(sample_report(status).report);
  CHECK(row_of(html, escaped(hostile)) == "0.2 1234 0 0 9.5 ms 833 ms 983 ms 2 12345");
}

TEST_CASE("a shortened list has the number of the other rows") {
  Status status = sample_status();
  for (int i = 0; i < 150; ++i)
    status.routes.push_back({.name = std::to_string(i)});
  CHECK(contains(tables_of(compare(nullptr, status)), "<th scope=\"row\">101 more</th>"));
}

}  // namespace
}  // namespace weir::status
