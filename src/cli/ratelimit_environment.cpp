#include "cli/ratelimit_environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "cli/go_duration.hpp"
#include "cli/ratelimit_directory.hpp"
#include "cli/ratelimit_variables.hpp"
#include "cli/yaml_text.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::cli {
namespace {

struct FieldNames {
  std::string_view legacy;  ///< of rate_limit_service.headers
  std::array<std::string_view, 3> names;
};
constexpr std::array<FieldNames, 2> field_names{{
    {"ratelimit", {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}},
    {"x_ratelimit", {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}},
}};

/// Percent-encoded, for the user and the password of a URL.
std::string for_url(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (http::is_alpha(c) || http::is_digit(c) || c == '-' || c == '_' || c == '.') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append("%").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string address(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

class EnvironmentReader {
 public:
  explicit EnvironmentReader(const config::Variables& variable) : variable_(variable) {}

  std::string yaml() {
    refuse_some();
    return "identity_secret: ${WEIR_IDENTITY_SECRET:-}\n" + admin() +
           duration("GRPC_MAX_CONNECTION_AGE", "downstream: {max_age: ", "}\n") + store() +
           "rate_limit_service:\n  listen:\n" + listeners() + "  files: [" +
           yaml_text(directory() + '/' + limit_file_pattern) + "]\n  charge: " +
           (flag("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT") ? "all" : "reference") + '\n' +
           metrics() + headers();
  }

  /// The directory of the files with limits.
  std::string directory() {
    std::string path = text("RUNTIME_ROOT", "/srv/runtime_data/current");
    if (is_set("RUNTIME_SUBDIRECTORY")) path += '/' + text("RUNTIME_SUBDIRECTORY");
    return path + '/' + text("RUNTIME_APPDIRECTORY", "config");
  }

  /// As Go's strconv.ParseBool reads it.
  bool flag(std::string_view name) {
    constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "TRUE", "true", "True"};
    constexpr std::array<std::string_view, 6> no{"0", "f", "F", "FALSE", "false", "False"};
    const std::string value = text(name, "false");
    if (std::ranges::find(yes, value) != yes.end()) return true;
    if (std::ranges::find(no, value) == no.end())
      problem(name, "expected true or false, found " + config::in_quotes(value));
    return false;
  }

  std::vector<config::Diagnostic> take_problems() { return std::move(problems_); }
  /// After yaml(): the variables that it has not read are those without effect.
  std::vector<std::string> take_warnings() {
    note_ineffective();
    return std::move(warnings_);
  }

 private:
  /// An empty variable is not set.
  std::string text(std::string_view name, std::string_view otherwise = {}) {
    read_.emplace(name);
    const auto value = variable_(std::string(name));
    return value && !value->empty() ? *value : std::string(otherwise);
  }
  bool is_set(std::string_view name) { return !text(name).empty(); }

  void problem(std::string_view name, std::string message) {
    problems_.push_back(config::diagnostic_at({}, std::move(message), std::string(name)));
  }

  int port(std::string_view name, int otherwise) {
    const std::string value = text(name);
    if (value.empty()) return otherwise;
    int number = 0;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (failure == std::errc{} && end == value.data() + value.size() && number >= 0 &&
        number <= 65535)
      return number;
    problem(name, "expected a port, such as 8081, found " + config::in_quotes(value));
    return otherwise;
  }

  /// A duration of Go as one of the configuration, with the text around it; empty: the variable is
  /// not set.
  std::string duration(std::string_view name, std::string_view before, std::string_view after) {
    const std::string value = text(name);
    if (value.empty()) return {};
    const auto read = go_duration(value);
    if (!read)
      problem(name, "expected a duration, such as 1h30m, found " + config::in_quotes(value));
    return std::string(before) + config::format_duration(read.value_or(Duration{0})) +
           std::string(after);
  }

  /// Returns one of the words as it is in the list, of which the first is the default. The variable
  /// may have it in upper or lower case.
  std::string word(std::string_view name, std::initializer_list<std::string_view> words) {
    const std::string value = text(name, *words.begin());
    for (const std::string_view one : words)
      if (http::iequals(one, value)) return std::string(one);
    problem(name, "expected " + config::list_of({words.begin(), words.size()}) + ", found " +
                      config::in_quotes(value));
    return std::string(*words.begin());
  }

  void refuse_some() {
    for (const auto& [names, reason] : refused_flags()) {
      for (const std::string& name : split(names, ' '))
        if (flag(name)) problem(name, std::string(reason));
    }
    for (const auto& [names, reason] : refused_texts()) {
      for (const std::string& name : split(names, ' '))
        if (is_set(name)) problem(name, std::string(reason));
    }
    if (const std::string backend = text("BACKEND_TYPE", "redis"); backend != "redis")
      problem("BACKEND_TYPE", "limits are in Redis only; write redis");
    if (const std::string type = text("CONFIG_TYPE", "FILE"); type != "FILE")
      problem("CONFIG_TYPE", "limits are read from files only; write FILE");
  }

  void note_ineffective() {
    const auto note = [&](const std::string& name, std::string_view reason) {
      if (read_.contains(name)) return;
      const std::string value = text(name, "0");
      if (value == "0" || http::iequals(value, "false") || http::iequals(value, "f")) return;
      warnings_.push_back(name + ": has no effect: " + std::string(reason));
    };
    for (const auto& [names, reason] : ineffective_variables()) {
      for (const std::string& name : split(names, ' '))
        note(name, reason);
    }
    for (std::string tag : split(text("USE_DOG_STATSD_MOGRIFIERS"), ',')) {
      std::ranges::transform(tag, tag.begin(), http::to_upper);
      for (const std::string_view end : {"_PATTERN", "_TAGS", "_NAME"})
        note("DOG_STATSD_MOGRIFIER_" + tag + std::string(end),
             "there is no statsd; the admin server has the metrics at /metrics");
    }
  }

  std::string admin() {
    if (!is_set("DEBUG_HOST") && !is_set("DEBUG_PORT")) return {};
    return "admin: {address: " +
           yaml_text(address(text("DEBUG_HOST", "127.0.0.1"), port("DEBUG_PORT", 9090))) + "}\n";
  }

  // The store.

  std::string store() {
    const std::string url = text("REDIS_URL");
    if (url.empty()) {
      warnings_.emplace_back(
          "REDIS_URL: is not set: limits are counted in this process, and others do not see them");
      return {};
    }
    socket_type_ = word("REDIS_SOCKET_TYPE", {"unix", "tcp", "tls"});
    uses_tls_ = flag("REDIS_TLS") || socket_type_ == "tls";
    const std::string type = word("REDIS_TYPE", {"SINGLE", "SENTINEL", "CLUSTER"});
    if (type == "SINGLE") check_single(url);
    std::string redis = type == "SINGLE" ? "url: " + yaml_text(url_of(url)) : several(type, url);
    if (is_set("CACHE_KEY_PREFIX")) redis += ", key_prefix: " + yaml_text(text("CACHE_KEY_PREFIX"));
    redis += duration("REDIS_TIMEOUT", ", timeout: ", "");
    return "store: {type: redis, redis: {" + redis + ", replicas: 1" + tls() + "}}\n";
  }

  /// `USER:PASSWORD@`; REDIS_AUTH is a password, or a user and a password.
  std::string credentials() {
    const std::string auth = text("REDIS_AUTH");
    if (auth.empty()) return {};
    const std::size_t colon = auth.find(':');
    if (colon == std::string::npos) return ':' + for_url(auth) + '@';
    return for_url(std::string_view(auth).substr(0, colon)) + ':' +
           for_url(std::string_view(auth).substr(colon + 1)) + '@';
  }

  std::string url_at(const std::string& place) {
    return (uses_tls_ ? "rediss://" : "redis://") + credentials() + place;
  }

  /// The URL of one server, without REDIS_TYPE or without REDIS_SOCKET_TYPE. It may have a
  /// password, so it is not shown.
  void check_single(const std::string& url) {
    if (url.find("://") != std::string::npos) return;
    if (url.find(',') != std::string::npos)
      return problem("REDIS_TYPE",
                     "is SINGLE, and REDIS_URL has several servers; write REDIS_TYPE=SENTINEL or "
                     "REDIS_TYPE=CLUSTER");
    if (socket_type_ != "unix") return;
    if (!url.starts_with('/'))
      return problem("REDIS_SOCKET_TYPE",
                     std::string("is unix") + (is_set("REDIS_SOCKET_TYPE") ? "" : " by default") +
                         ", and REDIS_URL is not the whole path of a socket; write "
                         "REDIS_SOCKET_TYPE=tcp if it is HOST:PORT");
    if (uses_tls_)
      problem("REDIS_TLS",
              "a Unix socket has no TLS; write REDIS_SOCKET_TYPE=tcp with HOST:PORT in REDIS_URL, "
              "or remove REDIS_TLS");
  }

  std::string url_of(const std::string& url) {
    if (url.find("://") != std::string::npos) {
      if (is_set("REDIS_AUTH"))
        problem("REDIS_AUTH", "REDIS_URL is a whole URL; write user and password there");
      constexpr std::string_view plain = "redis://";
      const bool is_plain = http::iequals(std::string_view(url).substr(0, plain.size()), plain);
      return uses_tls_ && is_plain ? "rediss://" + url.substr(plain.size()) : url;
    }
    return socket_type_ == "unix" ? "unix://" + credentials() + url : url_at(url);
  }

  /// MASTER,HOST:PORT,... of sentinels, or HOST:PORT,... of a cluster.
  std::string several(const std::string& type, const std::string& url) {
    std::vector<std::string> servers = split(url, ',');
    std::string keys = "topology: ";
    if (type == "CLUSTER") {
      keys += "cluster";
    } else {
      if (servers.size() < 2) {
        problem("REDIS_URL", "expected MASTER,HOST:PORT,... with the sentinels");
        return {};
      }
      keys += "sentinel, sentinel_master: " + yaml_text(servers.front());
      servers.erase(servers.begin());
      const std::string auth = text("REDIS_SENTINEL_AUTH");
      const std::size_t colon = auth.find(':');
      if (colon != std::string::npos)
        keys += ", sentinel_user: " + yaml_text(auth.substr(0, colon));
      if (!auth.empty())  // npos + 1 is 0
        keys += ", sentinel_password: " + yaml_text(auth.substr(colon + 1));
    }
    std::string list;
    for (const std::string& server : servers)
      list += (list.empty() ? "" : ", ") + yaml_text(server);
    return "url: " + yaml_text(url_at(servers.front())) + ", " + keys + ", servers: [" + list + ']';
  }

  std::string tls() {
    if (!uses_tls_) return {};
    std::string keys;
    const auto add = [&](std::string_view key, std::string_view name) {
      if (!is_set(name)) return;
      keys += (keys.empty() ? "" : ", ") + std::string(key) + ": " + yaml_text(text(name));
    };
    add("ca", "REDIS_TLS_CACERT");
    add("certificate", "REDIS_TLS_CLIENT_CERT");
    add("private_key", "REDIS_TLS_CLIENT_KEY");
    return keys.empty() ? "" : ", tls: {" + keys + '}';
  }

  // The service.

  std::string metrics() {
    std::string keys = flag("USE_PROMETHEUS") ? "  reference_metrics: true\n" : "";
    if (is_set("NEAR_LIMIT_RATIO"))
      keys += "  near_limit_ratio: " + yaml_text(text("NEAR_LIMIT_RATIO")) + '\n';
    if (flag("SHADOW_MODE")) keys += "  shadow_mode: true\n";
    return keys;
  }

  std::string listeners() {
    const int http_port = port("PORT", 8080);
    const std::string grpc = is_set("GRPC_UDS")
                                 ? "unix:" + text("GRPC_UDS")
                                 : address(text("GRPC_HOST", "0.0.0.0"), port("GRPC_PORT", 8081));
    const std::string http = address(text("HOST", "0.0.0.0"), http_port);
    std::string list = "    - {address: " + yaml_text(grpc) + listener_tls() + "}\n";
    if (http != grpc || http_port == 0) list += "    - {address: " + yaml_text(http) + "}\n";
    return list;
  }

  std::string listener_tls() {
    if (!flag("GRPC_SERVER_USE_TLS")) return {};
    for (const std::string_view name : {"GRPC_SERVER_TLS_CERT", "GRPC_SERVER_TLS_KEY"})
      if (!is_set(name)) problem(name, "is missing: GRPC_SERVER_USE_TLS needs the file");
    return ", tls: {certificate: " + yaml_text(text("GRPC_SERVER_TLS_CERT")) +
           ", private_key: " + yaml_text(text("GRPC_SERVER_TLS_KEY")) + '}';
  }

  std::string headers() {
    if (!flag("LIMIT_RESPONSE_HEADERS_ENABLED"))
      return "  headers: {standard: false, legacy: none}\n";
    const auto& standard = field_names.front().names;
    const std::array<std::string, 3> names{text("LIMIT_LIMIT_HEADER", standard[0]),
                                           text("LIMIT_REMAINING_HEADER", standard[1]),
                                           text("LIMIT_RESET_HEADER", standard[2])};
    for (const auto& [legacy, known] : field_names) {
      if (std::ranges::equal(names, known, http::iequals))
        return "  headers: {standard: false, legacy: " + std::string(legacy) + "}\n";
    }
    problem("LIMIT_LIMIT_HEADER",
            "the fields are RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, or the same "
            "with X-; write one of these sets in LIMIT_LIMIT_HEADER, LIMIT_REMAINING_HEADER and "
            "LIMIT_RESET_HEADER");
    return {};
  }

  const config::Variables& variable_;
  std::set<std::string, std::less<>> read_;  ///< names of variables
  std::string socket_type_;                  ///< of Redis
  bool uses_tls_ = false;                    ///< to Redis
  std::vector<config::Diagnostic> problems_;
  std::vector<std::string> warnings_;
};

}  // namespace

Result<RatelimitEnvironment, std::vector<config::Diagnostic>> ratelimit_environment(
    const config::Variables& variable) {
  EnvironmentReader reader(variable);
  std::string yaml = reader.yaml();
  const bool ignores_hidden = reader.flag("RUNTIME_IGNOREDOTFILES");
  auto problems = reader.take_problems();
  if (!problems.empty()) return problems;
  return RatelimitEnvironment{.yaml = std::move(yaml),
                              .directory = reader.directory(),
                              .ignores_hidden = ignores_hidden,
                              .warnings = reader.take_warnings()};
}

std::string_view variable_of(const config::Diagnostic& diagnostic) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> variables{{
      {"identity_secret", "WEIR_IDENTITY_SECRET"},
      {"downstream.max_age", "GRPC_MAX_CONNECTION_AGE"},
      {"store.redis.key_prefix", "CACHE_KEY_PREFIX"},
      {"store.redis.timeout", "REDIS_TIMEOUT"},
      {"store.redis.sentinel_user", "REDIS_SENTINEL_AUTH"},
      {"store.redis.sentinel_password", "REDIS_SENTINEL_AUTH"},
      {"store.redis.tls", "REDIS_TLS_CACERT, REDIS_TLS_CLIENT_CERT or REDIS_TLS_CLIENT_KEY"},
      {"store", "REDIS_URL"},
      {"rate_limit_service.listen[0].tls", "GRPC_SERVER_TLS_CERT or GRPC_SERVER_TLS_KEY"},
      {"rate_limit_service.listen[0]", "GRPC_HOST, GRPC_PORT or GRPC_UDS"},
      {"rate_limit_service.listen[1]", "HOST or PORT"},
      {"rate_limit_service.files", "RUNTIME_ROOT"},
      {"rate_limit_service.near_limit_ratio", "NEAR_LIMIT_RATIO"},
      {"admin", "DEBUG_HOST or DEBUG_PORT"},
  }};
  for (const auto& [path, name] : variables) {
    if (diagnostic.key_path.starts_with(path)) return name;
  }
  return diagnostic.key_path;
}

}  // namespace weir::cli
