#include "app/telemetry.hpp"

#include <algorithm>
#include <utility>

#include "admin/metrics.hpp"
#include "admin/process_stats.hpp"
#include "http/request_id.hpp"
#include "telemetry/metrics_document.hpp"
#include "telemetry/resource.hpp"

namespace weir::app {
namespace {

std::string new_instance_id(Instant now, Random& random) {
  const http::UuidText id = http::uuid_v7(now, random.next(), random.next());
  return {id.data(), id.size()};
}

}  // namespace

Telemetry::Telemetry(Dependencies dependencies, std::uint64_t seed)
    : with_(std::move(dependencies)),
      random_(seed),
      started_at_(with_.clock.now()),
      instance_id_(new_instance_id(started_at_, random_)),
      spans_(telemetry::Signal::spans, {.io = with_.io,
                                        .clock = with_.clock,
                                        .random = random_,
                                        .counters = counters_.spans,
                                        .log = with_.log,
                                        .has_batch = [this] { return has_batch(); },
                                        .take = [this] { return take_spans(); }}),
      metrics_(telemetry::Signal::metrics, {.io = with_.io,
                                            .clock = with_.clock,
                                            .random = random_,
                                            .counters = counters_.metrics,
                                            .log = with_.log,
                                            .has_batch = [] { return false; },
                                            .take = [this] { return take_metrics(); }}),
      alarm_(with_.io) {}

ExportTarget Telemetry::target(const char* path,
                               std::shared_ptr<const tls::ClientContext> tls) const {
  ExportTarget target{.url = options_->url,
                      .shown = options_->shown,
                      .fields = options_->headers,
                      .timeout = options_->timeout,
                      .tls = std::move(tls)};
  target.url.target += path;
  return target;
}

void Telemetry::use(const std::optional<options::Otlp>& options,
                    std::shared_ptr<const tls::ClientContext> tls) {
  options_ = options;
  const bool has_spans = options_ && options_->spans;
  const bool has_metrics = options_ && options_->metrics;
  for (telemetry::SpanQueue& queue : with_.spans)
    queue.set_most(has_spans ? options_->spans->queue : 0);
  if (has_spans)
    spans_.use(target("/v1/traces", tls), options_->spans->interval);
  else
    spans_.stop();
  if (has_metrics)
    metrics_.use(target("/v1/metrics", tls), options_->metrics->interval);
  else
    metrics_.stop();
  alarm_.cancel();
  if (!options_) return;
  resource_ = telemetry::resource_json(options_->resource, WEIR_VERSION, instance_id_);
  check();
}

void Telemetry::check() {
  if (options_->spans) spans_.check();
  if (options_->metrics) metrics_.check();
  alarm_.set(check_interval, [this] { check(); });
}

bool Telemetry::has_batch() const {
  std::size_t waiting = 0;
  for (const telemetry::SpanQueue& queue : with_.spans)
    waiting += queue.size();
  return waiting >= options_->spans->batch;
}

ExportBatch Telemetry::take_spans() {
  ExportBatch batch;
  std::string spans;
  for (telemetry::SpanQueue& queue : with_.spans)
    batch.count += queue.take(options_->spans->batch - batch.count, spans);
  if (batch.count > 0) batch.body = telemetry::traces_request(resource_, WEIR_VERSION, spans);
  return batch;
}

ExportBatch Telemetry::take_metrics() {
  // There are always metrics, so a process that ends exports them once more only.
  if (!instruments_ || exported_last_metrics_) return {};
  exported_last_metrics_ = finished_ != nullptr;
  telemetry::MetricsDocument document(started_at_, with_.clock.now());
  admin::write_metrics(document, *instruments_, admin::read_process_stats());
  const std::string metrics = document.take();
  return {.body = telemetry::metrics_request(resource_, WEIR_VERSION, metrics),
          .count = document.points()};
}

void Telemetry::finish(Duration at_most, std::function<void()> finished) {
  alarm_.cancel();
  if (!options_) return finished();
  finished_ = std::move(finished);
  dropped_before_ = counters_.spans.dropped.value();
  at_most = std::min(at_most, options_->timeout);
  // Both are counted before one of them ends at once.
  const auto end_one = [this] {
    if (--unfinished_ == 0) abandon();
  };
  unfinished_ = 1 + (options_->spans ? 1 : 0) + (options_->metrics ? 1 : 0);
  alarm_.set(at_most, [this] { abandon(); });
  if (options_->spans) spans_.finish(end_one);
  if (options_->metrics) metrics_.finish(end_one);
  end_one();
}

void Telemetry::abandon() {
  const auto finished = std::exchange(finished_, nullptr);
  if (!finished) return;
  alarm_.cancel();
  spans_.stop();
  metrics_.stop();
  std::uint64_t lost = counters_.spans.dropped.value() - dropped_before_;
  for (const telemetry::SpanQueue& queue : with_.spans)
    lost += queue.size();
  if (lost > 0)
    with_.log({LogLine::Level::warning, "telemetry.otlp: " + std::to_string(lost) +
                                            " spans were not exported before the end"});
  finished();
}

}  // namespace weir::app
