// The limits that apply to a request, through calls.
#include "rls/applied_limits.hpp"

#include "catch.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {

TEST_CASE("A request without a domain or descriptors is not valid") {
  Service service;
  CHECK(service.prepare("", {}, Method::decide, 0)->status == grpc::Status::unknown);
  CHECK(service.prepare("", {{{{"a", ""}}}}, Method::decide, 0)->reason ==
        "rate limit domain must not be empty");
  CHECK(service.prepare("d", {}, Method::decide, 0)->reason ==
        "rate limit descriptor list must not be empty");
  CHECK_FALSE(service.prepare("unknown", {{{{"a", ""}}}}, Method::decide, 0));
  CHECK(service.call.decisions() == 0);
}

TEST_CASE("More than 16 limits are not decided") {
  Service service;
  service.limit("a", 1);
  std::vector<Asked> asked(16, {{{"a", "1"}}});
  CHECK_FALSE(service.prepare("d", asked, Method::decide, 0));
  asked.push_back({{{"a", "1"}}});
  CHECK(service.prepare("d", asked, Method::decide, 0)->reason ==
        "more than 16 limits apply to the request");
}

TEST_CASE("Of several descriptors with policies the one with the most exact values counts") {
  Service service;
  const std::size_t any = service.add_policy("any", 1, RateLimitUnit::hour);
  const std::size_t vip = service.add_policy("vip", 3, RateLimitUnit::hour);
  service.options.descriptors = {
      {.domain = "d", .entries = {{.key = "a"}}, .policy = any, .key = {"a"}},
      {.domain = "d", .entries = {{.key = "a", .value = "vip"}}, .policy = vip}};
  for (int i = 0; i < 3; ++i)
    CHECK(codes(service.ask({{{{"a", "vip"}}}})) == "O");
  CHECK(codes(service.ask({{{{"a", "vip"}}}})) == "X");
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "X");
}

TEST_CASE("A limit that the request states replaces that of the files") {
  Service service;
  service.limit("a", 1);
  const Asked asked{{{"a", "1"}}, {}, false, StatedLimit{3, RateLimitUnit::week}};
  const Response& first = service.ask({asked});
  CHECK(first.statuses[0].current_limit->requests_per_unit == 3);
  CHECK(first.statuses[0].current_limit->unit == RateLimitUnit::week);
  CHECK(first.statuses[0].limit_remaining == 2);
  service.ask({asked});
  CHECK(codes(service.ask({asked})) == "O");
  CHECK(codes(service.ask({asked})) == "X");
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "O");  // another unit has its own count
  const Asked same{{{"a", "1"}}, {}, false, StatedLimit{2, RateLimitUnit::minute}};
  CHECK(codes(service.ask({same})) == "O");
  CHECK(codes(service.ask({same})) == "X");
  const Asked none{{{"a", "1"}}, {}, false, StatedLimit{0, RateLimitUnit::day}};
  CHECK(codes(service.ask({none})) == "X");
  const Asked unknown{{{"a", "1"}}, {}, false, StatedLimit{1, RateLimitUnit::unknown}};
  CHECK(service.prepare("d", {unknown}, Method::decide, 0)->reason ==
        "the unit of a limit in the request is unknown");
}

}  // namespace weir::rls::test
