// A scenario: requests at instants of a virtual clock, what the upstream answers, and what is
// expected of Weir. Read from YAML by scenario/read.hpp. Immutable once read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ip_address.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "config/written.hpp"
#include "proxy/failure.hpp"
#include "store/override.hpp"

namespace weir::scenario {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A verified token that the request stands for.
struct TokenClaims {
  std::size_t provider = 0;  ///< index of the providers of the configuration
  std::string json;          ///< an object
  std::vector<std::string> names{};
};

struct Request {
  std::string method;  ///< empty: GET, or POST with a body
  std::string url;
  Fields fields{};
  IpAddress peer = IpAddress::v4({127, 0, 0, 1});
  std::optional<std::string> body{};
  bool is_json = false;  ///< the body
  std::vector<TokenClaims> claims{};
  std::optional<Duration> leaves_after{};  ///< the client disconnects, unless it has its response
};

/// The response of the upstream; for a route with `decide`, the report of the other proxy.
struct Response {
  bool is_written = false;  ///< the step has one
  int status = 200;
  Fields fields{};
  std::string body{};
  std::string content_type{};        ///< of the body; empty: `fields` may have one
  std::optional<int> grpc_status{};  ///< in the trailers; empty: that of a gRPC call
  Duration after{0};                 ///< the response is complete, since the request was forwarded
  std::optional<Duration> until{};   ///< the same since the start of the scenario
  proxy::Failure failure = proxy::Failure::none;  ///< instead of a response
};

/// A name and the expected number; an empty name is the policy that decided.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

/// Members that are empty are not compared. An expected name that is empty means none.
struct Expectation {
  std::optional<int> status{};
  std::optional<int> grpc_status{};
  std::optional<std::string> decision{};
  std::optional<std::string> policy{};
  std::optional<std::string> route{};
  std::optional<std::string> plan{};
  std::optional<std::string> upstream{};
  /// Seconds; without a value the response has no Retry-After.
  std::optional<std::optional<std::int64_t>> retry_after{};
  std::optional<Duration> delay{};
  Counts remaining{};
  Counts charged{};
  /// Without a value: the response has no such field.
  std::vector<std::pair<std::string, std::optional<std::string>>> fields{};
  std::optional<std::string> body{};
  /// How many of the requests of the step get each status; empty: not compared.
  std::vector<std::pair<int, std::int64_t>> statuses{};

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

struct OverridePut {
  Hash128 identity;
  store::Override entry;
};

struct Step {
  std::size_t number = 0;  ///< in the file, from 1
  int line = 0;
  std::string name{};
  Duration at{0};  ///< since the start of the scenario
  std::int64_t repeat = 1;
  Duration every{0};  ///< between two of its requests
  Request request{};
  Response response{};
  Expectation expect{};
  std::optional<OverridePut> override{};  ///< put, instead of a request

  bool is_checked() const { return expect != Expectation{}; }
  /// A request of which nothing is expected: it only uses its quota.
  bool is_unchecked_request() const { return !override && !is_checked(); }
};

struct Scenario {
  std::string config_file;
  std::shared_ptr<const config::Config> config;
  Instant start{};
  std::vector<Step> steps;  ///< in the order of the file
  config::Written written;  ///< values of variables in the scenario itself
};

}  // namespace weir::scenario
