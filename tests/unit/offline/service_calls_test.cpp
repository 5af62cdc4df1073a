// Calls of the rate limit service on an offline instance: methods, messages that cannot be read.
#include "offline/service_calls.hpp"

#include "unit/offline/site.hpp"

namespace weir::offline::test {
namespace {

using decision::CopiedMethod;
using limiter::Outcome;

constexpr auto keyed_edge = R"(
identities: {key: {header: x-key}}
policies: {per_key: {algorithm: fixed_window, rate: 2/1m}}
routes: [{respond: {status: 200}, limits: [{policy: per_key, key: key}]}]
rate_limit_service:
  listen: [{address: "127.0.0.1:0"}]
  descriptors: [{domain: edge, entries: {key: "*"}, policy: per_key, key: [key], identity: key}]
)";

constexpr auto message =
    R"({"domain":"edge","descriptors":[{"entries":[{"key":"key","value":"a"}]}]})";

/// The same as Protocol Buffers.
const std::string encoded = std::string(
    "\x0a\x04"
    "edge"
    "\x12\x0a\x0a\x08\x0a\x03"
    "key"
    "\x12\x01"
    "a");

struct Service : Site {
  Service()
      : Site(keyed_edge),
        calls(*config->rate_limit_service, config->proxy, config->limiter, instance->limiter()) {}
  Outcome decide(CopiedMethod method, std::string_view text) {
    return calls.decide(method, text, start)->outcome;
  }
  ServiceCalls calls;
};

}  // namespace

TEST_CASE("service calls: both forms of a message are the same call") {
  Service service;
  CHECK(service.decide(CopiedMethod::decide_json, message) == Outcome::allowed);
  CHECK(service.decide(CopiedMethod::decide, encoded) == Outcome::allowed);
  CHECK(service.decide(CopiedMethod::decide_json, message) == Outcome::denied);
  CHECK(service.decide(CopiedMethod::decide, encoded) == Outcome::denied);
}

TEST_CASE("service calls: a check charges nothing, a report charges and never denies") {
  Service service;
  for (int i = 0; i < 3; ++i)
    CHECK(service.decide(CopiedMethod::check, encoded) == Outcome::allowed);
  for (int i = 0; i < 3; ++i)
    CHECK(service.decide(CopiedMethod::report, encoded) == Outcome::allowed);
  CHECK(service.decide(CopiedMethod::check, encoded) == Outcome::denied);
}

TEST_CASE("service calls: a call and a request of the same identity share its quota") {
  Service service;
  CHECK(service.decide(CopiedMethod::decide, encoded) == Outcome::allowed);
  CHECK(service.receive("/", 0s, 1, "X-Key: a\r\n").is_admitted());
  CHECK(service.decide(CopiedMethod::decide, encoded) == Outcome::denied);
}

TEST_CASE("service calls: a message that cannot be read is not decided") {
  Service service;
  CHECK(service.calls.decide(CopiedMethod::decide_json, "{", start) == nullptr);
  CHECK(service.calls.decide(CopiedMethod::decide, "\x0a", start) == nullptr);
  CHECK(service.calls.decide(CopiedMethod::decide_json, "{}", start) == nullptr);  // no domain
}

}  // namespace weir::offline::test
