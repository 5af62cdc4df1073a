#include "telemetry/export_answer.hpp"

#include "base/text.hpp"
#include "json/read.hpp"

namespace weir::telemetry {
namespace {

constexpr std::size_t longest_message = 200;
constexpr json::Limits limits{.depth = 8, .values = 256};

/// A text of the collector for one line of the log.
std::string message_in(const json::Value& object, std::string_view name) {
  const json::Value* const found = object.find(name);
  if (found == nullptr || found->kind != json::Kind::string) return {};
  std::string text = found->text.substr(0, longest_message);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

/// proto3 JSON has a 64-bit number as a string, and readers accept a number too.
std::uint64_t count_in(const json::Value& object, std::string_view name) {
  const json::Value* const found = object.find(name);
  if (found == nullptr) return 0;
  return parse_number<std::uint64_t>(found->text).value_or(0);
}

}  // namespace

ExportOutcome outcome_of(int status) {
  if (status >= 200 && status <= 299) return ExportOutcome::accepted;
  switch (status) {
    case 429:
    case 502:
    case 503:
    case 504:
      return ExportOutcome::retryable;
    default:
      return ExportOutcome::rejected;
  }
}

std::optional<PartialSuccess> partial_success(std::string_view body) {
  const auto answer = json::read(body, limits);
  if (!answer) return std::nullopt;
  const json::Value* const part = answer->find("partialSuccess");
  if (part == nullptr) return std::nullopt;
  PartialSuccess result{
      .rejected = count_in(*part, "rejectedSpans") + count_in(*part, "rejectedDataPoints"),
      .message = message_in(*part, "errorMessage")};
  if (result == PartialSuccess{}) return std::nullopt;
  return result;
}

std::string failure_message(std::string_view body) {
  const auto answer = json::read(body, limits);
  return answer ? message_in(*answer, "message") : std::string();
}

}  // namespace weir::telemetry
