// Why a configuration serves, limits or refuses one request: the content of `weir explain`.
//
// The same parser, rules, route table and limiter as in the proxy decide, with an empty memory
// store. No connection is opened and nothing is charged. An Explanation has views into the
// configuration, which must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "cli/live_state.hpp"
#include "config/config.hpp"
#include "http/request_view.hpp"
#include "identity/identity.hpp"
#include "limiter/policy.hpp"
#include "limiter/trace.hpp"
#include "offline/instance.hpp"
#include "options/proxy.hpp"
#include "options/upstream.hpp"
#include "rules/decision.hpp"
#include "store/override.hpp"

namespace weir::cli {

/// A request, without its query, which may hold an identity.
struct ExplainedRequest {
  std::string method;
  std::string path;  ///< without the query
  std::string host;  ///< without the port; empty: none is known
};

/// The request that a `decide` route decides about.
struct ExplainedOriginal {
  ExplainedRequest request;
  std::string because;  ///< which fields describe it, or why it is the request itself
};

/// A route before the one that takes the request.
struct SkippedRoute {
  std::string_view route;
  std::string because;
};

struct ExplainedIdentity {
  std::string_view name;
  std::string source;           ///< where it is read: `header x-api-key`
  bool is_known = false;        ///< it was looked for
  std::optional<Hash128> hash;  ///< the keyed hash; absent or ambiguous: none
};

/// An address list that contains the client.
struct ExplainedAddress {
  std::string list;    ///< its name
  std::string prefix;  ///< the longest one that contains the client
};

/// `when` or `unless` of a limit.
struct ExplainedCondition {
  std::string_view name;
  bool holds = false;
  std::string because;                        ///< what holds, or the first part that does not
  std::optional<ExplainedAddress> address{};  ///< if it names a list that contains the client
};

struct ExplainedLimit {
  const options::Route* route = nullptr;  ///< the route that has the limit; a call has none
  std::size_t descriptor = 0;             ///< of a call: index of the descriptor that has the limit
  const limiter::Policy* policy = nullptr;
  rules::Policy numbers{};                       ///< the numbers in force
  std::string_view numbers_from = "policy";      ///< or plan, override; file: requests_per_unit: 0
  std::string because;                           ///< why it applies, or does not
  std::vector<ExplainedCondition> conditions{};  ///< that were evaluated
  ExplainedIdentity identity;
  std::int64_t cost = 0;
  bool holds = false;              ///< the cost is held while the request is in progress
  std::string held_until;          ///< `, held until the response, charged for status 401`
  std::vector<std::string> rates;  ///< as the configuration has them
  bool is_unlimited = false;       ///< by the plan or an override, so it does not apply
  bool is_denied = false;          ///< by an override, or by a file
  bool hides_numbers = false;      ///< a number comes from a variable or a file
  bool hides_cost = false;         ///< the cost comes from a variable or a file
  /// The answer of an empty store; none if the limit does not apply.
  std::optional<rules::Decision> decision{};
  std::optional<LiveState> live{};  ///< of the key, if a running instance was asked

  /// The decision follows from a number that is not shown.
  bool hides_decision() const { return hides_numbers || hides_cost; }
};

struct ExplainedVerdict {
  std::string_view outcome = "allowed";  ///< or delayed, shadow_denied, denied, refused, unknown
  std::optional<int> status{};           ///< none: that of the upstream, or unknown
  std::optional<std::int64_t> retry_after{};  ///< seconds, as Retry-After without its jitter
  bool hides_status = false;                  ///< it comes from a variable or a file
  std::optional<int> grpc_status{};  ///< for the status, if the request is a call over HTTP/2
  bool hides_grpc_status = false;
  bool hides_times = false;  ///< retry_after or delay follows from a number that is not shown
  Duration delay{0};
  std::string detail;  ///< refused: the reason, as in the answer's body; unknown: what to do
};

/// The plan of a request.
struct ExplainedPlan {
  std::string_view name;  ///< empty: none is in force
  std::string from;       ///< the source, or why none counts: `header x-plan`
};

/// A descriptor of a call, without the values of its entries.
struct ExplainedDescriptor {
  std::string entries;                 ///< their keys: `path, remote_address`
  std::vector<std::string> matches{};  ///< the descriptors of a file that match, one an entry
  std::string because{};               ///< the limit of the file that applies, or why none does
  std::string_view code{};             ///< OK or OVER_LIMIT; empty: the call is refused
  std::optional<std::uint32_t> remaining{};  ///< as in the response
};

/// A call of the rate limit service.
struct ExplainedCall {
  std::string domain;
  std::vector<ExplainedDescriptor> descriptors{};
};

struct Explanation {
  std::optional<ExplainedCall> call{};  ///< in place of a request, client and route
  ExplainedRequest request;
  std::string client;  ///< its address
  /// The request that `decide` routes see; none if no such route was considered, or if no field
  /// describes another request and a route of another kind takes it.
  std::optional<ExplainedOriginal> original{};
  const options::Route* route = nullptr;
  const options::Upstream* upstream = nullptr;
  std::string upstream_path{};                ///< that the upstream gets; empty: the requested one
  std::optional<ExplainedAddress> address{};  ///< that the route's match names
  std::optional<ExplainedPlan> plan{};        ///< if plans are configured and limits considered
  std::vector<SkippedRoute> skipped;
  std::vector<ExplainedLimit> limits;
  ExplainedVerdict verdict;
};

/// The overrides of an identity. The policy_id of each is the policy's index in the configuration.
struct KnownOverrides {
  Hash128 identity;
  std::vector<store::Override> entries;
};

/// A request that an offline instance has received, and how its limits came to apply.
struct Received {
  const offline::Request& request;
  const limiter::Trace& trace;
};
/// Explains a request that has not ended, with the decision that it has got. The overrides of its
/// identities are those of the instance.
Explanation explain(const config::Config& config, offline::Instance& instance,
                    const Received& received, std::span<const KnownOverrides> overrides = {});

/// Explains the request with this head, received from `peer` at `now`: an instance without other
/// requests decides it.
Explanation explain(const config::Config& config, const IpAddress& peer, std::string_view head,
                    Instant now, std::span<const KnownOverrides> overrides = {});

/// Returns one JSON object for scripts, described in docs/operations.md, without a line break at
/// the end.
std::string to_json(const Explanation& explanation);
/// Returns text for people, in lines of at most 80 characters unless one word is longer.
std::string to_text(const Explanation& explanation);

// The parts of an explanation.

/// A request whose head was parsed.
ExplainedRequest shown_request(const http::RequestView& request);

/// A request that was refused before its target was read: method, path and host as they stand in
/// `head`, the bytes of request_head(). A part that is too long to print is cut and ends in "...".
ExplainedRequest shown_head(std::string_view head);

/// `asked` is the request that the peer sent, `original` the one read from its fields.
ExplainedOriginal shown_original(const http::RequestView& asked, const http::RequestView& original,
                                 bool peer_is_trusted);

/// Shows the override of the limit's identity that is in force, if there is one.
void take_override(const config::Config& config, std::span<const KnownOverrides> overrides,
                   Instant now, ExplainedLimit& to);

/// True if the limit does not apply because of this condition, or cannot be decided.
bool decides(const limiter::TracedCondition& condition);

/// Appends the conditions that the limiter has evaluated. Returns why they hold, or the one that
/// decides that the limit does not apply: `unless: client address is in office`. `plan`: that of
/// the request.
std::string explain_conditions(const config::Config& config, const limiter::TracedLimit& limit,
                               const limiter::PlanReading& plan, const IpAddress& client,
                               std::vector<ExplainedCondition>& to);

ExplainedPlan explain_plan(const config::Config& config, const limiter::PlanReading& reading);

/// `list` contains `client`. The prefix is not shown if one of the list comes from a variable.
ExplainedAddress explain_address(const config::Config& config, const AddressList& list,
                                 const IpAddress& client);

// The request head for `weir explain` from its arguments, as a client would send it. Problems name
// the argument and never repeat a value, which may be a secret.

struct RequestArguments {
  std::string method = "GET";
  std::string url;                    ///< http://HOST[:PORT][/PATH][?QUERY], or https
  std::vector<std::string> fields{};  ///< `NAME: VALUE`
};

/// Returns the bytes of the request head (RFC 9112 section 3). The target is sent as written:
/// nothing is decoded, encoded or normalised, except that a fragment is left out and an empty path
/// is "/". A Host field in the arguments replaces the host of the URL.
Result<std::string> request_head(const RequestArguments& arguments);

}  // namespace weir::cli
