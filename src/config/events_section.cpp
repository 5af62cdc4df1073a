// `events`: the percentages of quotas that are reported, and the webhook that receives them.
#include <algorithm>
#include <utility>

#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/url.hpp"
#include "limiter/quota_events.hpp"

namespace weir::config {

namespace {

constexpr std::int64_t all_percent = 100;
constexpr DurationRange webhook_timeout_range{std::chrono::milliseconds(100),
                                              std::chrono::minutes(1)};
constexpr UrlForms webhook_forms{
    .example = "https://alerts.example/quota",
    .schemes = "https://HOST/PATH or http://HOST/PATH",
    .expected = "https://HOST/PATH, such as https://alerts.example/quota"};

void read_event_percents(const Cursor& in, Config& to) {
  for_each_item(in, "a list of percentages, such as [80, 100]", limiter::event_percent_limit,
                [&to](const Cursor& item) {
                  const auto percent = read_integer(item, {1, all_percent});
                  if (percent) to.event_percents.push_back(static_cast<int>(*percent));
                });
  std::ranges::sort(to.event_percents);
  const auto repeated = std::ranges::unique(to.event_percents);
  to.event_percents.erase(repeated.begin(), repeated.end());
}

void read_webhook_url(const Cursor& in, Webhook& to) {
  Secret text;
  if (!read_secret(in, text)) return;
  Result<http::Url> url = parse_request_url(text.reveal(), webhook_forms);
  if (!url) return in.error(url.error().message + variable_hint(in.node().text));
  to.url = *std::move(url);
  if (!to.url.is_secure && !is_loopback(to.url.host))
    in.warn("over http:// anyone on the network path can read and forge the events; use https://");
}

constexpr Key<Webhook> webhook_keys[] = {
    {.name = "url", .read = read_webhook_url, .required = true},
    {.name = "timeout", .read = read::duration<webhook_timeout_range, &Webhook::timeout>},
    {.name = "headers", .read = read::with<read_secret_fields, &Webhook::fields>},
    {.name = "tls", .read = read::with<read_client_tls, &Webhook::tls>},
};

void read_webhook(const Cursor& in, Config& to) {
  Webhook webhook;
  if (!read_table(in, webhook_keys, webhook)) return;
  if (in.has("tls") && !webhook.url.host.empty() && !webhook.url.is_secure)
    in.at_key("tls").error("tls has no meaning for http://; write https://");
  to.webhook = std::move(webhook);
}

constexpr Key<Config> events_keys[] = {
    {.name = "at", .read = read_event_percents, .required = true},
    {.name = "webhook", .read = read_webhook},
};

}  // namespace

void read_events(const Cursor& in, Config& to) {
  read_table(in, events_keys, to);
}

}  // namespace weir::config
