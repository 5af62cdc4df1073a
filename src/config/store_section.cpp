// `store`: where use is counted.
#include <algorithm>

#include "config/endpoint.hpp"
#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr DurationRange redis_timeout_range{milliseconds(1), minutes(1)};
constexpr std::size_t longest_prefix = 64;
constexpr std::int64_t most_replicas = 100'000;
constexpr std::size_t most_servers = 100;

constexpr Key<MemoryStore> memory_keys[] = {
    {.name = "max_keys", .read = read::integer<1, 1'000'000'000, &MemoryStore::max_keys>},
};

/// The first of the section's keys: it keeps the values that the others set.
void read_store_url(const Cursor& in, RedisStore& to) {
  Secret url;
  if (!read_secret(in, url)) return;
  Result<options::Redis> store = parse_redis_url(url.reveal());
  if (!store) return in.error(store.error().message + variable_hint(in.node().text));
  if (store->secure && !in.environment().redis_tls) {
    return in.error(
        "rediss:// needs a hiredis with TLS (1.0 or later: Debian 13, Ubuntu 24.04, the container "
        "image), which this weir was built without; use redis:// through a tunnel, or another "
        "build");
  }
  to.connection = *std::move(store);
}

void read_topology(const Cursor& in, RedisStore& to) {
  using enum options::RedisTopology;
  read_choice(in, to.connection.topology,
              {{"standalone", standalone}, {"sentinel", sentinel}, {"cluster", cluster}});
}

void read_listed_server(const Cursor& in, std::vector<options::RedisServer>& to) {
  const auto text = in.text();
  if (!text) return;
  const auto parts = split_host_and_port(*text);
  if (!parts || parts->port.value_or(0) == 0)
    return in.error_showing(text->find('@') == std::string::npos
                                ? "expected HOST:PORT, such as redis-1:6379"
                                : "expected HOST:PORT, such as redis-1:6379; the user and the "
                                  "password belong into url");
  options::RedisServer server{.host = std::string(parts->host), .port = *parts->port};
  const bool is_known = std::ranges::any_of(to, [&](const options::RedisServer& one) {
    return one.port == server.port && http::iequals(one.host, server.host);
  });
  if (is_known) return in.error_showing("is listed twice");
  to.push_back(std::move(server));
}

void read_listed_servers(const Cursor& in, RedisStore& to) {
  if (in.is_empty_list()) return;
  for_each_item(in, "a list of servers, HOST:PORT", most_servers,
                [&](const Cursor& item) { read_listed_server(item, to.connection.servers); });
}

void read_sentinel_master(const Cursor& in, RedisStore& to) {
  auto text = read_form(
      in,
      [](std::string_view name) {
        const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
        return !name.empty() && std::ranges::all_of(name, is_plain);
      },
      "expected the name of a master: printable ASCII without spaces");
  if (text) to.connection.sentinel_master = *std::move(text);
}

void read_key_prefix(const Cursor& in, RedisStore& to) {
  const auto text = in.text();
  if (!text) return;
  const bool is_plain = std::none_of(text->begin(), text->end(), [](char c) {
    return c <= ' ' || c > '~' || c == '{' || c == '}';
  });
  if (!is_plain || text->size() > longest_prefix) {
    return in.error_showing("expected up to " + std::to_string(longest_prefix) +
                            " printable ASCII characters without spaces, { and }");
  }
  to.connection.key_prefix = *text;
}

void read_replicas(const Cursor& in, RedisStore& to) {
  constexpr std::int64_t automatic = 0;
  const auto replicas = read_integer_or_auto(in, {1, most_replicas}, automatic);
  if (replicas) to.replicas = *replicas == automatic ? std::nullopt : replicas;
}

constexpr Key<RedisStore> breaker_keys[] = {
    {.name = "failures", .read = read::integer<1, 1'000, &RedisStore::breaker_failures>},
    {.name = "retry_after",
     .read =
         [](const Cursor& in, RedisStore& to) {
           read_duration(in, to.breaker_retry_after, {milliseconds(10), hours(1)});
         }},
};

/// An override applies on an instance with leases within a lease, so within
/// DenialConfirmation::settled_after.
constexpr DurationRange lease_range{milliseconds(10), milliseconds(250)};

constexpr Key<RedisStore> lease_keys[] = {
    {.name = "share", .read = read::integer<0, 100, &RedisStore::lease_share>},
    {.name = "duration", .read = read::duration<lease_range, &RedisStore::lease_duration>},
};

constexpr Key<RedisStore> redis_keys[] = {
    {.name = "url", .read = read_store_url},
    {.name = "topology", .read = read_topology},
    {.name = "servers", .read = read_listed_servers},
    {.name = "sentinel_master", .read = read_sentinel_master},
    {.name = "sentinel_user",
     .read = [](const Cursor& in,
                RedisStore& to) { to.connection.sentinel_user = in.text().value_or(""); }},
    {.name = "sentinel_password",
     .read = read::with<read_secret, &RedisStore::connection, &options::Redis::sentinel_password>},
    {.name = "tls",
     .read = read::with<read_client_tls, &RedisStore::connection, &options::Redis::tls>},
    {.name = "key_prefix", .read = read_key_prefix},
    {.name = "connect_timeout",
     .read = read::duration<redis_timeout_range, &RedisStore::connection,
                            &options::Redis::connect_timeout>},
    {.name = "timeout",
     .read =
         read::duration<redis_timeout_range, &RedisStore::connection, &options::Redis::timeout>},
    {.name = "breaker",
     .read = [](const Cursor& in, RedisStore& to) { read_table(in, breaker_keys, to); }},
    {.name = "on_failure", .read = read::with<read_on_failure, &RedisStore::on_failure>},
    {.name = "replicas", .read = read_replicas},
    {.name = "leases",
     .read = [](const Cursor& in, RedisStore& to) { read_table(in, lease_keys, to); }},
};

/// Plain text although TLS was configured would be worse than no connection.
void check_redis_tls(const Cursor& in, const RedisStore& redis) {
  if (!in.has("tls") || !in.has("url") || redis.connection.secure) return;
  const bool is_known = !redis.connection.host.empty() || !redis.connection.unix_path.empty();
  if (is_known) in.at_key("tls").error("tls has no meaning for this url; write rediss://");
}

void check_sentinel(const Cursor& in, const options::Redis& redis) {
  if (!in.has("servers") || in.at_key("servers").node().items.empty()) {
    in.at_key("topology").error("needs the sentinels; write servers: [\"sentinel-1:26379\", ...]");
  }
  if (!redis.unix_path.empty())
    in.at_key("url").error("sentinels have no unix socket; write redis:// or rediss://");
  if (!redis.sentinel_user.empty() && redis.sentinel_password.empty())
    in.at_key("sentinel_user").error("needs its password; write sentinel_password");
}

void check_cluster(const Cursor& in, options::Redis& redis) {
  if (!redis.unix_path.empty()) {
    in.at_key("url").error(
        "the nodes of a cluster have no common unix socket; write redis:// or rediss://");
  } else if (redis.database != 0) {
    in.at_key("url").error("a cluster has database 0 only; remove the number from the URL");
  } else if (redis.servers.empty() && !redis.host.empty()) {
    redis.servers.push_back({.host = redis.host, .port = redis.port});
  }
}

/// The keys of a topology agree with each other.
void check_topology(const Cursor& in, options::Redis& redis) {
  using enum options::RedisTopology;
  if (redis.topology == sentinel) return check_sentinel(in, redis);
  const bool is_unclear = in.has("topology") && redis.topology == standalone &&
                          in.at_key("topology").node().text != "standalone";
  if (is_unclear) return;
  if (redis.topology == cluster) check_cluster(in, redis);
  if (redis.topology == standalone && !redis.servers.empty())
    in.at_key("servers").error("has no meaning without topology: sentinel or cluster");
  const std::pair<std::string_view, bool> given[] = {
      {"sentinel_master", redis.sentinel_master != options::Redis{}.sentinel_master},
      {"sentinel_user", !redis.sentinel_user.empty()},
      {"sentinel_password", !redis.sentinel_password.empty()}};
  for (const auto& [key, is_given] : given)
    if (is_given) in.at_key(key).error("has no meaning without topology: sentinel");
}

void read_redis(const Cursor& in, Config& to) {
  if (!read_table(in, redis_keys, to.redis)) return;
  check_redis_tls(in, to.redis);
  check_topology(in, to.redis.connection);
}

constexpr Key<Config> store_keys[] = {
    {.name = "type",
     .read =
         [](const Cursor& in, Config& to) {
           read_choice(in, to.store_type,
                       {{"memory", StoreType::memory}, {"redis", StoreType::redis}});
         }},
    {.name = "memory", .read = read::table<memory_keys, &Config::memory>},
    {.name = "redis", .read = read_redis},
};

/// True if the running configuration has another value, so that nothing is known about this one.
bool is_kept(const Config& config, std::string_view key) {
  return std::ranges::find(config.restart_needed, key) != config.restart_needed.end();
}

bool has_url(const Cursor& store) {
  if (!store.has("redis")) return false;
  const Cursor redis = store.at_key("redis");
  return !redis.is_map() || redis.has("url");
}

}  // namespace

void read_on_failure(const Cursor& in, limiter::OnFailure& to) {
  read_choice(in, to,
              {{"local", limiter::OnFailure::local},
               {"allow", limiter::OnFailure::allow},
               {"deny", limiter::OnFailure::deny}});
}

void read_store(const Cursor& in, Config& to) {
  if (!read_table(in, store_keys, to)) return;
  if (to.store_type == StoreType::redis && !has_url(in)) {
    in.at_key("redis").error(
        "the redis store needs its url; write redis: {url: \"redis://127.0.0.1:6379\"}");
  }
}
void warn_of_missing_replicas(const Cursor& root, const Config& config) {
  if (config.store_type != StoreType::redis || is_kept(config, "store.type")) return;
  const Cursor redis = root.at_key("store").at_key("redis");
  if (redis.has("replicas")) return;
  for (const options::Route& route : config.proxy.routes) {
    for (const limiter::Limit& limit : route.limits) {
      const limiter::Policy& policy = config.limiter.policies[limit.policy];
      if (policy.on_failure != limiter::OnFailure::local) continue;
      redis.warn(
          "without replicas each instance admits the whole quota while Redis is down, here of the "
          "policy " +
          in_quotes(policy.name) +
          "; set replicas to auto, or to the largest number of instances, also if it is 1");
      return;
    }
  }
}

void warn_of_built_in_secret(const Cursor& root, const Config& config) {
  if (is_kept(config, "identity_secret")) return;
  const SipKey built_in = sip_key_from_secret({});
  if (config.limiter.identity_key.k0 != built_in.k0 ||
      config.limiter.identity_key.k1 != built_in.k1)
    return;
  if (config.proxy.response_fields.partition_key) {
    root.at_key("response_headers")
        .at_key("partition_key")
        .warn(
            "without identity_secret partition keys are made with a built-in value: anyone who "
            "reads them can find out whose they are");
  }
  if (config.store_type != StoreType::redis) return;
  root.at_key("store").warn(
      "without identity_secret the keys in Redis are hashed with a built-in value: anyone who "
      "reads them can find out whose they are; set the same secret on all instances");
}

}  // namespace weir::config
