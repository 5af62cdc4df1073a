// `listen` and `admin`: the addresses of Weir.
#include <algorithm>

#include "base/ip_address.hpp"
#include "config/endpoint.hpp"
#include "config/hints.hpp"
#include "config/key_path.hpp"
#include "config/sections.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_listeners = 64;
constexpr std::size_t most_admin_hosts = 64;
constexpr std::string_view no_trusted_peers =
    "only trusted peers may connect, and there are none; set client_address.trusted_proxies";

void read_endpoint(const Cursor& in, Endpoint& to) {
  const auto text = in.text();
  if (!text) return;
  if (auto endpoint = parse_endpoint(*text)) {
    to = *std::move(endpoint);
    return;
  }
  in.error_showing("expected HOST:PORT, [IPV6]:PORT or unix:/PATH, such as 0.0.0.0:8080",
                   endpoint_hint(in.node().text));
}

constexpr Key<options::Listen> listen_keys[] = {
    {.name = "address",
     .read = read::with<read_endpoint, &options::Listen::address>,
     .required = true},
    {.name = "tls", .read = [](const Cursor& in, options::Listen& to) { read_listen_tls(in, to); }},
    {.name = "proxy_protocol", .read = read::flag<&options::Listen::proxy_protocol>},
    {.name = "http2", .read = read::flag<&options::Listen::http2>},
};

void read_admin_hosts(const Cursor& in, options::Admin& to) {
  if (in.is_empty_list()) return;
  for_each_item(
      in, "a list of host names, such as [metrics.internal]", most_admin_hosts,
      [&](const Cursor& item) {
        const auto text = item.text();
        if (!text) return;
        if (!is_host_name(*text)) {
          return item.error_showing("expected a host name without port, such as weir.internal");
        }
        to.hosts.emplace_back(without_root_dot(*text));
      });
}

constexpr Key<options::Admin> admin_keys[] = {
    {.name = "address", .read = read::with<read_endpoint, &options::Admin::address>},
    {.name = "token",
     .read =
         [](const Cursor& in, options::Admin& to) {
           read_secret(in, to.token);
           for (const char c : to.token.reveal()) {
             if (c <= ' ' || c > '~') return in.error("a token is printable ASCII without spaces");
           }
         }},
    {.name = "hosts", .read = read_admin_hosts},
};

bool is_this_machine(const Endpoint& address) {
  if (address.is_unix() || address.host == "localhost" || address.host == "::1") return true;
  return IpPrefix::parse("127.0.0.0/8")
      ->contains(IpAddress::parse(address.host).value_or(IpAddress{}));
}

}  // namespace

namespace {

/// Calls `take(item, listener)` for each item of the list.
template <class Take>
void read_listeners(const Cursor& in, Take&& take) {
  for_each_item(in, "a list of listeners, such as `- address: 0.0.0.0:8080`", most_listeners,
                [&](const Cursor& item) {
                  options::Listen listen;
                  read_table(item, listen_keys, listen);
                  listen.tls.http2 = listen.http2;
                  take(item, std::move(listen));
                });
}

/// The proxy's listener serves the rate limit service, too, with its own settings.
void share_listener(const Cursor& item, options::Listen& to) {
  to.serves = options::Serves::both;
  for (const Entry& entry : item.node().entries) {
    if (entry.key != "address")
      item.at(entry).error(
          "the listener of the section listen with this address has the settings; remove this one");
  }
}

void add_service_listener(options::Listen listen, std::string path, Config& to) {
  listen.serves = options::Serves::rate_limit_service;
  for (std::size_t i = to.presentation.listeners.size(); i < to.listen.size(); ++i)
    to.presentation.listeners.push_back(to.listener_path(i));
  to.presentation.listeners.push_back(std::move(path));
  to.listen.push_back(std::move(listen));
}

}  // namespace

void read_listen(const Cursor& in, Config& to) {
  to.listen.clear();
  read_listeners(in, [&](const Cursor& item, options::Listen listen) {
    for (const options::Listen& other : to.listen) {
      if (overlap(other.address, listen.address))
        item.at_key("address").error(
            "another of the list has this address already; remove one, or choose "
            "another port");
    }
    to.listen.push_back(std::move(listen));
  });
}

void read_service_listen(const Cursor& in, Config& to) {
  read_listeners(in, [&](const Cursor& item, options::Listen listen) {
    const auto other = std::ranges::find_if(to.listen, [&](const options::Listen& one) {
      return overlap(one.address, listen.address);
    });
    if (other != to.listen.end()) {
      if (other->address == listen.address && other->serves == options::Serves::proxy)
        return share_listener(item, *other);
      return item.at_key("address").error(
          other->serves == options::Serves::proxy
              ? "a listener of the section listen has this port already; write the same address "
                "as there, or choose another port"
              : "another of the list has this address already; remove one, or choose another port");
    }
    if (listen.proxy_protocol && to.proxy.client_address.trusted_proxies.empty())
      item.at_key("proxy_protocol").error(std::string(no_trusted_peers));
    add_service_listener(std::move(listen), item.path(), to);
    for (const std::string key : {"address", "tls"})
      to.presentation.positions.add(key_path(item.path(), key), item.at_key(key).node().position);
  });
}

void add_default_service_listener(const Cursor& in, Config& to) {
  const Endpoint address{.host = "127.0.0.1", .port = 8081, .unix_path = {}};
  const bool is_taken = std::ranges::any_of(
      to.listen, [&](const options::Listen& one) { return overlap(one.address, address); });
  if (is_taken)
    return in.error("a listener has " + address.to_string() +
                    ", which is the default of rate_limit_service.listen; write the address for "
                    "the service, as in listen: [{address: \"127.0.0.1:8082\"}]");
  add_service_listener({.address = address}, key_path(in.path(), "listen") + "[0]", to);
}

void check_admin_address(const Cursor& root, const Config& config) {
  if (!config.admin) return;
  const bool is_taken =
      std::any_of(config.listen.begin(), config.listen.end(), [&](const options::Listen& listen) {
        return overlap(listen.address, config.admin->address);
      });
  if (!is_taken) return;
  const Cursor admin = root.at_key("admin");
  if (root.has("admin") && admin.has("address"))
    return admin.at_key("address").error("a listener has this address already; choose another");
  admin.error("a listener has " + options::Admin{}.address.to_string() +
              ", which is the default of admin; choose another for one of them, or write "
              "`admin: off`");
}

/// No peer could connect.
void check_proxy_protocol(const Cursor& root, const Config& config) {
  if (!config.proxy.client_address.trusted_proxies.empty()) return;
  for (std::size_t i = 0; i < config.listen.size(); ++i) {
    const options::Listen& listen = config.listen[i];
    if (!listen.proxy_protocol || listen.serves == options::Serves::rate_limit_service) continue;
    root.at_key("listen").at(i).at_key("proxy_protocol").error(std::string(no_trusted_peers));
  }
}

void read_admin(const Cursor& in, Config& to) {
  if (is_off(in)) {
    to.admin.reset();
    return;
  }
  if (!in.expect_map("a map, or off")) return;
  options::Admin admin;
  read_table(in, admin_keys, admin);
  if (admin.token.empty() && !is_this_machine(admin.address)) {
    in.at_key("address").warn("reachable from other machines without a token; set admin.token");
  }
  if (!admin.token.empty() && !admin.hosts.empty())
    in.at_key("hosts").warn("never read: with admin.token every Host is accepted");
  to.admin = std::move(admin);
}

}  // namespace weir::config
