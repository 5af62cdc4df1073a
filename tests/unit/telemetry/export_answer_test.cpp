#include "telemetry/export_answer.hpp"

#include "catch.hpp"

namespace weir::telemetry {

TEST_CASE("only the statuses of the specification are worth another attempt") {
  struct Row {
    int status;
    ExportOutcome outcome;
  };
  for (const Row& row : {
           Row{200, ExportOutcome::accepted},
           Row{202, ExportOutcome::accepted},
           Row{301, ExportOutcome::rejected},
           Row{400, ExportOutcome::rejected},
           Row{401, ExportOutcome::rejected},
           Row{404, ExportOutcome::rejected},
           Row{413, ExportOutcome::rejected},
           Row{429, ExportOutcome::retryable},
           Row{500, ExportOutcome::rejected},
           Row{502, ExportOutcome::retryable},
           Row{503, ExportOutcome::retryable},
           Row{504, ExportOutcome::retryable},
       }) {
    CAPTURE(row.status);
    CHECK(outcome_of(row.status) == row.outcome);
  }
}

TEST_CASE("a partial success has the number that was rejected and a message") {
  const auto part = [](std::string_view body) { return partial_success(body); };
  CHECK(part("{}") == std::nullopt);
  CHECK(part("") == std::nullopt);
  CHECK(part("not json") == std::nullopt);
  CHECK(part(R"({"partialSuccess":{}})") == std::nullopt);
  CHECK(part(R"({"partialSuccess":null})") == std::nullopt);
  CHECK(part(R"({"partialSuccess":{"rejectedSpans":"0","errorMessage":""}})") == std::nullopt);
  CHECK(part(R"({"partialSuccess":{"rejectedSpans":"5","errorMessage":"too old"}})") ==
        PartialSuccess{5, "too old"});
  CHECK(part(R"({"partialSuccess":{"rejectedDataPoints":7}})") == PartialSuccess{7, ""});
  CHECK(part(R"({"partialSuccess":{"errorMessage":"warn"}})") == PartialSuccess{0, "warn"});
}

TEST_CASE("a text of the collector is short and fits one line of the log") {
  CHECK(failure_message(R"({"code":3,"message":"bad\nline\u001b[1m"})") == "bad?line?[1m");
  CHECK(failure_message("{}").empty());
  CHECK(failure_message("<html>").empty());
  CHECK(failure_message(R"({"message":")" + std::string(1000, 'x') + "\"}").size() == 200);
}

}  // namespace weir::telemetry
