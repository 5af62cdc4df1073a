// `upstreams`: the services that requests are forwarded to.
#include <algorithm>

#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/url.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t most_upstreams = 1024;
constexpr DurationRange upstream_timeout_range{milliseconds(1), hours(24)};
constexpr DurationRange check_range{milliseconds(100), hours(1)};

constexpr Key<options::Server> server_keys[] = {
    // Never shown: a URL may have a password.
    {.name = "url",
     .read =
         [](const Cursor& in, options::Server& to) {
           const auto text = in.text();
           if (!text) return;
           Result<options::Server> server = parse_server_url(*text);
           if (!server) return in.error(server.error().message + variable_hint(in.node().text));
           to = *std::move(server);
         },
     .required = true},
    {.name = "weight", .read = read::integer<1, 1000, &options::Server::weight>},
};

void read_server(const Cursor& in, options::Upstream& to) {
  options::Server server;
  read_table(in, server_keys, server);
  const auto same =
      std::find_if(to.servers.begin(), to.servers.end(), [&](const options::Server& other) {
        return !server.host.empty() && other.host == server.host && other.port == server.port;
      });
  if (same != to.servers.end()) in.error("this server is already there; give that one more weight");
  to.servers.push_back(std::move(server));
}

void read_servers(const Cursor& in, options::Upstream& to) {
  for_each_item(in, "a list of servers, such as `- url: http://127.0.0.1:3000`",
                options::server_limit, [&](const Cursor& item) { read_server(item, to); });
}

void read_check_path(const Cursor& in, options::HealthCheck& to) {
  const auto text = in.text();
  if (!text) return;
  const bool is_path =
      text->starts_with('/') && std::all_of(text->begin(), text->end(),
                                            [](char c) { return c > ' ' && c <= '~' && c != '#'; });
  if (!is_path) return in.error_showing("expected a path, such as /healthz");
  to.path = *text;
}

constexpr Key<options::HealthCheck> health_check_keys[] = {
    {.name = "path", .read = read_check_path, .required = true},
    {.name = "interval", .read = read::duration<check_range, &options::HealthCheck::interval>},
    {.name = "timeout", .read = read::duration<check_range, &options::HealthCheck::timeout>},
    {.name = "rise", .read = read::integer<1, 100, &options::HealthCheck::rise>},
    {.name = "fall", .read = read::integer<1, 100, &options::HealthCheck::fall>},
};

constexpr Key<options::Upstream> upstream_keys[] = {
    {.name = "servers", .read = read_servers, .required = true},
    {.name = "balance",
     .read =
         [](const Cursor& in, options::Upstream& to) {
           read_choice(in, to.balance,
                       {{"round_robin", options::Balance::round_robin},
                        {"least_connections", options::Balance::least_connections}});
         }},
    {.name = "connect_timeout",
     .read = read::duration<upstream_timeout_range, &options::Upstream::connect_timeout>},
    {.name = "response_timeout",
     .read = read::duration<upstream_timeout_range, &options::Upstream::response_timeout>},
    {.name = "idle_timeout",
     .read = read::duration<upstream_timeout_range, &options::Upstream::idle_timeout>},
    {.name = "retries", .read = read::integer<0, 10, &options::Upstream::retries>},
    {.name = "retry_body", .read = read::size<0, 1024 * 1024, &options::Upstream::retry_body>},
    {.name = "reuse",
     .read =
         [](const Cursor& in, options::Upstream& to) {
           read_choice(in, to.reuse,
                       {{"safe", options::Reuse::safe}, {"always", options::Reuse::always}});
         }},
    {.name = "protocol",
     .read =
         [](const Cursor& in, options::Upstream& to) {
           read_choice(in, to.protocol,
                       {{"http1", options::Protocol::http1},
                        {"http2", options::Protocol::http2},
                        {"auto", options::Protocol::automatic}});
         }},
    {.name = "tunnel_timeout",
     .read = read::duration<upstream_timeout_range, &options::Upstream::tunnel_timeout>},
    {.name = "tls", .read = read::with<read_client_tls, &options::Upstream::tls>},
    {.name = "health_check",
     .read =
         [](const Cursor& in, options::Upstream& to) {
           read_table(in, health_check_keys, to.health_check.emplace());
         }},
};

/// Plain text although TLS was configured would be worse than no connection.
void check_tls(const Cursor& in, const options::Upstream& upstream) {
  if (!in.is_map() || !in.has("tls")) return;
  const bool has_plain = std::any_of(
      upstream.servers.begin(), upstream.servers.end(),
      [](const options::Server& server) { return !server.host.empty() && !server.secure; });
  if (has_plain) in.at_key("tls").error("tls has no meaning for http://; write https://");
}

}  // namespace

void read_upstreams(const Cursor& in, Config& to) {
  for_each_named(in, "a map of upstreams by name", most_upstreams,
                 [&](const std::string& name, const Cursor& entry) {
                   options::Upstream upstream;
                   upstream.name = name;
                   read_table(entry, upstream_keys, upstream);
                   check_tls(entry, upstream);
                   to.upstreams.push_back(std::move(upstream));
                 });
}
}  // namespace weir::config
