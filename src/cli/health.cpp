#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {
namespace {

constexpr auto health_timeout = std::chrono::seconds(2);

/// Returns why the instance is not ready; nothing if it is.
std::optional<std::string> why_not_ready(const Endpoint& address, const std::string& url) {
  const auto reply = ask_admin(address, {.target = "/readyz"}, Secret(), health_timeout);
  if (!reply) return reply.error().message + advice_on_unreached(url);
  if (reply->status == 200) return std::nullopt;
  return "answered " + std::to_string(reply->status) + ": " + reply->body;
}

int health(const std::string& url) {
  const auto address = parse_admin_url(url);
  if (!address) return refuse_usage("health", "--admin: " + address.error().message);
  const auto complaint = why_not_ready(*address, url);
  if (!complaint) return succeeded;
  std::cerr << "weir health: " << url << ": " << complaint->substr(0, complaint->find('\n'))
            << '\n';
  return failed;
}

}  // namespace

void add_health(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("health", "Check whether a running instance is ready");
  const auto url = std::make_shared<std::string>(default_admin_url);
  command->add_option("--admin", *url, "Its admin server: http://HOST:PORT or unix:/path")
      ->type_name("URL")
      ->capture_default_str();
  command->footer(
      "Exit code 0 if it is ready, 1 with a line that gives the reason if not; waits at most 2 s.");
  command->callback([&chosen, url] { chosen = [url] { return health(*url); }; });
}

}  // namespace weir::cli
