// The sections of the file, each with a reader and a list of its keys. References are looked up in
// `to`, so upstreams, JWT providers, identities, address lists, policies and plans are read before
// routes (load.cpp has the order).
#pragma once

#include "config/config.hpp"
#include "config/table.hpp"

namespace weir::config {

void read_listen(const Cursor& in, Config& to);
void list_listen(const std::string& path, KeyPaths& out);
void check_admin_address(const Cursor& root, const Config& config);
void check_proxy_protocol(const Cursor& root, const Config& config);
/// Checks that no field is removed before it is read.
void check_unusual_field_names(const Cursor& root, const Config& config);
void warn_of_untrusted_fields(const Cursor& root, const Config& config);

/// Reads and checks the files, and keeps their paths.
void read_listen_tls(const Cursor& in, proxy::Listen& to);
void list_listen_tls(const std::string& path, KeyPaths& out);
void read_client_tls(const Cursor& in, tls::ClientFiles& to);
void list_client_tls(const std::string& path, KeyPaths& out);

void read_admin(const Cursor& in, Config& to);
void list_admin(const std::string& path, KeyPaths& out);

void read_workers(const Cursor& in, Config& to);
void read_identity_secret(const Cursor& in, Config& to);

void read_client_address(const Cursor& in, Config& to);
void list_client_address(const std::string& path, KeyPaths& out);

void read_downstream(const Cursor& in, Config& to);
void list_downstream(const std::string& path, KeyPaths& out);

void read_paths(const Cursor& in, Config& to);
void list_paths(const std::string& path, KeyPaths& out);

void read_response_headers(const Cursor& in, Config& to);
void list_response_headers(const std::string& path, KeyPaths& out);
void read_retry_after(const Cursor& in, Config& to);
void read_retry_after_jitter(const Cursor& in, Config& to);

/// Reads the response to a denial of every policy that sets no other.
void read_denied(const Cursor& in, Config& to);
void list_denied(const std::string& path, KeyPaths& out);

void read_access_log(const Cursor& in, Config& to);
void list_access_log(const std::string& path, KeyPaths& out);

/// Reads local, allow or deny; for the store and for a policy.
void read_on_failure(const Cursor& in, limiter::OnFailure& to);
void read_store(const Cursor& in, Config& to);
void list_store(const std::string& path, KeyPaths& out);
/// Warns if hashes of identities leave the process and no secret keys them.
void warn_of_built_in_secret(const Cursor& root, const Config& config);
/// Warns if instances that share a Redis decide alone while it is down, and nobody has set how many
/// they are.
void warn_of_missing_replicas(const Cursor& root, const Config& config);

void read_upstreams(const Cursor& in, Config& to);
void list_upstreams(const std::string& path, KeyPaths& out);

void read_jwt_providers(const Cursor& in, Config& to);
void list_jwt_providers(const std::string& path, KeyPaths& out);

void read_identities(const Cursor& in, Config& to);
void list_identities(const std::string& path, KeyPaths& out);

/// Reads the map `jwks` of a JWT provider: keys from a file are published to it at once.
void read_jwks(const Cursor& in, identity::TokenProvider& provider, Config& to);
void list_jwks(const std::string& path, KeyPaths& out);

void read_address_lists(const Cursor& in, Config& to);
void list_address_lists(const std::string& path, KeyPaths& out);

void read_policies(const Cursor& in, Config& to);
void list_policies(const std::string& path, KeyPaths& out);

void read_plans(const Cursor& in, Config& to);
void list_plans(const std::string& path, KeyPaths& out);
void read_plan_from(const Cursor& in, Config& to);
void list_plan_from(const std::string& path, KeyPaths& out);
void read_default_plan(const Cursor& in, Config& to);
/// Returns the plan of this name, or reports that there is none.
std::optional<std::size_t> read_plan_name(const Cursor& in, const Config& config);
void warn_of_unassigned_plans(const Cursor& root, const Config& config);

void read_routes(const Cursor& in, Config& to);
void list_routes(const std::string& path, KeyPaths& out);

/// Warns of policies, identities, JWT providers, address lists and upstreams that no route uses.
void warn_of_unused(const Cursor& root, const Config& config);

}  // namespace weir::config
