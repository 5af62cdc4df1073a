#include "proxy/own_answers.hpp"

#include "catch.hpp"
#include "decision/refusals.hpp"
#include "proxy/failure.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant now = instant_from_us(784'111'777'000'000);  // 1994-11-06 08:49:37

bool text_holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("a request that no store decided may come again in a second, and with jitter later") {
  DecisionRecord decision;
  decision.outcome = limiter::Outcome::failed;
  http::ResponseFieldOptions options;
  http::FieldSection fields{{"X-Of", "the last answer"}};
  std::string body;
  AnswerPhase phase{.options = options, .request_fields = {}, .now = now, .random = 0};
  OwnAnswer answer = undecided_answer(decision, nullptr, phase, fields, body);
  CHECK(answer.status == 503);
  CHECK(http::lines_of(*answer.fields) == "Retry-After: 1\r\n");
  CHECK(text_holds(answer.body, decision::undecided.detail));
  options.retry_after_jitter = 10s;
  phase.random = ~0ULL / 2;
  answer = undecided_answer(decision, nullptr, phase, fields, body);
  CHECK(http::lines_of(*answer.fields) != "Retry-After: 1\r\n");
}

TEST_CASE("an answer without a decision has the fields of the policy's denials") {
  limiter::Policy policy;
  policy.denial.fields = {{"Cache-Control", "no-store"}, {"Access-Control-Allow-Origin", "*"}};
  DecisionRecord decision;
  decision.outcome = limiter::Outcome::failed;
  decision.policy = &policy;
  const http::ResponseFieldOptions options;
  http::FieldSection fields;
  std::string body;
  const AnswerPhase phase{.options = options, .request_fields = {}, .now = now};
  const OwnAnswer answer = undecided_answer(decision, nullptr, phase, fields, body);
  CHECK(http::lines_of(*answer.fields) ==
        http::lines_of(policy.denial.fields) + "Retry-After: 1\r\n");
}

TEST_CASE("every outcome that is no decision has its answer") {
  using limiter::Outcome;
  const auto [outcome, status, fields_of_answer] = GENERATE(table<Outcome, int, std::string>({
      {Outcome::forbidden, 403, ""},
      {Outcome::identity_required, 401, "WWW-Authenticate: ApiKey\r\n"},
      {Outcome::too_many_limits, 400, ""},
      {Outcome::identity_ambiguous, 400, ""},
      {Outcome::token_invalid, 401,
       "Cache-Control: no-store\r\nWWW-Authenticate: Bearer error=\"invalid_token\", "
       "error_description=\"the token has expired\"\r\n"},
      {Outcome::token_unverifiable, 503, "Retry-After: 1\r\n"},
      {Outcome::failed, 503, "Retry-After: 1\r\n"},
  }));
  options::Route route;
  route.challenge = {{"WWW-Authenticate", "ApiKey"}};
  DecisionRecord decision;
  decision.outcome = outcome;
  decision.rejection = jwt::Rejection::expired;
  const identity::Source source{identity::FromHeader{"x-key"}};
  decision.ambiguity.source = &source;
  const http::ResponseFieldOptions options;
  http::FieldSection fields;
  std::string body;
  const AnswerPhase phase{.options = options, .request_fields = {}, .now = now};
  const OwnAnswer answer = undecided_answer(decision, &route, phase, fields, body);
  CHECK(answer.status == status);
  CHECK(http::lines_of(*answer.fields) == fields_of_answer);
  CHECK(counts_as_response(outcome) == (outcome == Outcome::token_invalid));
}

TEST_CASE("a refusal is a problem of its status, with the fields that the status needs") {
  const auto [status, fields] = GENERATE(table<int, std::string>({
      {400, ""},
      {404, ""},
      {502, ""},
      {405, http::lines_of(allow_field())},
      {401, "WWW-Authenticate: Bearer\r\n"},
  }));
  CAPTURE(status);
  options::Route route;
  route.challenge = {{"WWW-Authenticate", "Bearer"}};
  DecisionRecord decision;
  decision.limit_fields = {{"RateLimit", "l"}};
  std::string body = "of the last answer";
  const OwnAnswer answer = refusal_answer({status, "what is wrong"}, &route, decision, body);
  CHECK(answer.status == status);
  CHECK(answer.content_type == "application/problem+json");
  CHECK(http::lines_of(*answer.fields) == fields);
  CHECK(http::lines_of(*answer.limit_fields) == "RateLimit: l\r\n");
  CHECK(answer.body.data() == body.data());
  CHECK(text_holds(answer.body, "what is wrong"));
  CHECK(text_holds(answer.body, std::to_string(status)));
  CHECK_FALSE(text_holds(answer.body, "last answer"));
}

TEST_CASE("a refusal needs no route") {
  std::string body;
  CHECK(refusal_answer(decision::no_route, nullptr, {}, body).status == 404);
}

TEST_CASE("a denial carries its policy and when to come again") {
  limiter::Policy policy;
  DecisionRecord decision;
  decision.policy = &policy;
  decision.violated = {"one"};
  decision.limit_fields = {{"RateLimit", "l"}};
  decision.retry_after = 2'000'001us;
  http::ResponseFieldOptions options;
  std::uint64_t random = 0;
  std::string retry = "Retry-After: 3\r\n";  // rounded up
  SECTION("in seconds") {}
  SECTION("with jitter") {
    options.retry_after_jitter = 10s;
    random = 4'000'000;  // microseconds, below the jitter
    retry = "Retry-After: 7\r\n";
  }
  SECTION("as a date") {
    options.retry_after = http::RetryAfterForm::http_date;
    retry = "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n";
  }
  SECTION("never") {
    decision.retry_after.reset();
    retry.clear();
  }
  http::FieldSection fields{{"X-Of", "the last answer"}};
  std::string body = "of the last answer";
  const OwnAnswer answer = denial_answer(
      decision, {.options = options, .request_fields = {}, .now = now, .random = random}, fields,
      body);
  CHECK(answer.status == 429);
  CHECK(answer.content_type == "application/problem+json");
  CHECK(http::lines_of(*answer.fields) == "Cache-Control: no-store\r\n" + retry);
  CHECK(http::lines_of(*answer.limit_fields) == "RateLimit: l\r\n");
  CHECK(text_holds(answer.body, R"("violated-policies":["one"])"));
  CHECK_FALSE(text_holds(answer.body, "last answer"));
}

http::FieldView accept(std::string_view value) {
  return {.id = http::FieldId::accept, .name = "Accept", .value = value};
}

TEST_CASE("a policy sets the status, the body and the fields of its denials") {
  limiter::Policy policy;
  policy.status = 503;
  DecisionRecord decision;
  decision.policy = &policy;
  const http::ResponseFieldOptions options;
  const AnswerPhase phase{.options = options, .request_fields = {}, .now = now};
  http::FieldSection fields;
  std::string body;
  CHECK(denial_answer(decision, phase, fields, body).content_type == "application/problem+json");
  policy.denial = {.bodies = {{.content_type = "text/html", .text = "slow down"}},
                   .fields = {{"Link", "<https://a.example>; rel=help"}}};
  decision.retry_after = 1s;
  const OwnAnswer answer = denial_answer(decision, phase, fields, body);
  CHECK(answer.status == 503);
  CHECK(answer.content_type == "text/html");
  CHECK(answer.body == "slow down");
  CHECK(http::lines_of(*answer.fields) ==
        "Link: <https://a.example>; rel=help\r\nRetry-After: 1\r\n");
}

TEST_CASE("Accept chooses among the bodies of a denial, else the problem document is sent") {
  limiter::Policy policy;
  policy.denial.bodies = {{.content_type = "text/html; charset=utf-8", .text = "<p>slow"},
                          {.content_type = "application/json", .text = "{}"},
                          {.content_type = "application/problem+json", .text = std::nullopt}};
  DecisionRecord decision;
  decision.policy = &policy;
  const auto [accepted, type] = GENERATE(table<std::string, std::string>({
      {"", "text/html; charset=utf-8"},
      {"*/*", "text/html; charset=utf-8"},
      {"application/json", "application/json"},
      {"application/json;q=0.4, application/*;q=0.5", "application/problem+json"},
      {"image/png", "application/problem+json"},
      {"not a list", "application/problem+json"},
  }));
  CAPTURE(accepted);
  const std::vector<http::FieldView> request{accept(accepted)};
  const http::ResponseFieldOptions options;
  http::FieldSection fields;
  std::string body;
  const OwnAnswer answer = denial_answer(
      decision, {.options = options, .request_fields = request, .now = now}, fields, body);
  CHECK(answer.content_type == type);
  const bool is_problem = type == "application/problem+json";
  CHECK((answer.body.data() == body.data()) == is_problem);
  CHECK(text_holds(answer.body, "quota-exceeded") == is_problem);
}

}  // namespace
}  // namespace weir::proxy
