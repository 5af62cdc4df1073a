// `upstreams`: the services behind Weir.
#include "config/sections.hpp"
#include "config/server_url.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t most_upstreams = 1024;
constexpr std::size_t most_servers = 256;
constexpr DurationRange timeout_range{milliseconds(1), hours(24)};

constexpr Key<Server> server_keys[] = {
    // Never shown: a URL may carry a password.
    {.name = "url",
     .read =
         [](const Cursor& in, Server& to) {
           const auto text = in.text();
           if (!text) return;
           Result<Server> server = parse_server_url(*text);
           if (!server) return in.error(server.error().message);
           to = *std::move(server);
         },
     .required = true},
    {.name = "weight",
     .read =
         [](const Cursor& in, Server&) {
           const auto weight = read_integer(in, {1, 1000});
           if (weight && *weight != 1) in.not_supported("a weight other than 1");
         }},
};

void read_servers(const Cursor& in, Upstream& to) {
  for_each_item(in, "a list of servers, as `- url: http://127.0.0.1:3000`", most_servers,
                [&](const Cursor& item) { read_table(item, server_keys, to.server); });
  if (in.node().items.size() > 1) in.not_supported("more than one server in an upstream");
}

enum class Balance : std::uint8_t { round_robin, least_connections };

void read_balance(const Cursor& in, Upstream&) {
  Balance balance = Balance::round_robin;
  read_choice(
      in, balance,
      {{"round_robin", Balance::round_robin}, {"least_connections", Balance::least_connections}});
  if (balance == Balance::least_connections) in.not_supported("least_connections");
}

constexpr Key<Upstream> upstream_keys[] = {
    {.name = "servers", .read = read_servers, .list = list_items<server_keys>, .required = true},
    {.name = "balance", .read = read_balance},
    {.name = "connect_timeout",
     .read = [](const Cursor& in,
                Upstream& to) { read_duration(in, to.connect_timeout, timeout_range); }},
    {.name = "response_timeout",
     .read = [](const Cursor& in,
                Upstream& to) { read_duration(in, to.response_timeout, timeout_range); }},
    {.name = "idle_timeout",
     .read = [](const Cursor& in,
                Upstream& to) { read_duration(in, to.idle_timeout, timeout_range); }},
    {.name = "retries",
     .read =
         [](const Cursor& in, Upstream& to) {
           read_integer_into(in, to.retries, {0, 10});
         }},
    {.name = "tunnel_timeout",
     .read = [](const Cursor& in,
                Upstream& to) { read_duration(in, to.tunnel_timeout, timeout_range); }},
    {.name = "tls",
     .read = [](const Cursor& in, Upstream& to) { read_upstream_tls(in, to.tls); },
     .list = list_upstream_tls},
    {.name = "health_check",
     .read = [](const Cursor& in, Upstream&) { in.not_supported("health_check"); }},
};

/// Plain text where TLS was asked for would be worse than no connection.
void check_tls(const Cursor& in, const Upstream& upstream) {
  if (in.node().kind != Node::Kind::map || !in.has("tls")) return;
  if (!upstream.server.host.empty() && !upstream.server.secure)
    in.at_key("tls").error("tls has no meaning for http://; write https://");
}

}  // namespace

void read_upstreams(const Cursor& in, Config& to) {
  for_each_named(in, "a map of upstreams by name", most_upstreams,
                 [&](const std::string& name, const Cursor& entry) {
                   Upstream upstream;
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
