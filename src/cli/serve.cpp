#include <iostream>
#include <string>
#include <string_view>

#include "app/process.hpp"
#include "app/server.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/ratelimit_directory.hpp"
#include "cli/ratelimit_environment.hpp"

namespace weir::cli {
namespace {

struct ServeOptions {
  std::string file = "/etc/weir/weir.yaml";
  bool watch = false;
  bool is_ratelimit_environment = false;
};

void print_problem(std::string_view variable, std::string_view message) {
  std::cerr << "weir serve: " << variable << ": " << message << '\n';
}

/// Runs as envoyproxy/ratelimit does with this environment.
int serve_ratelimit_environment() {
  app::hold_reload_signals();
  const auto made = ratelimit_environment(config::process_environment(".").variable);
  if (!made) {
    for (const auto& diagnostic : made.error())
      print_problem(diagnostic.key_path, diagnostic.message);
    return refused;
  }
  for (const std::string& warning : made->warnings)
    print_problem("warning", warning);
  if (const std::string unread = unread_files(*made); !unread.empty())
    print_problem("warning", unread);
  if (const std::string missing = missing_files(*made); !missing.empty()) {
    print_problem("RUNTIME_ROOT", missing);
    return refused;
  }
  const app::Source source = app::text_source("weir serve --ratelimit-env", made->yaml);
  const auto loaded = source.load(config::for_ever, nullptr);
  if (!loaded) {
    for (const auto& diagnostic : loaded.error())
      print_problem(variable_of(diagnostic), diagnostic.message);
    return refused;
  }
  for (const auto& warning : loaded->config->presentation.warnings)
    print_problem("warning", std::string(variable_of(warning)) + ": " + warning.message);
  return app::serve(source, *loaded);
}

int serve(const ServeOptions& options) {
  app::hold_reload_signals();
  const std::string& file = options.file;
  app::Source source = app::file_source(file);
  if (options.watch) source.watched = file;
  const auto loaded = source.load(config::for_ever, nullptr);
  if (!loaded) {
    print_diagnostics(std::cerr, file, loaded.error());
    return refused;
  }
  print_diagnostics(std::cerr, file, loaded->config->presentation.warnings, "warning: ");
  return app::serve(source, *loaded);
}

}  // namespace

void add_serve(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("serve", "Run the proxy in the foreground");
  const auto options = std::make_shared<ServeOptions>();
  auto* const named = command->add_option("--config,-c", options->file, "The configuration")
                          ->type_name("FILE")
                          ->capture_default_str();
  command->add_option("FILE", options->file, "The configuration, as with --config")
      ->type_name("")
      ->excludes(named);
  command->add_flag("--watch", options->watch,
                    "Reload when the file, or a link on the way to it, changes");
  command
      ->add_flag("--ratelimit-env", options->is_ratelimit_environment,
                 "Run the rate limit service with the environment of envoyproxy/ratelimit")
      ->excludes("--config")
      ->excludes("FILE")
      ->excludes("--watch");
  command->footer(
      "After SIGTERM, SIGINT or SIGQUIT Weir accepts connections for another shutdown_delay, then\n"
      "finishes requests in flight, for at most shutdown_timeout, and exits. A second signal ends "
      "it\n"
      "at once. SIGUSR1 reopens the access log, SIGHUP reloads the configuration, SIGUSR2 is "
      "ignored.");
  command->callback([&chosen, options] {
    chosen = [options] {
      return options->is_ratelimit_environment ? serve_ratelimit_environment() : serve(*options);
    };
  });
}

}  // namespace weir::cli
