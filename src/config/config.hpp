// The configuration after checking: immutable, complete (every default filled in), names resolved
// to indexes.
//
// Made by config/load.hpp; shared read-only by all workers. Durations are microseconds, sizes
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "config/diagnostic.hpp"
#include "config/written.hpp"
#include "http/ratelimit_fields.hpp"
#include "identity/client_address.hpp"
#include "identity/identity.hpp"
#include "routing/matcher.hpp"
#include "routing/path_variants.hpp"
#include "rules/policy.hpp"
#include "tls/material.hpp"
#include "tls/parameters.hpp"

namespace weir::config {

/// host:port, [v6]:port or unix:/path.
struct Endpoint {
  std::string host;        ///< without brackets; empty for a unix socket
  std::uint16_t port = 0;  ///< 0 picks a free one
  std::string unix_path;
  bool is_unix() const { return !unix_path.empty(); }
  /// Both can not be listened on, as far as can be told without looking a name up.
  bool overlaps(const Endpoint& other) const;
  std::string to_string() const;
};
std::optional<Endpoint> parse_endpoint(std::string_view text);

struct Listen {
  Endpoint address;
  std::vector<tls::CertificateFiles> certificates{};  ///< none: no TLS; the first is the default
  tls::Parameters tls{};                              ///< of no meaning without certificates
  bool proxy_protocol = false;  ///< each connection begins with a PROXY header, from trusted peers
};

struct Admin {
  Endpoint address{.host = "127.0.0.1", .port = 9090, .unix_path = {}};
  Secret token;  ///< empty: no token asked
  std::vector<std::string>
      hosts{};  ///< names that Host may have while no token is set, besides addresses and localhost
};

/// Fields whose names have other characters than letters, digits and "-".
enum class UnusualNames : std::uint8_t {
  pass,  ///< go on, but 400 if a service may take one for a field that decides
  drop,  ///< are removed, as nginx does
};

/// Limits and timeouts towards clients.
struct Downstream {
  std::size_t max_connections =
      0;  ///< 0: as the file descriptor limit allows; more are answered 503
  std::size_t max_head = 32 * 1024;   ///< request line and fields: beyond it 431
  std::size_t max_target = 8 * 1024;  ///< beyond it 414
  std::uint64_t max_body = 0;         ///< 0: no bound; beyond it 413
  std::size_t max_drain =
      64 * 1024;  ///< unread request body that is read and thrown away to keep a connection
  Duration head_timeout =
      std::chrono::seconds(10);  ///< from the first byte to the end of the head: 408
  Duration idle_timeout = std::chrono::seconds(75);  ///< between requests
  Duration body_timeout = std::chrono::seconds(60);  ///< between two reads or writes of a body
  UnusualNames unusual_field_names = UnusualNames::pass;
  bool raw_target_bytes = false;  ///< lets bytes from 0x80 and "\\" pass in a target; else 400
  std::size_t max_handshakes =
      1024;  ///< TLS handshakes in progress, each worker: beyond it the oldest is closed
};

struct MemoryStore {
  std::size_t max_keys = 1'000'000;
};

enum class StoreType : std::uint8_t { memory, redis };

/// What decides for a policy while Redis does not.
enum class OnFailure : std::uint8_t {
  local,  ///< the embedded store, with this instance's share of the quota
  allow,  ///< the policy does not limit
  deny,   ///< 503
};

/// The Redis that instances share.
struct RedisStore {
  std::string host;  ///< a name or an address without brackets; empty for a unix socket
  std::uint16_t port = 6379;
  std::string unix_path;
  std::string user;  ///< ACL user; empty: the default user
  Secret password;   ///< empty: no AUTH
  int database = 0;
  bool secure = false;  ///< rediss://
  tls::ClientFiles tls;
  std::string key_prefix = "weir:";
  Duration connect_timeout = std::chrono::milliseconds(500);  ///< until ready for decisions
  Duration timeout = std::chrono::milliseconds(20);           ///< one decision, queueing included
  int breaker_failures = 5;  ///< consecutive, until Redis is left alone
  Duration breaker_retry_after = std::chrono::seconds(1);  ///< until it is asked again
  OnFailure on_failure = OnFailure::local;
  std::int64_t replicas = 1;  ///< instances that share the quota while each decides locally
};

struct Server {
  std::string url;   ///< as configured
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 80;
  bool secure = false;  ///< https://
  int weight = 1;       ///< its share beside the others'
  /// `host:port` as Host has it: brackets around IPv6, no port where it is the scheme's.
  std::string authority() const;
};

/// Servers of one upstream; the loader refuses more.
inline constexpr std::size_t server_limit = 256;

enum class Balance : std::uint8_t { round_robin, least_connections };

/// A GET that each worker sends each server from time to time.
struct HealthCheck {
  std::string path;
  Duration interval = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(1);  ///< until its answer's head
  int rise = 2;                                ///< answers in a row until a server is used again
  int fall = 3;                                ///< failures in a row until it is not used
};

/// Which idle connections a request may be sent on.
enum class Reuse : std::uint8_t {
  safe,    ///< only one that carried requests of the same client connection and of no other
  always,  ///< any
};

struct Upstream {
  std::string name;
  std::vector<Server> servers;
  Balance balance = Balance::round_robin;
  Duration connect_timeout = std::chrono::seconds(1);
  Duration response_timeout = std::chrono::seconds(30);
  Duration idle_timeout = std::chrono::seconds(60);
  Duration tunnel_timeout = std::chrono::hours(1);  ///< without a byte, after an upgrade
  tls::ClientFiles tls;                             ///< for https://
  int retries = 1;
  std::size_t retry_body = 16 * 1024;  ///< bytes of a request body kept for another try; 0: none
  Reuse reuse = Reuse::always;
  std::optional<HealthCheck> health_check;
};

struct Identity {
  std::string name;
  identity::Source source;
};

/// What each entry of an attributed window carries.
struct Attribute {
  enum class Kind : std::uint8_t { client_address, method, path, header, query, identity };
  Kind kind = Kind::client_address;
  std::string text;         ///< as configured: `header:user-agent`
  std::string name;         ///< after the colon; empty for client_address, method and path
  identity::Source source;  ///< where it is read from, for all but method and path
};

/// Attributes of one policy; the loader refuses more.
inline constexpr std::size_t attribute_limit = 8;

struct Policy {
  std::string name;
  rules::Policy rule;
  std::int64_t cost = 1;
  bool shadow = false;
  bool visible = true;  ///< told to clients: not hidden by headers: false, and not in shadow mode
  int status = 429;
  std::optional<std::string> body;    ///< replaces the problem body
  std::vector<Attribute> attributes;  ///< attributed_window
  OnFailure on_failure = OnFailure::local;
  rules::Policy local_rule;  ///< this instance's share, while it decides alone
  std::string policy_item;   ///< ready for RateLimit-Policy
  std::string name_item;     ///< ready for RateLimit
};

/// One limit of a route, with indexes into Config::policies and Config::identities.
struct Limit {
  std::size_t policy = 0;
  std::size_t identity = 0;
  std::optional<std::size_t> otherwise;  ///< identity to use when the first is absent
  bool required = false;                 ///< absent: 401
  std::int64_t cost = 1;
  bool overdraft = false;
};

/// Limits of one route; the loader refuses more.
inline constexpr std::size_t limits_per_route = 16;
/// Entries of `identities`; the loader refuses more.
inline constexpr std::size_t identity_limit = 64;

struct FixedAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain";
};

struct Route {
  std::string name;  ///< configured, or its path pattern, or "route-N"
  routing::Match match;
  std::optional<std::size_t> upstream;  ///< index into Config::upstreams; else respond
  FixedAnswer respond;
  bool encoded_slashes = false;  ///< serves paths with %2F, matched in both readings; else 400
  bool double_encoding = false;  ///< serves paths with %25 and two digits; else 400
  bool decide = false;           ///< respond says that the request may pass; it is not forwarded
  std::vector<Limit> limits;
  std::string challenge;  ///< WWW-Authenticate, a ready line: what a required identity may come in
};

struct AccessLog {
  enum class Only : std::uint8_t { all, denied };
  enum class Format : std::uint8_t { json, text };
  std::string path = "-";  ///< "-" standard output, "off" none, else a file
  double sample = 1.0;     ///< share of lines written; 0 < sample <= 1
  Only only = Only::all;
  Format format = Format::json;
};

struct Config {
  std::vector<Listen> listen;
  std::optional<Admin> admin;
  std::size_t workers = 1;  ///< `auto` already resolved
  SipKey identity_key;      ///< from identity_secret
  Duration shutdown_timeout = std::chrono::seconds(30);
  identity::ClientAddressSettings client_address;
  Downstream downstream;
  routing::PathVariants path_variants;
  http::ResponseFieldOptions response_fields;
  StoreType store_type = StoreType::memory;
  MemoryStore memory;
  RedisStore redis;
  AccessLog access_log;
  std::vector<Upstream> upstreams;
  std::vector<Identity> identities;
  std::vector<Policy> policies;
  std::vector<Route> routes;
  Written written;                   ///< what to show of values from variables and files
  std::vector<Diagnostic> warnings;  ///< nothing wrong, but probably not meant
};

}  // namespace weir::config
