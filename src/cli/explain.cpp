#include <iostream>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/diagnostics.hpp"
#include "cli/explain_request.hpp"
#include "cli/explanation.hpp"
#include "cli/live_overrides.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

struct ExplainOptions {
  std::string file = "/etc/weir/weir.yaml";
  std::string peer = "127.0.0.1";
  RequestArguments request;
  AdminTarget admin{.url = {}, .token_file = {}};
  bool json = false;
};

int wrong_usage(const std::string& what) {
  std::cerr << "weir explain: " << what << '\n';
  return refused;
}

int run_explain(const ExplainOptions& options) {
  const auto peer = IpAddress::parse(options.peer);
  if (!peer) return wrong_usage("--peer: expected an IP address, such as 192.0.2.7");
  const auto head = request_head(options.request);
  if (!head) return wrong_usage(head.error().message);
  const auto loaded = config::load_file(options.file);
  if (!loaded) {
    print_diagnostics(std::cerr, options.file, loaded.error());
    return refused;
  }
  const Instant now = MonotonicClock().now();
  Explanation explanation = explain(**loaded, *peer, *head, now);
  if (!options.admin.url.empty()) {
    int code = succeeded;
    const auto overrides = live_overrides(options.admin, explanation, **loaded, now, code);
    if (!overrides) return code;
    explanation = explain(**loaded, *peer, *head, now, *overrides);
  }
  std::cout << (options.json ? to_json(explanation) + '\n' : to_text(explanation));
  return succeeded;
}

}  // namespace

void add_explain(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("explain", "Show what a configuration does with one request");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("--config,-c", options->file, "The configuration")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("URL", options->request.url, "The URL that the client requests")
      ->type_name("")
      ->required();
  command->add_option("--method,-X", options->request.method, "The method of the request")
      ->type_name("METHOD")
      ->capture_default_str();
  command->add_option("--peer", options->peer, "The address that the connection comes from")
      ->type_name("IP")
      ->capture_default_str();
  command
      ->add_option("--header,-H", options->request.fields,
                   "A field of the request; may be given several times")
      ->type_name("'NAME: VALUE'")
      ->allow_extra_args(false);
  add_admin_target(*command, options->admin,
                   "Also read the overrides of a running instance: http://HOST:PORT or unix:/path");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Shows the route and why earlier ones do not match, each limit with its key, cost and\n"
      "numbers, and the answer of a store in which nothing is used yet. Charges nothing, and\n"
      "opens a connection only with --admin. The path is taken as written. Keys are shown as\n"
      "their keyed hash. A number that comes from a variable or a file is shown as (from the\n"
      "environment), which is a string in --json. Example:\n"
      "  weir explain -c weir.yaml -H 'X-Api-Key: abc' 'https://api.example.com/v1/search?q=a'");
  command->callback([&chosen, options] { chosen = [options] { return run_explain(*options); }; });
}

}  // namespace weir::cli
