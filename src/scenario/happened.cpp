#include "scenario/happened.hpp"

#include <algorithm>

#include "config/values.hpp"
#include "http/head_parser.hpp"
#include "http/request_view.hpp"

namespace weir::scenario {
namespace {

std::string or_none(std::string_view name) {
  return name.empty() ? "none" : std::string(name);
}

std::string or_none(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "none";
}

class Comparison {
 public:
  explicit Comparison(const Happened& happened) : happened_(happened) {}

  void number(std::string_view what, std::int64_t expected,
              const std::optional<std::int64_t>& found) {
    if (found != expected) add(std::string(what), std::to_string(expected), or_none(found));
  }
  void name(std::string_view what, const std::optional<std::string>& expected,
            std::string_view found) {
    if (expected && *expected != found) add(std::string(what), or_none(*expected), or_none(found));
  }
  void remaining(const Counts& expected) {
    for (const auto& [policy, count] : expected) {
      const bool is_of_decider = policy.empty();
      number(is_of_decider ? "remaining" : "remaining of " + policy, count,
             is_of_decider ? happened_.left : count_of(happened_.remaining, policy));
    }
  }
  /// A policy that charges nothing charges 0.
  void charged(const Counts& expected) {
    for (const auto& [policy, units] : expected)
      number("charged to " + policy, units, count_of(happened_.charged, policy).value_or(0));
  }
  void field(const std::string& name, const std::optional<std::string>& expected) {
    std::vector<http::FieldView> fields;
    std::optional<std::string> found;
    if (http::parse_response_head(happened_.head, fields)) {
      for (const http::FieldView& one : fields) {
        if (!http::iequals(one.name, name)) continue;
        if (found) *found += ", ";
        found = found.value_or(std::string()).append(one.value);
      }
    }
    const auto shown = [](const std::optional<std::string>& value) {
      return value ? '"' + *value + '"' : std::string("no such field");
    };
    if (found != expected) add("header " + name, shown(expected), shown(found));
  }
  void add(std::string what, std::string expected, std::string found) {
    all_.push_back(
        {.what = std::move(what), .expected = std::move(expected), .found = std::move(found)});
  }
  std::vector<Difference> take() { return std::move(all_); }

 private:
  template <class Named>
  static std::optional<std::int64_t> count_of(const Named& counts, std::string_view policy) {
    const auto found = std::ranges::find(counts, policy, &Named::value_type::first);
    return found == counts.end() ? std::nullopt : std::optional(found->second);
  }

  const Happened& happened_;
  std::vector<Difference> all_;
};

}  // namespace

std::vector<Difference> differences(const Expectation& expected, const Happened& happened) {
  Comparison compared(happened);
  if (expected.status) compared.number("status", *expected.status, happened.status);
  if (expected.grpc_status)
    compared.number("grpc_status", *expected.grpc_status, happened.grpc_status);
  compared.name("decision", expected.decision, happened.decision);
  compared.name("policy", expected.policy, happened.policy);
  compared.name("route", expected.route, happened.route);
  compared.name("upstream", expected.upstream, happened.upstream);
  compared.name("plan", expected.plan, happened.plan);
  if (expected.retry_after && *expected.retry_after != happened.retry_after)
    compared.add("retry_after", or_none(*expected.retry_after), or_none(happened.retry_after));
  if (expected.delay && *expected.delay != happened.delay)
    compared.add("delay", config::format_duration(*expected.delay),
                 config::format_duration(happened.delay));
  compared.remaining(expected.remaining);
  compared.charged(expected.charged);
  for (const auto& [name, value] : expected.fields)
    compared.field(name, value);
  if (expected.body && *expected.body != happened.body)
    compared.add("body", '"' + *expected.body + '"', '"' + happened.body + '"');
  return compared.take();
}

}  // namespace weir::scenario
