// The code that every request runs allocates nothing once the response buffer has its size.
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "http/chunked.hpp"
#include "http/field_guard.hpp"
#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/problem.hpp"
#include "http/ratelimit_fields.hpp"
#include "http/request_target.hpp"
#include "unit/http/allocations.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

TEST_CASE("the count of allocations sees one") {
  CHECK(allocations_in([] { std::string(100, 'x').swap(*std::make_unique<std::string>()); }) == 2);
}

TEST_CASE("reading a head allocates nothing") {
  RequestOf request{{{"Host", "api.example.com:8080"},
                     {"Connection", "keep-alive, x-a"},
                     {"Content-Length", "12"},
                     {"X-Api-Key", "a-key-that-is-longer-than-any-short-string"}}};
  const std::vector<std::string> kept{"x-api-key"};
  std::string storage;
  CHECK(allocations_in([&] {
          const auto refusal = set_target(
              request.view, "http://api.example.com:8080/a/long/path?with=query", storage);
          const ConnectionOptions options = connection_options(request.view.fields, kept);
          std::size_t passed_on = 0;
          for (const FieldView& field : request.view.fields)
            passed_on += is_hop_by_hop(field, options) ? 0 : 1;
          const auto framing = request_framing(request.view);
          if (refusal || passed_on != 3 || !framing || !request.view.find("x-api-key"))
            std::abort();
        }) == 0);
}

TEST_CASE("checking the names of fields allocates nothing") {
  const FieldGuard guard{{.own = {"x-api-key"}, .untrusted = {"x-internal-*"}}};
  const auto fields = fields_of({{"Host", "api.example.com"},
                                 {"X-Api-Key", "a-key"},
                                 {"X-Request_Id", "1"},
                                 {"X-Forwarded-For", "192.0.2.1"}});
  CHECK(allocations_in([&] {
          std::size_t removed = 0;
          for (const FieldView& field : fields)
            removed += guard.is_removed(field, false) ? 1 : 0;
          if (guard.refusal_of(fields) || removed != 1) std::abort();
        }) == 0);
}

TEST_CASE("writing limit fields and a denial allocates nothing") {
  const std::string item = policy_item("per_user", 600, std::chrono::minutes{1});
  const std::string name = name_item("per_user");
  const PolicyReport reports[] = {
      {item, name, 600, 0, std::chrono::seconds{60}, std::chrono::seconds{1}},
      {item, name, 600, 1, std::chrono::seconds{60}, std::chrono::seconds{1}}};
  const std::string_view violated[] = {"per_user"};
  std::string out;
  out.reserve(4096);
  FieldSection fields;
  const auto add_fields = [&] {
    add_rate_limit_fields(fields, reports, {});
    add_retry_after(fields, 12, RetryAfterForm::http_date, instant_from_us(1));
  };
  add_fields();
  fields.clear();
  CHECK(allocations_in([&] {
          add_fields();
          append_http_date(out, instant_from_us(1));
          append_quota_exceeded(out, 429, violated, 12);
          append_problem(out, 404, "no route matches");
        }) == 0);
}

TEST_CASE("decoding chunks allocates nothing") {
  std::string_view body = "5;a=\"b\"\r\nhello\r\n0\r\nx: y\r\n\r\n";
  CHECK(allocations_in([&] {
          ChunkedDecoder decoder;
          for (auto event = ChunkedDecoder::Event::need_more;
               event != ChunkedDecoder::Event::done;) {
            const auto step = decoder.next(body);
            body.remove_prefix(step.consumed);
            event = step.event;
          }
        }) == 0);
}

}  // namespace
}  // namespace weir::http
