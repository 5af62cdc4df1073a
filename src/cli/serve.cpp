#include <iostream>
#include <string>

#include "app/server.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/diagnostics.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

int serve(const std::string& file) {
  const auto loaded = config::load_file(file);
  if (!loaded) {
    print_diagnostics(std::cerr, file, loaded.error());
    return refused;
  }
  print_diagnostics(std::cerr, file, (*loaded)->warnings, "warning: ");
  return app::serve(*loaded);
}

}  // namespace

void add_serve(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("serve", "Run the proxy in the foreground");
  const auto file = std::make_shared<std::string>("/etc/weir/weir.yaml");
  command->add_option("--config,-c", *file, "The configuration")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(
      "Signals: SIGTERM and SIGINT finish what is in flight, at most shutdown_timeout, and exit;\n"
      "a second one exits at once. SIGUSR1 reopens the access log, SIGHUP reads certificates "
      "again.");
  command->callback([&chosen, file] { chosen = [file] { return serve(*file); }; });
}

}  // namespace weir::cli
