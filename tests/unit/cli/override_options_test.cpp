#include "cli/override_options.hpp"

#include "catch.hpp"

using weir::cli::OverrideOptions;
using weir::cli::wrong_usage_of;

namespace {

template <class Change>
std::string problem_with(Change&& change) {
  OverrideOptions options;
  options.key = "abc";
  change(options);
  return wrong_usage_of(options);
}

}  // namespace

TEST_CASE("One action is enough, and only numbers need a policy") {
  CHECK(problem_with([](auto& to) { to.denies = true; }).empty());
  CHECK(problem_with([](auto& to) { to.is_unlimited = true; }).empty());
  CHECK(problem_with([](auto& to) { to.plan = "gold"; }).empty());
  CHECK(problem_with([](auto& to) { to.removes = true; }).empty());
  CHECK(problem_with([](auto& to) {
          to.policy = "p";
          to.rate = "5/1s";
          to.burst = 7;
          to.until = "2026-12-01T00:00:00Z";
          to.note = "x";
        }).empty());
  CHECK(problem_with([](auto& to) {
          to.policy = "p";
          to.rates = {"5/1s", "9/1m"};
        }).empty());
}

TEST_CASE("Wrong usage of an override is named with its options") {
  const std::string all =
      "numbers (--rate, --rates, --burst, --limit, --queue), --plan, --unlimited, --deny, --delete";
  const auto none = [](auto&) {};
  CHECK(problem_with(none) == "nothing to do: give one of " + all);
  CHECK(problem_with([](auto& to) { to.note = "x"; }) == "nothing to do: give one of " + all);
  CHECK(problem_with([](auto& to) { to.denies = to.is_unlimited = true; }) ==
        "--unlimited, --deny exclude each other: give one of " + all);
  CHECK(problem_with([](auto& to) {
          to.policy = "p";
          to.queue = 0;
          to.plan = "gold";
        }) == "--queue, --plan exclude each other: give one of " + all);
  CHECK(problem_with([](auto& to) {
          to.policy = "p";
          to.limit = 5;
          to.denies = true;
        }) == "--limit, --deny exclude each other: give one of " + all);
  CHECK(problem_with([](auto& to) { to.limit = 5; }) ==
        "--policy is missing: --limit needs the policy whose numbers it replaces");
  CHECK(problem_with([](auto& to) { to.burst = 0; }) ==
        "--policy is missing: --burst needs the policy whose numbers it replaces");
  CHECK(problem_with([](auto& to) {
          to.policy = "p";
          to.rate = "5/1s";
          to.rates = {"5/1s"};
        }) == "--rate and --rates exclude each other; keep one");
  for (const char* const rate : {"", "5", "5/x", "/1s", "abc"}) {
    CAPTURE(rate);
    const auto problem = problem_with([&](auto& to) {
      to.policy = "p";
      to.rate = rate;
    });
    CHECK(problem.starts_with("--rate: "));
    CHECK(problem_with([&](auto& to) {
            to.policy = "p";
            to.rates = {"5/1s", rate};
          }).starts_with("--rates: "));
  }
  CHECK(problem_with([](auto& to) {
          to.denies = true;
          to.until = "tomorrow";
        }) == "--until: expected a time such as 2026-12-01T00:00:00Z (RFC 3339)");
}

TEST_CASE("A deletion takes nothing that an override has") {
  const std::string why = " exclude each other: an override is either deleted or put";
  const auto with = [](auto&& change) {
    return problem_with([&](auto& to) {
      to.removes = true;
      change(to);
    });
  };
  CHECK(with([](auto& to) { to.denies = true; }) == "--delete and --deny" + why);
  CHECK(with([](auto& to) { to.rate = "5/1s"; }) == "--delete and --rate" + why);
  CHECK(with([](auto& to) { to.is_unlimited = true; }) == "--delete and --unlimited" + why);
  CHECK(with([](auto& to) { to.until = "x"; }) == "--delete and --until" + why);
  CHECK(with([](auto& to) {
          to.note = "";
          to.burst = 1;
        }) == "--delete and --burst, --note" + why);
  CHECK(with([](auto& to) { to.policy = "p"; }).empty());
}
