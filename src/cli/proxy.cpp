#include <iostream>
#include <memory>
#include <string>

#include "app/server.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/proxy_configuration.hpp"

namespace weir::cli {
namespace {

/// Refuses an empty value, such as that of a variable that is not set: it must not count as an
/// option that is not given.
std::string refuse_empty(const std::string& value) {
  return value.empty() ? "it is empty: give it a value, or leave the option out" : "";
}

int proxy(const ProxyFlags& flags) {
  const auto yaml = proxy_configuration(flags);
  if (!yaml) return refuse_usage("proxy", yaml.error().message);
  const app::Source source = app::text_source("weir proxy", *yaml);
  const auto loaded = source.load(config::for_ever, nullptr);
  if (!loaded) {
    for (const auto& diagnostic : loaded.error()) {
      std::cerr << "weir proxy: " << flag_of(diagnostic) << ": " << diagnostic.message << '\n';
    }
    return advise_help("proxy");
  }
  for (const auto& warning : loaded->config->presentation.warnings) {
    std::cerr << "weir proxy: warning: " << flag_of(warning) << ": " << warning.message << '\n';
  }
  return app::serve(source, *loaded);
}

}  // namespace

void add_proxy(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("proxy", "Run without a file: one upstream, one policy");
  const auto flags = std::make_shared<ProxyFlags>();
  command->add_option("--to", flags->to, "The upstream, such as http://127.0.0.1:3000")
      ->required()
      ->type_name("URL");
  command->add_option("--limit", flags->limit, "The rate of each key, such as 100/1m or 5/s")
      ->required()
      ->type_name("RATE");
  command->add_option("--burst", flags->burst, "Usable at once; default: the rate's count")
      ->type_name("N")
      ->check(refuse_empty);
  command->add_option("--key", flags->key, "client_address, header:NAME, query:NAME or cookie:NAME")
      ->type_name("KEY")
      ->capture_default_str();
  command->add_option("--listen", flags->listen, "HOST:PORT or unix:PATH")
      ->type_name("ADDR")
      ->capture_default_str();
  command
      ->add_option("--admin", flags->admin,
                   "Serve the admin endpoints at HOST:PORT or unix:PATH; default: off")
      ->type_name("ADDR")
      ->check(refuse_empty);
  command
      ->add_option(
          "--redis", flags->redis,
          "Share the limits in Redis: redis://HOST:PORT, or file:PATH to a file with the URL")
      ->type_name("URL")
      ->check(refuse_empty);
  command->footer(
      "A request without the header, parameter or cookie of --key is limited by its client "
      "address.\n"
      "Instances that share a Redis need the same WEIR_IDENTITY_SECRET in their environment.\n"
      "Example: weir proxy --to http://127.0.0.1:3000 --limit 10/s --burst 20");
  command->callback([&chosen, flags] { chosen = [flags] { return proxy(*flags); }; });
}

}  // namespace weir::cli
