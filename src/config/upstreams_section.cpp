// `upstreams`: the services that requests are forwarded to.
#include <algorithm>

#include "config/advice.hpp"
#include "config/sections.hpp"
#include "config/server_url.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t most_upstreams = 1024;
constexpr DurationRange timeout_range{milliseconds(1), hours(24)};
constexpr DurationRange check_range{milliseconds(100), hours(1)};

constexpr Key<upstream::Server> server_keys[] = {
    // Never shown: a URL may have a password.
    {.name = "url",
     .read =
         [](const Cursor& in, upstream::Server& to) {
           const auto text = in.text();
           if (!text) return;
           Result<upstream::Server> server = parse_server_url(*text);
           if (!server) return in.error(server.error().message + value_advice(in.node().text));
           to = *std::move(server);
         },
     .required = true},
    {.name = "weight",
     .read =
         [](const Cursor& in, upstream::Server& to) {
           read_integer_into(in, to.weight, {1, 1000});
         }},
};

void read_server(const Cursor& in, upstream::Upstream& to) {
  upstream::Server server;
  read_table(in, server_keys, server);
  const auto same =
      std::find_if(to.servers.begin(), to.servers.end(), [&](const upstream::Server& other) {
        return !server.host.empty() && other.host == server.host && other.port == server.port;
      });
  if (same != to.servers.end()) in.error("this server is already there; give that one more weight");
  to.servers.push_back(std::move(server));
}

void read_servers(const Cursor& in, upstream::Upstream& to) {
  for_each_item(in, "a list of servers, such as `- url: http://127.0.0.1:3000`",
                upstream::server_limit, [&](const Cursor& item) { read_server(item, to); });
}

void read_check_path(const Cursor& in, upstream::HealthCheckOptions& to) {
  const auto text = in.text();
  if (!text) return;
  const bool is_path =
      text->starts_with('/') && std::all_of(text->begin(), text->end(),
                                            [](char c) { return c > ' ' && c <= '~' && c != '#'; });
  if (!is_path) return in.error_showing("expected a path, such as /healthz");
  to.path = *text;
}

constexpr Key<upstream::HealthCheckOptions> health_check_keys[] = {
    {.name = "path", .read = read_check_path, .required = true},
    {.name = "interval",
     .read = [](const Cursor& in,
                upstream::HealthCheckOptions& to) { read_duration(in, to.interval, check_range); }},
    {.name = "timeout",
     .read = [](const Cursor& in,
                upstream::HealthCheckOptions& to) { read_duration(in, to.timeout, check_range); }},
    {.name = "rise",
     .read =
         [](const Cursor& in, upstream::HealthCheckOptions& to) {
           read_integer_into(in, to.rise, {1, 100});
         }},
    {.name = "fall",
     .read =
         [](const Cursor& in, upstream::HealthCheckOptions& to) {
           read_integer_into(in, to.fall, {1, 100});
         }},
};

constexpr Key<upstream::Upstream> upstream_keys[] = {
    {.name = "servers", .read = read_servers, .list = list_items<server_keys>, .required = true},
    {.name = "balance",
     .read =
         [](const Cursor& in, upstream::Upstream& to) {
           read_choice(in, to.balance,
                       {{"round_robin", upstream::Balance::round_robin},
                        {"least_connections", upstream::Balance::least_connections}});
         }},
    {.name = "connect_timeout",
     .read = [](const Cursor& in,
                upstream::Upstream& to) { read_duration(in, to.connect_timeout, timeout_range); }},
    {.name = "response_timeout",
     .read = [](const Cursor& in,
                upstream::Upstream& to) { read_duration(in, to.response_timeout, timeout_range); }},
    {.name = "idle_timeout",
     .read = [](const Cursor& in,
                upstream::Upstream& to) { read_duration(in, to.idle_timeout, timeout_range); }},
    {.name = "retries",
     .read =
         [](const Cursor& in, upstream::Upstream& to) {
           read_integer_into(in, to.retries, {0, 10});
         }},
    {.name = "retry_body",
     .read =
         [](const Cursor& in, upstream::Upstream& to) {
           read_size_into(in, to.retry_body, {0, 1024 * 1024});
         }},
    {.name = "reuse",
     .read =
         [](const Cursor& in, upstream::Upstream& to) {
           read_choice(in, to.reuse,
                       {{"safe", upstream::Reuse::safe}, {"always", upstream::Reuse::always}});
         }},
    {.name = "tunnel_timeout",
     .read = [](const Cursor& in,
                upstream::Upstream& to) { read_duration(in, to.tunnel_timeout, timeout_range); }},
    {.name = "tls",
     .read = [](const Cursor& in, upstream::Upstream& to) { read_client_tls(in, to.tls); },
     .list = list_client_tls},
    {.name = "health_check",
     .read =
         [](const Cursor& in, upstream::Upstream& to) {
           read_table(in, health_check_keys, to.health_check.emplace());
         },
     .list = list_section<health_check_keys>},
};

/// Plain text although TLS was configured would be worse than no connection.
void check_tls(const Cursor& in, const upstream::Upstream& upstream) {
  if (in.node().kind != Node::Kind::map || !in.has("tls")) return;
  const bool has_plain = std::any_of(
      upstream.servers.begin(), upstream.servers.end(),
      [](const upstream::Server& server) { return !server.host.empty() && !server.secure; });
  if (has_plain) in.at_key("tls").error("tls has no meaning for http://; write https://");
}

}  // namespace

void read_upstreams(const Cursor& in, Config& to) {
  for_each_named(in, "a map of upstreams by name", most_upstreams,
                 [&](const std::string& name, const Cursor& entry) {
                   upstream::Upstream upstream;
                   upstream.name = name;
                   read_table(entry, upstream_keys, upstream);
                   check_tls(entry, upstream);
                   to.upstreams.push_back(std::move(upstream));
                 });
}
void list_upstreams(const std::string& path, KeyPaths& out) {
  list_named<upstream_keys>(path, out);
}

}  // namespace weir::config
