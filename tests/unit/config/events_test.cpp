// `events`: percentages, and the webhook, whose URL and fields are secrets.
#include <string>

#include "catch.hpp"
#include "unit/config/files.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using test::must_load;

std::string events_with(const std::string& webhook) {
  return "events: {at: [80], webhook: " + webhook + "}\n" + test::route_tail;
}

std::shared_ptr<const Config> load_webhook(const std::string& webhook,
                                           const Environment& in = test::environment()) {
  return must_load(events_with(webhook), in);
}

TEST_CASE("a webhook has a URL, and defaults for the rest") {
  CHECK_FALSE(must_load("events: {at: [80]}\n" + test::route_tail)->webhook);
  const auto config = load_webhook("{url: \"https://alerts.example/a/b?c=d\"}");
  const Webhook& webhook = *config->webhook;
  CHECK(webhook.url.is_secure);
  CHECK(webhook.url.host == "alerts.example");
  CHECK(webhook.url.port == 443);
  CHECK(webhook.url.target == "/a/b?c=d");
  CHECK(webhook.timeout == 2s);
  CHECK(webhook.fields.empty());
  CHECK(config->presentation.warnings.empty());
}

TEST_CASE("a webhook has a timeout and fields, whose values may be in files or variables") {
  const test::Files directory;
  directory.write("url", "http://127.0.0.1:9000/hook\n");
  directory.write("token", "Bearer s3cret\n");
  const auto config = load_webhook(
      "{url: file:url, timeout: 500ms, headers: {authorization: file:token, x-a: "
      "\"${VALUE}\"}}",
      directory.environment({{"VALUE", "v4lue"}}));
  const Webhook& webhook = *config->webhook;
  CHECK(webhook.url.host == "127.0.0.1");
  CHECK(webhook.url.port == 9000);
  CHECK(webhook.url.target == "/hook");
  CHECK(webhook.timeout == 500ms);
  REQUIRE(webhook.fields.size() == 2);
  CHECK(webhook.fields[0].first == "authorization");
  CHECK(webhook.fields[0].second.reveal() == "Bearer s3cret");
  CHECK(webhook.fields[1].second.reveal() == "v4lue");
}

TEST_CASE("the URL and the fields of a webhook are not shown") {
  const auto config = load_webhook(
      "{url: \"https://alerts.example/s3cret?key=s3cret\", headers: {x-token: s3cret}}");
  CHECK(config->presentation.document.find("webhook") != std::string::npos);
  CHECK(config->presentation.document.find("s3cret") == std::string::npos);
  CHECK(config->presentation.document.find("alerts.example") == std::string::npos);
  for (const std::string webhook :
       {"{url: \"ftp://s3cret/\"}", "{url: \"https://user:s3cret@host/\"}",
        "{url: \"https://host/s3cret#x\"}", "{url: \"https://host/s3cret x\"}", "{url: \"s3cret\"}",
        "{url: \"https://h\", headers: {x-a: \"s3cret\\n\"}}"}) {
    CAPTURE(webhook);
    const std::string problems = test::problems_of(events_with(webhook));
    CHECK_FALSE(problems.empty());
    CHECK(problems.find("s3cret") == std::string::npos);
  }
}

TEST_CASE("http:// to another machine is a warning") {
  CHECK(test::warnings_of(events_with("{url: \"http://10.0.0.1/x\"}")).size() == 1);
  CHECK(test::warnings_of(events_with("{url: \"http://localhost/x\"}")).empty());
}

}  // namespace
}  // namespace weir::config
