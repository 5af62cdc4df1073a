#include "config/foreign_file.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "http/characters.hpp"

namespace weir::config {
namespace {

constexpr std::size_t most_lines = 2000;
constexpr std::string_view beside =
    ", and Weir has its own format: start from config/minimal.yaml; docs/deploy.md and deploy/ "
    "show "
    "how the two work together";

/// A line of the file that no other program has.
struct Sign {
  std::string_view program;
  std::string_view line;  ///< its beginning, without blanks around it
  bool is_top = true;     ///< not indented
  std::string_view end{};
  std::string_view advice = beside;
};

constexpr std::string_view no_manifest =
    ": give weir the file that it mounts at /etc/weir/weir.yaml; config/minimal.yaml is an example";

constexpr Sign signs[] = {
    {"nginx", "server {", false},
    {"nginx", "http {", true},
    {"nginx", "location ", false, "{"},
    {"nginx", "limit_req_zone ", false, ";"},
    {"Envoy", "static_resources:"},
    {"Envoy", "dynamic_resources:"},
    {"Envoy's ratelimit service", "descriptors:"},
    {"Traefik", "entryPoints:"},
    {"Traefik", "[entryPoints"},
    {"Traefik", "routers:", false},
    {"Traefik", "[http.routers"},
    {"Traefik", "[http.middlewares"},
    {"HAProxy", "frontend "},
    {"HAProxy", "backend "},
    {"Caddy", "reverse_proxy ", false},
    {"Kong", "_format_version:"},
    {"Kubernetes", "apiVersion:", true, {}, no_manifest},
    {"Docker Compose", "services:", true, {}, no_manifest},
    // Manifests of Kubernetes have it too.
    {"Traefik", "middlewares:", false},
};

std::string_view trimmed_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

bool has_sign(const Sign& sign, std::string_view line) {
  const std::string_view content = trimmed_line(line);
  if (!content.starts_with(sign.line) || !content.ends_with(sign.end)) return false;
  return !sign.is_top || line.starts_with(sign.line);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < most_lines) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::optional<Diagnostic> find_foreign_format(std::string_view text) {
  const auto lines = lines_of(text);
  const bool is_ours = std::ranges::any_of(lines, [](std::string_view line) {
    return line.starts_with("routes:") || line.starts_with("policies:");
  });
  if (is_ours) return std::nullopt;
  for (const Sign& sign : signs) {
    const auto found =
        std::ranges::find_if(lines, [&](std::string_view line) { return has_sign(sign, line); });
    if (found == lines.end()) continue;
    return Diagnostic{.line = static_cast<int>(found - lines.begin()) + 1,
                      .column = static_cast<int>(found->find(trimmed_line(*found).front())) + 1,
                      .key_path = {},
                      .message = "this looks like a file of " + std::string(sign.program) +
                                 std::string(sign.advice)};
  }
  return std::nullopt;
}

}  // namespace weir::config
