#include "cli/proxy_configuration.hpp"

#include <array>
#include <utility>

#include "config/suggest.hpp"
#include "json/write.hpp"

namespace weir::cli {
namespace {

// Quotes a flag as a JSON string, which is a YAML string (YAML 1.2, section 1.3).
std::string yaml_quoted(std::string_view text) {
  std::string quoted;
  json::append_string(quoted, text);
  return quoted;
}

/// `header:NAME` -> `{header: "NAME"}`.
std::optional<std::string> identity_source(std::string_view key) {
  if (key == "client_address") return "{client_address: {}}";
  const auto colon = key.find(':');
  if (colon == std::string_view::npos || colon + 1 == key.size()) return std::nullopt;
  const auto kind = key.substr(0, colon);
  if (kind != "header" && kind != "query" && kind != "cookie") return std::nullopt;
  return "{" + std::string(kind) + ": " + yaml_quoted(key.substr(colon + 1)) + "}";
}

}  // namespace

Result<std::string> proxy_configuration(const ProxyFlags& flags) {
  const auto source = identity_source(flags.key);
  if (!source) {
    return Problem{"--key: " + config::in_quotes(flags.key) +
                   " is none of client_address, header:NAME, query:NAME, cookie:NAME"};
  }
  // The access log has the name of the identity that a request was counted by.
  const bool is_by_address = flags.key == "client_address";
  const std::string identities =
      is_by_address ? "client: " + *source : "key: " + *source + ", client: {client_address: {}}";
  const std::string key = is_by_address ? "client" : "key, otherwise: client";
  const std::string burst = flags.burst ? ", burst: " + std::to_string(*flags.burst) : "";
  const std::string admin =
      flags.admin.empty() ? "off" : "{address: " + yaml_quoted(flags.admin) + "}";
  const std::string store = flags.redis.empty()
                                ? ""
                                : "identity_secret: ${WEIR_IDENTITY_SECRET:-}\n"
                                  "store: {type: redis, redis: {url: " +
                                      yaml_quoted(flags.redis) + ", replicas: 1}}\n";
  return {boost::system::in_place_value,
          "listen: [{address: " + yaml_quoted(flags.listen) + "}]\n" + "admin: " + admin + "\n" +
              store + "upstreams: {service: {servers: [{url: " + yaml_quoted(flags.to) + "}]}}\n" +
              "identities: {" + identities + "}\n" + "policies: {limit: {algorithm: gcra, rate: " +
              yaml_quoted(flags.limit) + burst + "}}\n" +
              "routes: [{name: all, match: {path: \"/**\"}, upstream: service,"
              " limits: [{policy: limit, key: " +
              key + "}]}]\n"};
}

std::string_view flag_of(const config::Diagnostic& diagnostic) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> flags{{
      {"listen", "--listen"},
      {"admin", "--admin"},
      {"identity_secret", "WEIR_IDENTITY_SECRET"},
      {"store", "--redis"},
      {"upstreams", "--to"},
      {"identities", "--key"},
      {"policies.limit.burst", "--burst"},
      {"policies", "--limit"},
  }};
  for (const auto& [path, flag] : flags) {
    if (diagnostic.key_path.starts_with(path)) return flag;
  }
  return "the flags together";
}

}  // namespace weir::cli
