// `store`: where use is counted.
#include <algorithm>

#include "config/advice.hpp"
#include "config/redis_url.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr DurationRange redis_timeout_range{milliseconds(1), minutes(1)};
constexpr std::size_t longest_prefix = 64;
constexpr std::int64_t most_replicas = 100'000;

constexpr Key<MemoryStore> memory_keys[] = {
    {.name = "max_keys",
     .read =
         [](const Cursor& in, MemoryStore& to) {
           read_integer_into(in, to.max_keys, {1, 1'000'000'000});
         }},
};

/// The first of the section's keys: it keeps the values that the others set.
void read_url(const Cursor& in, RedisStore& to) {
  const auto text = in.text();
  if (!text) return;
  Secret url;
  read_secret(in, url);
  if (url.empty() && !text->empty()) return;  // the file cannot be read, which has been reported
  Result<redis::Options> store = parse_redis_url(url.reveal());
  if (!store) return in.error(store.error().message + value_advice(in.node().text));
  if (store->secure && !in.environment().redis_tls) {
    return in.error(
        "rediss:// needs a hiredis with TLS (1.0 or later: Debian 13, Ubuntu 24.04, the container "
        "image), which this weir was built without; use redis:// through a tunnel, or another "
        "build");
  }
  static_cast<redis::Options&>(to) = *std::move(store);
}

enum class Topology : std::uint8_t { standalone, sentinel, cluster };

void read_topology(const Cursor& in, RedisStore&) {
  Topology topology = Topology::standalone;
  read_choice(in, topology,
              {{"standalone", Topology::standalone},
               {"sentinel", Topology::sentinel},
               {"cluster", Topology::cluster}});
  if (topology != Topology::standalone) in.not_supported("another topology than standalone");
}

void read_servers(const Cursor& in, RedisStore&) {
  if (in.node().kind == Node::Kind::sequence && in.node().items.empty()) return;
  in.not_supported("a list of sentinels or cluster nodes");
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
  to.key_prefix = *text;
}

constexpr Key<RedisStore> breaker_keys[] = {
    {.name = "failures",
     .read =
         [](const Cursor& in, RedisStore& to) {
           read_integer_into(in, to.breaker_failures, {1, 1'000});
         }},
    {.name = "retry_after",
     .read =
         [](const Cursor& in, RedisStore& to) {
           read_duration(in, to.breaker_retry_after, {milliseconds(10), hours(1)});
         }},
};

constexpr Key<RedisStore> redis_keys[] = {
    {.name = "url", .read = read_url},
    {.name = "topology", .read = read_topology},
    {.name = "servers", .read = read_servers},
    {.name = "sentinel_master",
     .read = [](const Cursor& in, RedisStore&) { in.not_supported("sentinel_master"); }},
    {.name = "tls",
     .read = [](const Cursor& in, RedisStore& to) { read_client_tls(in, to.tls); },
     .list = list_client_tls},
    {.name = "key_prefix", .read = read_key_prefix},
    {.name = "connect_timeout",
     .read = [](const Cursor& in,
                RedisStore& to) { read_duration(in, to.connect_timeout, redis_timeout_range); }},
    {.name = "timeout",
     .read = [](const Cursor& in,
                RedisStore& to) { read_duration(in, to.timeout, redis_timeout_range); }},
    {.name = "breaker",
     .read = [](const Cursor& in, RedisStore& to) { read_table(in, breaker_keys, to); },
     .list = list_section<breaker_keys>},
    {.name = "on_failure",
     .read = [](const Cursor& in, RedisStore& to) { read_on_failure(in, to.on_failure); }},
    {.name = "replicas",
     .read =
         [](const Cursor& in, RedisStore& to) {
           read_integer_into(in, to.replicas, {1, most_replicas});
         }},
};

/// Plain text although TLS was configured would be worse than no connection.
void check_tls(const Cursor& in, const RedisStore& redis) {
  if (!in.has("tls") || !in.has("url") || redis.secure) return;
  const bool is_known = !redis.host.empty() || !redis.unix_path.empty();
  if (is_known) in.at_key("tls").error("tls has no meaning for this url; write rediss://");
}

void read_redis(const Cursor& in, Config& to) {
  read_table(in, redis_keys, to.redis);
  if (in.node().kind == Node::Kind::map) check_tls(in, to.redis);
}

constexpr Key<Config> store_keys[] = {
    {.name = "type",
     .read =
         [](const Cursor& in, Config& to) {
           read_choice(in, to.store_type,
                       {{"memory", StoreType::memory}, {"redis", StoreType::redis}});
         }},
    {.name = "memory",
     .read = [](const Cursor& in, Config& to) { read_table(in, memory_keys, to.memory); },
     .list = list_section<memory_keys>},
    {.name = "redis", .read = read_redis, .list = list_section<redis_keys>},
};

bool has_url(const Cursor& store) {
  if (!store.has("redis")) return false;
  const Cursor redis = store.at_key("redis");
  return redis.node().kind != Node::Kind::map || redis.has("url");
}

}  // namespace

void read_on_failure(const Cursor& in, limiter::OnFailure& to) {
  read_choice(in, to,
              {{"local", limiter::OnFailure::local},
               {"allow", limiter::OnFailure::allow},
               {"deny", limiter::OnFailure::deny}});
}

void read_store(const Cursor& in, Config& to) {
  read_table(in, store_keys, to);
  if (in.node().kind != Node::Kind::map) return;
  if (to.store_type == StoreType::redis && !has_url(in)) {
    in.at_key("redis").error(
        "the redis store needs its url; write redis: {url: \"redis://127.0.0.1:6379\"}");
  }
}
void list_store(const std::string& path, KeyPaths& out) {
  list_section<store_keys>(path, out);
}

void warn_of_missing_replicas(const Cursor& root, const Config& config) {
  if (config.store_type != StoreType::redis) return;
  const Cursor redis = root.at_key("store").at_key("redis");
  if (redis.has("replicas")) return;
  for (const proxy::Route& route : config.routes) {
    for (const limiter::Limit& limit : route.limits) {
      const limiter::Policy& policy = config.policies[limit.policy];
      if (policy.on_failure != limiter::OnFailure::local) continue;
      redis.warn(
          "without replicas each instance admits the whole quota while Redis is down, here of the "
          "policy " +
          in_quotes(policy.name) +
          "; set replicas to the largest number of instances, also if it is 1");
      return;
    }
  }
}

void warn_of_built_in_secret(const Cursor& root, const Config& config) {
  const SipKey built_in = sip_key_from_secret({});
  if (config.identity_key.k0 != built_in.k0 || config.identity_key.k1 != built_in.k1) return;
  if (config.response_fields.partition_key) {
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
