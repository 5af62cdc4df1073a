#include "config/load.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "config/document.hpp"
#include "config/document_json.hpp"
#include "config/sections.hpp"
#include "config/suggest.hpp"

namespace weir::config {
namespace {

const std::string cgroup_root = "/sys/fs/cgroup";

/// The path of this process below the root: the line `0::PATH` of /proc/self/cgroup.
std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

std::optional<std::size_t> granted_by(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string line;
  return std::getline(file, line) ? cores_of_cpu_max(line) : std::nullopt;
}

/// The default path of a package and of the container image.
constexpr std::string_view default_file = "/etc/weir/weir.yaml";

#ifdef WEIR_HAS_REDIS_TLS
constexpr bool redis_tls_available = true;
#else
constexpr bool redis_tls_available = false;
#endif

/// Keeps the running values of what cannot change while the process runs.
void keep_running_values(const Cursor& root, Config& to) {
  const Config* const running = root.environment().running;
  if (running == nullptr) return;
  if (to.workers != running->workers) to.restart_needed.emplace_back("workers");
  if (to.limiter.identity_key != running->limiter.identity_key)
    to.restart_needed.emplace_back("identity_secret");
  to.workers = running->workers;
  to.limiter.identity_key = running->limiter.identity_key;
  if (to.store_type == running->store_type) return;
  to.restart_needed.emplace_back("store.type");
  to.store_type = running->store_type;
  to.redis = running->redis;
}

// The order in which sections are read, whatever their order in the file: definitions come before
// references to them, and values that a running process keeps before what is made from them.
constexpr Key<Config> top_keys[] = {
    {.name = "listen", .read = read_listen},
    {.name = "admin", .read = read_admin},
    {.name = "workers", .read = read_workers},
    {.name = "identity_secret", .read = read_identity_secret},
    {.name = "shutdown_delay",
     .read =
         [](const Cursor& in, Config& to) {
           read_duration(in, to.shutdown_delay, {Duration{0}, std::chrono::hours(1)});
         }},
    {.name = "shutdown_timeout",
     .read =
         [](const Cursor& in, Config& to) {
           read_duration(in, to.shutdown_timeout, {Duration{0}, std::chrono::hours(24)});
         }},
    {.name = "client_address", .read = read_client_address},
    {.name = "downstream", .read = read_downstream},
    {.name = "paths", .read = read_paths},
    {.name = "response_headers", .read = read_response_headers},
    {.name = "retry_after", .read = read_retry_after},
    {.name = "retry_after_jitter", .read = read_retry_after_jitter},
    {.name = "denied", .read = read_denied},
    {.name = "grpc", .read = read_grpc},
    {.name = "access_log", .read = read_access_log},
    {.name = "events", .read = read_events},
    {.name = "tracing", .read = read_tracing},
    {.name = "telemetry", .read = read_telemetry},
    {.name = "store", .read = read_store, .then = keep_running_values},
    {.name = "upstreams", .read = read_upstreams},
    {.name = "jwt_providers", .read = read_jwt_providers},
    {.name = "identities", .read = read_identities},
    {.name = "address_lists", .read = read_address_lists},
    {.name = "policies", .read = read_policies},
    {.name = "rate_limit_service", .read = read_rate_limit_service},
    {.name = "plans", .read = read_plans},
    {.name = "plan_from", .read = read_plan_from},
    {.name = "default_plan", .read = read_default_plan},
    {.name = "routes", .read = read_routes, .required = true, .or_key = "rate_limit_service"},
};

Config defaults(const Environment& environment) {
  Config config;
  config.listen = {options::Listen{.address = {.host = "0.0.0.0", .port = 8080, .unix_path = {}}}};
  config.admin.emplace();
  config.workers = environment.cores;
  config.limiter.identity_key = sip_key_from_secret({});
  config.limiter.identities = {
      identity::Definition{.name = "client", .source = {identity::FromClientAddress{}}}};
  return config;
}

/// The first key of a file of envoyproxy/ratelimit (limit_file.hpp); nullptr: it is no such file.
const Entry* find_limit_file_key(const Node& root) {
  if (root.find("domain") == nullptr && root.find("descriptors") == nullptr) return nullptr;
  const bool has_own_key = std::ranges::any_of(
      top_keys, [&](const auto& key) { return root.find(key.name) != nullptr; });
  return has_own_key ? nullptr : &root.entries.front();
}

Diagnostic limit_file_problem(const Entry& key) {
  return diagnostic_at(
      key.position,
      "this is a file with limits of envoyproxy/ratelimit and not a configuration; name it in "
      "rate_limit_service.files of a configuration, or print a configuration with `weir import "
      "envoy-ratelimit FILE`");
}

/// The position of `path`: of the key `key` of `section`, or of `section` where it is not written.
void note_position(const Cursor& section, std::string_view key, std::string path, Config& to) {
  if (!section.is_map()) return;
  to.presentation.positions.add(std::move(path), section.at_key(key).node().position);
}

/// Notes positions of addresses and files. Nothing is wrong with the file.
void note_positions(const Cursor& root, Config& to) {
  if (root.has("admin")) note_position(root.at_key("admin"), "address", "admin.address", to);
  if (root.has("access_log"))
    note_position(root.at_key("access_log"), "path", "access_log.path", to);
  for (std::size_t i = 0; root.has("listen") && i < to.listen.size(); ++i) {
    if (to.listen[i].serves == options::Serves::rate_limit_service) break;
    const Cursor listen = root.at_key("listen").at(i);
    for (const std::string key : {"address", "tls"})
      note_position(listen, key, listen.path() + '.' + key, to);
  }
  if (to.otlp && root.at_key("telemetry").has("otlp"))
    note_position(root.at_key("telemetry").at_key("otlp"), "tls", "telemetry.otlp.tls", to);
  if (to.webhook)
    note_position(root.at_key("events").at_key("webhook"), "tls", "events.webhook.tls", to);
  if (!root.has("upstreams")) return;
  const Cursor upstreams = root.at_key("upstreams");
  for (const Entry& entry : upstreams.node().entries)
    note_position(upstreams.at(entry), "tls", "upstreams." + entry.key + ".tls", to);
}

/// In the order of the file, and not more than people read.
std::vector<Diagnostic> in_order(std::vector<Diagnostic> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  if (problems.size() > shown_problems) {
    const std::size_t more = problems.size() - shown_problems;
    problems.resize(shown_problems);
    problems.push_back(diagnostic_at({}, "and " + std::to_string(more) + " more"));
  }
  return problems;
}

}  // namespace

std::optional<std::size_t> cores_of_cpu_max(std::string_view cpu_max) {
  std::istringstream text{std::string(cpu_max)};
  std::size_t quota_us = 0;
  std::size_t period_us = 0;
  if (!(text >> quota_us >> period_us) || period_us == 0) return std::nullopt;
  return std::max<std::size_t>(1, quota_us / period_us);
}

std::size_t available_cores() {
  std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  // Every level may have a limit; in a container the root is that of the container.
  std::string directory = own_cgroup();
  for (;;) {
    if (const auto granted = granted_by(cgroup_root + directory)) cores = std::min(cores, *granted);
    const std::size_t slash = directory.rfind('/');
    if (slash == std::string::npos) return cores;
    directory.resize(slash);
  }
}

void throw_exception_from_error(const std::vector<Diagnostic>& problems,
                                const boost::source_location&) {
  throw std::runtime_error(problems.empty() ? "configuration error" : problems.front().to_string());
}

Loaded load_text(std::string_view yaml, const Environment& environment) {
  Loading loading{.environment = environment,
                  .written = {},
                  .files = {},
                  .secrets = {},
                  .problems = {},
                  .warnings = {}};
  const std::optional<Node> root = parse_document(yaml, loading.problems);
  if (!root) {
    if (loading.problems.empty())
      loading.problems.push_back(
          diagnostic_at({}, "the file is empty; see config/minimal.yaml for the minimum"));
    return in_order(std::move(loading.problems));
  }
  if (const Entry* const key = find_limit_file_key(*root)) {
    loading.problems.push_back(limit_file_problem(*key));
    return in_order(std::move(loading.problems));
  }
  auto config = std::make_shared<Config>(defaults(environment));
  const Cursor cursor(loading, *root, {});
  // The rate limit service alone needs no listener of the proxy.
  if (cursor.has("rate_limit_service") && !cursor.has("listen") && !cursor.has("routes"))
    config->listen.clear();
  read_table(cursor, top_keys, *config);
  end_small_leases(*config);
  check_admin_address(cursor, *config);
  check_proxy_protocol(cursor, *config);
  if (loading.problems.empty()) check_unusual_field_names(cursor, *config);
  if (!loading.problems.empty()) return in_order(std::move(loading.problems));
  warn_of_unused(cursor, *config);
  warn_of_unassigned_plans(cursor, *config);
  warn_of_built_in_secret(cursor, *config);
  warn_of_missing_replicas(cursor, *config);
  warn_of_untrusted_fields(cursor, *config);
  note_positions(cursor, *config);
  config->key_digests =
      key_digests(*root, config->proxy.routes, environment.variable, loading.files);
  config->presentation.document = document_json(*root, loading.secrets);
  config->presentation.written = std::move(loading.written);
  config->presentation.warnings = in_order(std::move(loading.warnings));
  return std::shared_ptr<const Config>(std::move(config));
}

namespace {

/// The whole-file problem without the name of the file, which its reader prints first, and with the
/// cause that is frequent where a container mounts the file.
std::string file_problem(const std::filesystem::path& file, std::string message) {
  if (const std::string name = "cannot read file " + in_quotes(file.string()) + ": ";
      message.starts_with(name))
    message.replace(0, name.size(), "cannot read the file: ");
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return message +
           "; if a container mounts it, the file on the host does not exist: Docker makes "
           "a directory then";
  if (file != default_file || std::filesystem::exists(file, error)) return message;
  return message +
         "; name another one with --config FILE, or mount yours as in "
         "`docker run -v ./weir.yaml:/etc/weir/weir.yaml:ro`";
}

}  // namespace

Result<std::string, std::vector<Diagnostic>> read_text(const std::filesystem::path& file,
                                                       Patience patience) {
  Result<std::string> text = read_bounded_file(file, DocumentLimits{}.bytes, patience);
  if (!text) return std::vector{diagnostic_at({}, file_problem(file, text.error().message))};
  return {boost::system::in_place_value, *std::move(text)};
}

Loaded load_file(const std::filesystem::path& file) {
  const auto text = read_text(file);
  if (!text) return text.error();
  return load_text(*text, process_environment(file));
}

Environment process_environment(const std::filesystem::path& configuration_file) {
  const auto variable = [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return {.variable = variable,
          .directory = configuration_file.parent_path(),
          .cores = available_cores(),
          .redis_tls = redis_tls_available};
}

}  // namespace weir::config
