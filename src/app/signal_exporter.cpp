#include "app/signal_exporter.hpp"

#include <exception>
#include <utility>

namespace weir::app {
namespace {

using telemetry::ExportMachine;
using telemetry::ExportOutcome;

constexpr Duration unused_interval = std::chrono::hours(1);
constexpr std::size_t most_answer = 64 * 1024;

}  // namespace

SignalExporter::SignalExporter(telemetry::Signal signal, Dependencies dependencies)
    : with_(std::move(dependencies)),
      machine_(unused_interval, with_.clock.now()),
      report_(signal) {}

SignalExporter::~SignalExporter() {
  if (call_) call_->cancel();
}

void SignalExporter::use(ExportTarget target, Duration interval) {
  target_ = std::move(target);
  machine_.set_interval(interval, with_.clock.now());
}

void SignalExporter::check() {
  if (finished_) return;
  switch (machine_.next(with_.clock.now(), with_.has_batch())) {
    case ExportMachine::Action::nothing:
      return;
    case ExportMachine::Action::take:
      return take();
    case ExportMachine::Action::resend:
      return send();
  }
}

void SignalExporter::take() {
  batch_ = with_.take();
  if (batch_.count == 0) return machine_.took_nothing(with_.clock.now());
  machine_.sent(with_.clock.now());
  send();
}

void SignalExporter::send() {
  fetch::Request request{.method = "POST",
                         .url = target_.url,
                         .accept = "application/json",
                         .fields = target_.fields,
                         .json = batch_.body,
                         .tls = target_.tls,
                         .timeout = target_.timeout,
                         .most_body = most_answer,
                         .reads_any_status = true};
  call_ = fetch::Call::start(with_.io, std::move(request),
                             [this](const Result<fetch::Answer>& answer) { end(answer); });
}

/// Sets `reason` unless the collector has accepted the request.
ExportOutcome SignalExporter::judge(const Result<fetch::Answer>& answer,
                                    std::string& reason) const {
  if (!answer) {
    reason = answer.error().message;
    return ExportOutcome::retryable;
  }
  const ExportOutcome outcome = telemetry::outcome_of(answer->status);
  if (outcome != ExportOutcome::accepted)
    reason = failure_text(answer->status, telemetry::failure_message(answer->body));
  return outcome;
}

void SignalExporter::end(const Result<fetch::Answer>& answer) {
  call_.reset();
  std::string reason;
  const ExportOutcome outcome = judge(answer, reason);
  const auto retry_after =
      answer && answer->retry_after ? std::optional<Duration>(*answer->retry_after) : std::nullopt;
  const auto ending = machine_.ended(outcome, retry_after, with_.clock.now(), with_.random.next());
  if (outcome == ExportOutcome::accepted) {
    const auto part = telemetry::partial_success(answer->body);
    with_.counters.ok.add();
    if (part) with_.counters.dropped.add(part->rejected);
    write(report_.accepted(part));
    batch_ = {};
  } else {
    const bool is_repeated = ending == ExportMachine::Ending::retries && !finished_;
    with_.counters.failed.add();
    write(report_.failed(target_.shown, reason, is_repeated));
    if (!is_repeated) drop();
  }
  if (!finished_) return check();
  if (outcome != ExportOutcome::accepted) return end_all();
  take();
  if (!call_) end_all();
}

void SignalExporter::drop() {
  with_.counters.dropped.add(batch_.count);
  batch_ = {};
}

void SignalExporter::finish(std::function<void()> finished) {
  finished_ = std::move(finished);
  if (call_) return;
  if (machine_.is_retrying()) {
    machine_.sent(with_.clock.now());
    return send();
  }
  take();
  if (!call_) end_all();
}

/// Everything that still waits is lost.
void SignalExporter::end_all() {
  stop();
  const auto finished = std::exchange(finished_, nullptr);
  if (finished) finished();
}

void SignalExporter::stop() {
  if (call_) call_->cancel();
  call_.reset();
  drop();
  machine_ = ExportMachine(unused_interval, with_.clock.now());
}

void SignalExporter::write(const std::optional<LogLine>& line) const {
  if (line) with_.log(*line);
}

}  // namespace weir::app
