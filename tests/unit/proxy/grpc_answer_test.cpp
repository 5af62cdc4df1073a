#include "proxy/grpc_answer.hpp"

#include "catch.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::proxy {
namespace {

DecisionRecord denial() {
  DecisionRecord decision;
  decision.outcome = limiter::Outcome::denied;
  decision.violated = {"per-user"};
  return decision;
}

TEST_CASE("a denial has the configured code, and states when to retry in two ways") {
  GrpcScratch scratch;
  scratch.fields = {{"X-Of", "the last answer"}};
  const http::FieldSection fields{{"Retry-After", "3"}};
  const http::FieldSection limit_fields{{"RateLimit", "l"}};
  const OwnAnswer answer = grpc_answer({.status = 429,
                                        .content_type = "application/problem+json",
                                        .fields = &fields,
                                        .body = "{}",
                                        .limit_fields = &limit_fields,
                                        .retry_after_s = 3},
                                       denial(), {.denied_code = 14}, scratch);
  CHECK(answer.status == 200);
  CHECK(answer.content_type == "application/grpc");
  CHECK(answer.body.empty());
  CHECK(answer.limit_fields == &limit_fields);
  CHECK(answer.grpc_status == grpc::Status::unavailable);
  CHECK(scratch.message == "quota \"per-user\" exceeded; retry in 3 s");
  const std::string lines = http::lines_of(*answer.fields);
  CAPTURE(lines);
  CHECK(
      lines.starts_with("Retry-After: 3\r\nGrpc-Status: 14\r\n"
                        "Grpc-Message: quota \"per-user\" exceeded; retry in 3 s\r\n"
                        "Grpc-Retry-Pushback-Ms: 3000\r\nGrpc-Status-Details-Bin: CA4S"));
}

TEST_CASE("a call that can never succeed must not be retried") {
  GrpcScratch scratch;
  const OwnAnswer answer = grpc_answer({.status = 429}, denial(), {}, scratch);
  CHECK(answer.grpc_status == grpc::Status::resource_exhausted);
  CHECK(http::lines_of(*answer.fields).ends_with("Grpc-Retry-Pushback-Ms: -1\r\n"));
}

TEST_CASE("a denied call that is refused for another reason has the status of that reason") {
  GrpcScratch scratch;
  const OwnAnswer late{
      .status = 504, .detail = "late", .grpc_status = grpc::Status::deadline_exceeded};
  const OwnAnswer answer = grpc_answer(late, denial(), {.denied_code = 14}, scratch);
  CHECK(answer.grpc_status == grpc::Status::deadline_exceeded);
  CHECK(http::lines_of(*answer.fields) == "Grpc-Status: 4\r\nGrpc-Message: late\r\n");
}

TEST_CASE("the status and the message of other answers") {
  struct Row {
    OwnAnswer answer;
    std::string_view lines;
  };
  const std::string long_text(1025, 'x');
  const auto row = GENERATE_COPY(values<Row>({
      // The detail, percent-encoded.
      {{.status = 401, .detail = "100 %"}, "Grpc-Status: 16\r\nGrpc-Message: 100 %25\r\n"},
      // A short body of plain text, without the end of its line.
      {{.status = 503, .content_type = "text/plain; charset=utf-8", .body = "for an hour\r\n"},
       "Grpc-Status: 14\r\nGrpc-Message: for an hour\r\n"},
      // No other body.
      {{.status = 503, .content_type = "text/html", .body = "<p>"},
       "Grpc-Status: 14\r\nGrpc-Message: Service Unavailable\r\n"},
      {{.status = 404, .content_type = "text/plain", .body = long_text},
       "Grpc-Status: 12\r\nGrpc-Message: Not Found\r\n"},
      // A status of its own.
      {{.status = 504, .detail = "late", .grpc_status = grpc::Status::deadline_exceeded},
       "Grpc-Status: 4\r\nGrpc-Message: late\r\n"},
  }));
  GrpcScratch scratch;
  CHECK(http::lines_of(*grpc_answer(row.answer, {}, {}, scratch).fields) == row.lines);
}

}  // namespace
}  // namespace weir::proxy
