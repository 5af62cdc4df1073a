// The report as a page.
#include "replay/report_page.hpp"

#include "catch.hpp"
#include "sample_rates.hpp"

namespace weir::replay {
namespace {

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the page loads nothing, runs nothing and has every part") {
  const std::string page = to_page(sample_rates());
  CHECK(has(page, "content=\"default-src 'none'; style-src 'sha256-"));
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "http://"));
  CHECK_FALSE(has(page, "https://"));
  CHECK_FALSE(has(page, " style="));
  CHECK_FALSE(has(page, "unsafe"));
  for (const std::string_view heading : {"Suggested rates", "Over the time of the log",
                                         "At other rates", "Compared with other.yaml"})
    CHECK(has(page, heading));
  CHECK(has(page, "x1"));
  CHECK(has(page, "rate: 10/1s (too small)"));
  CHECK(has(page, " suggested</td>"));
}

TEST_CASE("texts of the log and of the configuration are escaped") {
  Report report = sample_rates();
  constexpr std::string_view hostile = "<script>alert(1)</script>\"'&";
  report.rates[0].policy = report.suggestions->policies[0].policy = hostile;
  report.flips->file = hostile;
  report.routes = {
      {.policy = std::string(hostile), .route = std::string(hostile), .use = {.requests = 1}}};
  report.keys = {{.policy = std::string(hostile),
                  .identity = std::string(hostile),
                  .hash = {},
                  .address = std::string(hostile),
                  .use = {}}};
  report.absent = {{.identity = std::string(hostile), .requests = 1}};
  const std::string page = to_page(report);
  CHECK_FALSE(has(page, "<script"));
  CHECK(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST_CASE("rates that change nothing are left out, and those without the burst have their place") {
  Report report = sample_rates();
  std::vector<RateReport>& rates = report.rates[0].rates;
  rates.insert(rates.end(),
               {sample_rate(100, 0, 0), sample_rate(200, 0, 0), sample_rate(250, 0, 0)});
  report.rates.push_back(report.rates[0]);
  report.rates[1].drops_burst = true;
  const std::string page = to_page(report);
  CHECK(has(page, "<th scope=\"row\">100/1s</th>"));
  CHECK_FALSE(has(page, "<th scope=\"row\">200/1s</th>"));
  CHECK(has(page, "p (plan gold) without its burst at other rates"));
}

TEST_CASE("a report without requests is a page") {
  CHECK(has(to_page({}), "Replay of 0 requests"));
}

}  // namespace weir::replay
