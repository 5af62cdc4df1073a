// `telemetry`: the export of spans and metrics by OTLP.
#include <algorithm>
#include <utility>

#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/url.hpp"
#include "config/values.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr DurationRange export_timeout_range{milliseconds(100), minutes(1)};
constexpr DurationRange span_interval_range{milliseconds(100), minutes(10)};
constexpr DurationRange metric_interval_range{seconds(1), hours(1)};
constexpr std::size_t most_resource_attributes = 64;

constexpr UrlForms endpoint_forms{
    .example = "http://127.0.0.1:4318",
    .schemes = "http://HOST:4318 or https://HOST:4318",
    .expected = "http://HOST:4318 or https://HOST:4318, such as http://127.0.0.1:4318"};

struct SpansDraft {
  options::SpanExport how{};
  options::Tracing tracing{};
};

struct OtlpDraft {
  Config& config;
  options::Otlp otlp{};
};

constexpr Key<SpansDraft> span_keys[] = {
    {.name = "sample",
     .read = read::with<read_share, &SpansDraft::tracing, &options::Tracing::sample>},
    {.name = "denied",
     .read = read::with<read_share, &SpansDraft::tracing, &options::Tracing::denied>},
    {.name = "parent",
     .read =
         [](const Cursor& in, SpansDraft& to) {
           read_choice(
               in, to.tracing.parent,
               {{"all", options::ParentRule::all}, {"trusted", options::ParentRule::trusted}});
         }},
    {.name = "interval",
     .read = read::duration<span_interval_range, &SpansDraft::how, &options::SpanExport::interval>},
    {.name = "batch",
     .read = read::integer<1, 8192, &SpansDraft::how, &options::SpanExport::batch>},
    {.name = "queue",
     .read = read::integer<1, 65536, &SpansDraft::how, &options::SpanExport::queue>},
};

void read_spans(const Cursor& in, OtlpDraft& to) {
  options::Tracing& tracing = to.config.proxy.tracing;
  if (is_off(in)) {
    to.otlp.spans.reset();
    return;
  }
  SpansDraft draft{.how = {}, .tracing = tracing};
  read_table(in, span_keys, draft);
  if (draft.how.batch > draft.how.queue)
    in.at_key("batch").error("larger than queue; make it smaller, or queue larger");
  to.otlp.spans = draft.how;
  tracing = draft.tracing;
}

constexpr Key<options::MetricExport> metric_keys[] = {
    {.name = "interval",
     .read = read::duration<metric_interval_range, &options::MetricExport::interval>},
};

void read_metrics(const Cursor& in, OtlpDraft& to) {
  if (is_off(in)) {
    to.otlp.metrics.reset();
    return;
  }
  read_table(in, metric_keys, *to.otlp.metrics);
}

bool is_path_character(char c) {
  return c > ' ' && c <= '~';
}

void read_otlp_endpoint(const Cursor& in, OtlpDraft& to) {
  const auto text = in.text();
  if (!text) return;
  const Result<HttpUrl> parts = split_http_url(*text, endpoint_forms);
  if (!parts) return in.error(parts.error().message + variable_hint(in.node().text));
  std::string_view path = parts->rest;
  if (path.find_first_of("?#") != std::string_view::npos) {
    return in.error(
        "the endpoint has no query and no fragment, because /v1/traces and /v1/metrics are "
        "appended to its path; remove them, and write a key as one of headers");
  }
  if (!std::ranges::all_of(path, is_path_character))
    return in.error("the path has a space or a letter outside ASCII; write it as %XX");
  while (path.ends_with('/'))
    path.remove_suffix(1);
  if (path.ends_with("/v1/traces") || path.ends_with("/v1/metrics"))
    return in.error("the paths of the signals are appended; remove /v1/traces or /v1/metrics");
  to.otlp.url = {.is_secure = parts->is_secure,
                 .host = std::string(parts->host),
                 .port = parts->port,
                 .target = std::string(path)};
  to.otlp.shown = in.shown(*text);
}

void read_resource(const Cursor& in, OtlpDraft& to) {
  for_each_named(in, "a map of attributes, such as {service.name: weir}", most_resource_attributes,
                 [&](const std::string& name, const Cursor& entry) {
                   std::string value;
                   read_text(entry, value);
                   if (value.empty())
                     return entry.error("the value is empty; write one, or remove the attribute");
                   to.otlp.resource.emplace_back(name, std::move(value));
                 });
}

constexpr Key<OtlpDraft> otlp_keys[] = {
    {.name = "endpoint", .read = read_otlp_endpoint, .required = true},
    {.name = "headers",
     .read = [](const Cursor& in, OtlpDraft& to) { read_secret_fields(in, to.otlp.headers); }},
    {.name = "timeout",
     .read = read::duration<export_timeout_range, &OtlpDraft::otlp, &options::Otlp::timeout>},
    {.name = "tls", .read = read::with<read_client_tls, &OtlpDraft::otlp, &options::Otlp::tls>},
    {.name = "spans", .read = read_spans},
    {.name = "metrics", .read = read_metrics},
    {.name = "resource", .read = read_resource},
};

void read_otlp(const Cursor& in, Config& to) {
  OtlpDraft draft{.config = to};
  if (!read_table(in, otlp_keys, draft)) return;
  const http::Url& url = draft.otlp.url;
  if (!draft.otlp.headers.empty() && !url.host.empty() && !url.is_secure && !is_loopback(url.host))
    in.at_key("headers").warn(
        "over http:// anyone on the network path can read them; use https://");
  if (in.has("tls") && !url.host.empty() && !url.is_secure)
    in.at_key("tls").error("tls has no meaning for http://; write https://");
  if (!draft.otlp.spans && !draft.otlp.metrics)
    in.error("exports nothing: both spans and metrics are off; remove the section otlp");
  to.proxy.tracing.records = draft.otlp.spans.has_value();
  to.otlp = std::move(draft.otlp);
}

constexpr Key<Config> telemetry_keys[] = {
    {.name = "otlp", .read = read_otlp, .required = true},
};

}  // namespace

void read_telemetry(const Cursor& in, Config& to) {
  read_table(in, telemetry_keys, to);
}

}  // namespace weir::config
