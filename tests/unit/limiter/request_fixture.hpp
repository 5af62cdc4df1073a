// Short ways to write a configuration and a request for it.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "config/config.hpp"
#include "contract/store_under_test.hpp"
#include "limiter/limiter.hpp"
#include "store/memory_store.hpp"

namespace weir::limiter::test {

using namespace std::chrono_literals;

inline const Instant epoch = instant_from_us(1'700'000'010'000'000);

inline rules::Definition gcra(std::int64_t count, Duration per) {
  rules::Definition definition;
  definition.rates = {{.count = count, .per = per}};
  return definition;
}

inline Policy policy(const char* name, const rules::Definition& definition) {
  Policy result;
  result.name = name;
  result.numbers = rules::compile(definition).value();
  return result;
}

/// Identities 0 `client`, 1 `key` (header x-api-key), 2 `user` (query user).
struct Fixture {
  Fixture() {
    config.limiter.identities = {{.name = "client", .source = {identity::FromClientAddress{}}},
                                 {.name = "key", .source = {identity::FromHeader{"x-api-key"}}},
                                 {.name = "user", .source = {identity::FromQuery{"user"}}}};
    config.limiter.identity_key = {.k0 = 1, .k1 = 2};
    request.method = "GET";
    request.path = "/search";
  }

  /// Adds a limit by `identity` under that policy to the route.
  Limit& limit(Policy policy, std::size_t identity) {
    config.limiter.policies.push_back(std::move(policy));
    Limit result;
    result.policy = config.limiter.policies.size() - 1;
    result.identity = identity;
    return route.limits.emplace_back(result);
  }

  void header(std::string_view name, std::string_view value) {
    fields.push_back({.name = name, .value = value});
    request.fields = fields;
  }

  /// The verdict is valid until the next call.
  Verdict decide(Duration after = 0s) {
    if (!limiter) limiter = std::make_unique<Limiter>(config.limiter, store);
    return decided(routes(), after);
  }
  /// The same of other routes or of claims, by the limiter that exists.
  template <class Asked>
  const Verdict& decided(const Asked& asked, Duration after = 0s) {
    if (!limiter->decide(evaluation, asked, nobody, epoch + after))
      throw std::runtime_error("the memory store did not decide at once");
    return evaluation.verdict;
  }
  /// The route alone; a test adds others that the request may be for.
  boost::container::static_vector<RouteEvidence, 4> routes() const {
    boost::container::static_vector<RouteEvidence, 4> all;
    all.push_back({route.limits, evidence()});
    for (const options::Route& other : other_routes)
      all.push_back({other.limits, evidence()});
    return all;
  }
  identity::Evidence evidence() const {
    return {.request = request,
            .path = request.path,
            .client = client,
            .path_parameters = {},
            .client_options = config.proxy.client_address};
  }
  const PolicyCounters& counters(std::size_t policy) const {
    return *limiter->policies()[policy].counters;
  }

  config::Config config;
  options::Route route;
  std::vector<options::Route> other_routes;
  std::vector<http::FieldView> fields;
  http::RequestView request;
  IpAddress client = IpAddress::v4({192, 0, 2, 1});
  store::MemoryStore store{{.max_keys = 1'000, .seed = 3}};
  std::unique_ptr<Limiter> limiter;
  Evaluation evaluation;
  store::test::Received nobody;  ///< the memory store decides at once
};

}  // namespace weir::limiter::test
