#include <iostream>
#include <memory>
#include <string>

#include "app/process.hpp"
#include "app/start_check.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/route_summary.hpp"
#include "cli/service_summary.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

struct CheckOptions {
  std::string file;
  bool verbose = false;
};

int check(const CheckOptions& options) {
  const auto loaded = config::load_file(options.file);
  if (!loaded) {
    print_diagnostics(std::cout, options.file, loaded.error());
    return refused;
  }
  const auto start = app::check_start(**loaded, app::raise_descriptor_limit());
  print_diagnostics(std::cerr, options.file, (*loaded)->presentation.warnings, "warning: ");
  print_diagnostics(std::cerr, options.file, start.warnings, "warning: ");
  if (!start.problems.empty()) {
    print_diagnostics(std::cout, options.file, start.problems);
    return refused;
  }
  std::cout << options.file << ": ok\n";
  if (options.verbose) {
    print_store(std::cout, **loaded);
    print_address_lists(std::cout, **loaded);
    print_plans(std::cout, **loaded);
    print_rate_limit_service(std::cout, **loaded);
    print_routes(std::cout, **loaded);
  }
  return succeeded;
}

}  // namespace

void add_check(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("check", "Validate a configuration");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->file, "The configuration")->type_name("")->required();
  command->add_flag("--verbose,-v", options->verbose,
                    "Print what the store and every route resolve to");
  command->footer(
      "Prints `FILE: ok`, or a line for each problem: `FILE:LINE:COLUMN: message`. Also tries "
      "what\n"
      "serve opens: run it as the same user, in the same place. Changes nothing.\n"
      "Warnings go to standard error and do not change the exit code.");
  command->callback([&chosen, options] { chosen = [options] { return check(*options); }; });
}

}  // namespace weir::cli
