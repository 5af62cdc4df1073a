// The sections of the file, the parts that several of them have, and the checks between them.
// References are looked up in `to`, so upstreams, JWT providers, identities, address lists,
// policies and plans are read before routes (load.cpp has the order).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/cursor.hpp"
#include "config/table.hpp"
#include "http/field_section.hpp"
#include "identity/token_provider.hpp"
#include "limiter/charge.hpp"
#include "options/proxy.hpp"
#include "routing/matcher.hpp"

namespace weir::config {

// Sections.
void read_listen(const Cursor& in, Config& to);
void read_admin(const Cursor& in, Config& to);
void read_workers(const Cursor& in, Config& to);
void read_identity_secret(const Cursor& in, Config& to);
void read_client_address(const Cursor& in, Config& to);
void read_downstream(const Cursor& in, Config& to);
void read_paths(const Cursor& in, Config& to);
void read_response_headers(const Cursor& in, Config& to);
void read_grpc(const Cursor& in, Config& to);
void read_retry_after(const Cursor& in, Config& to);
void read_events(const Cursor& in, Config& to);
void read_tracing(const Cursor& in, Config& to);
void read_telemetry(const Cursor& in, Config& to);
void read_retry_after_jitter(const Cursor& in, Config& to);
void read_denied(const Cursor& in, Config& to);
void read_access_log(const Cursor& in, Config& to);
void read_store(const Cursor& in, Config& to);
void read_upstreams(const Cursor& in, Config& to);
void read_jwt_providers(const Cursor& in, Config& to);
void read_identities(const Cursor& in, Config& to);
void read_address_lists(const Cursor& in, Config& to);
void read_policies(const Cursor& in, Config& to);
void read_plans(const Cursor& in, Config& to);
/// Policies whose share is too small for a lease, under every plan, have none: their decisions need
/// not read holds. After policies and plans.
void end_small_leases(Config& config);
void read_plan_from(const Cursor& in, Config& to);
void read_default_plan(const Cursor& in, Config& to);
void read_rate_limit_service(const Cursor& in, Config& to);
void read_routes(const Cursor& in, Config& to);

// Parts of the rate limit service.
/// Appends the listeners of the list, or lets those of the proxy with the same address serve both.
void read_service_listen(const Cursor& in, Config& to);
/// Appends 127.0.0.1:8081, or reports at the section `in` that a listener has it already.
void add_default_service_listener(const Cursor& in, Config& to);
/// Reads files with limits, and appends a policy for each limit. Returns their descriptors.
/// `in_shadow`: none of these limits denies.
std::vector<options::DescriptorDomain> read_limit_files(const Cursor& in,
                                                        const options::RateLimitService& settings,
                                                        bool in_shadow, Config& to);
/// Reads the map with the keys standard and legacy.
void read_service_headers(const Cursor& in, http::ResponseFieldOptions& to);

// Parts of routes, policies and plans.
/// Looks up the address list in `config`.
void read_match(const Cursor& in, const Config& config, routing::Match& to);
/// Looks up references in `config`; `route` must have its match.
void read_limits(const Cursor& in, const Config& config, options::Route& route);
/// Read maps with the keys set, add and remove.
void read_request_edits(const Cursor& in, options::Route& to);
void read_response_edits(const Cursor& in, options::Route& to);
/// Read the path for the upstream. The match of the route must have been read.
void read_strip_prefix(const Cursor& in, options::Route& to);
void read_new_path(const Cursor& in, options::Route& to);
/// Reports changes that have no effect, because the route forwards nothing or has two for the path.
/// `in` is the map of the route.
void check_changes(const Cursor& in, const options::Route& route);

/// {status: [401, 403]} or {status_not: [500-599]}.
void read_charge(const Cursor& in, std::optional<limiter::Charge>& to);
/// A number, or {header: NAME, default: N} or {json: POINTER, default: N, at_most: M}.
void read_reserve(const Cursor& in, std::optional<limiter::Charge>& to);
/// A list of {header: NAME} and {json: POINTER}.
void read_cost_from(const Cursor& in, std::optional<limiter::Charge>& to);
/// `reserved` or `zero`.
void read_missing(const Cursor& in, std::optional<limiter::Charge>& to);

void read_methods(const Cursor& in, std::vector<std::string>& to);
/// Reads an address or a prefix.
std::optional<IpPrefix> read_prefix(const Cursor& in);
/// Reads the name of an address list.
void read_address(const Cursor& in, const Config& config, std::optional<AddressList>& to);
/// Returns the plan of this name, or reports that there is none.
std::optional<std::size_t> read_plan_name(const Cursor& in, const Config& config);
/// Reads local, allow or deny; for the store and for a policy.
void read_on_failure(const Cursor& in, limiter::OnFailure& to);
/// Each list item is `header:NAME`, `query:NAME`, `identity:NAME`, `claim:PROVIDER:CLAIM`,
/// `jwt:CLAIM` (of the only provider), `client_address`, `method` or `path`.
void read_attributes(const Cursor& in, Config& config, std::vector<limiter::Attribute>& to);

// The numbers of a policy, as the policy itself or a plan writes them. rules::compile() checks
// them; these functions add positions to its faults.
void read_rate(const Cursor& in, rules::Definition& to);
void read_rates(const Cursor& in, rules::Definition& to);
void read_burst(const Cursor& in, rules::Definition& to);
void read_limit(const Cursor& in, rules::Definition& to);
void read_queue(const Cursor& in, rules::Definition& to);
void read_max_delay(const Cursor& in, rules::Definition& to);
/// Reports `rate` and `rates` in one map.
bool has_both_rates(const Cursor& in);

/// The policy that a definition is for.
struct TermsFor {
  const Config& config;
  const limiter::Policy& policy;  ///< its name and on_failure
  bool hides_numbers = false;     ///< a number comes from a variable, so messages show none
};

/// Computes the terms of `definition`, or reports every fault at its key in the map `in`, or at the
/// map if the key is elsewhere. Without rates does nothing: that has been reported.
void compile_terms(const Cursor& in, const TermsFor& about, const rules::Definition& definition,
                   limiter::Terms& to);

// The response to a denial, of a policy or of the section `denied`, which has the defaults.
void read_denial_status(const Cursor& in, DenialOptions& to);
void read_denial_content_type(const Cursor& in, DenialOptions& to);
/// Reads a text, or a map of media types to texts.
void read_denial_body(const Cursor& in, DenialOptions& to);
void read_denial_headers(const Cursor& in, DenialOptions& to);
/// Reports a content_type without a body that it describes. `in` is the map with the keys.
void check_denial(const Cursor& in, DenialOptions& settings);
/// Warns of a body, of a denial or a fixed answer, that is written as the name of a file.
void warn_of_body_file(const Cursor& in);
/// Returns the settings in force: a policy's own body replaces that of `defaults`, and its fields
/// replace those of the same name.
limiter::Denial compile_denial(const DenialOptions& own, const DenialOptions& defaults);

/// Parses `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss://` for TLS, or
/// `unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]`. User, password and path are percent-decoded.
/// Parts that the URL does not have keep their default. Problems never contain the URL, which may
/// have a password.
Result<options::Redis> parse_redis_url(std::string_view url);

// Certificates, keys and tokens.
/// Read and check the files, and keep their paths.
void read_listen_tls(const Cursor& in, options::Listen& to);
void read_client_tls(const Cursor& in, tls::ClientFiles& to);
/// Reads the map `jwks` of a JWT provider: keys from a file are published to it at once.
void read_jwks(const Cursor& in, identity::TokenProvider& provider, Config& to);
/// Reads a map of `provider` and `claim`; the provider then returns the claim of each token.
void read_claim(const Cursor& in, std::vector<identity::TokenProvider>& providers,
                identity::FromClaim& to);
/// Refers to a claim of a provider. Reports a claim that is empty, and more than
/// identity::claim_limit claims of one provider.
identity::FromClaim claim_of(const Cursor& in, identity::TokenProvider& provider,
                             std::size_t provider_index, std::string claim);

// Checks of one section with another, after all of them are read.
void check_admin_address(const Cursor& root, const Config& config);
void check_proxy_protocol(const Cursor& root, const Config& config);
/// Checks that no field is removed before it is read.
void check_unusual_field_names(const Cursor& root, const Config& config);
void warn_of_untrusted_fields(const Cursor& root, const Config& config);
/// Warns of policies, identities, JWT providers, address lists and upstreams that no route uses.
void warn_of_unused(const Cursor& root, const Config& config);
void warn_of_unassigned_plans(const Cursor& root, const Config& config);
/// Warns if hashes of identities leave the process and no secret keys them.
void warn_of_built_in_secret(const Cursor& root, const Config& config);
/// Warns if instances that share a Redis decide alone while it is down, and nobody has set how many
/// they are.
void warn_of_missing_replicas(const Cursor& root, const Config& config);

// Header fields with constant values: `headers` of a denial or of a fixed answer. Fields that frame
// a message or that Weir computes are refused.

/// Returns why a field of this name cannot be written in a message, with the fix; empty if it can.
using FieldRefusal = std::string_view (*)(std::string_view name);

/// For a field that belongs to one connection or frames a body.
std::string_view refusal_of_framing_field(std::string_view name);
/// For a field of an answer that Weir generates.
std::string_view refusal_of_answer_field(std::string_view name);
/// For a field of a denial.
std::string_view refusal_of_denial_field(std::string_view name);

/// Appends the fields of a map of names to values; names are unique except for letter case.
void read_constant_fields(const Cursor& in, FieldRefusal refusal, ConstantFields& to);

/// Appends the fields of a map of names to secrets, for requests that Weir itself sends.
void read_secret_fields(const Cursor& in, SecretFields& to);

/// Returns the field lines, each ended by CRLF.
http::FieldSection field_section(const ConstantFields& fields);

/// Reads the name of a field in lower case, as keys and messages have it. `expected` is the problem
/// with any other text.
std::optional<std::string> read_field_name(const Cursor& in, std::string_view expected);

/// Reads the value of Content-Type.
void read_media_type(const Cursor& in, std::string& to);

}  // namespace weir::config
