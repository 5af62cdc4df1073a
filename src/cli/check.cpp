#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/descriptors.hpp"
#include "app/start_check.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/diagnostics.hpp"
#include "cli/probe.hpp"
#include "cli/route_summary.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

struct CheckOptions {
  std::string file;
  bool verbose = false;
  std::optional<std::string> probe{};
  std::optional<std::string> probe_field{};
};

constexpr std::string_view probe_bounds =
    "Found out with GET requests for this path alone. A probe sees no difference that changes no "
    "answer,\n"
    "and nothing of other paths and methods, of bodies and cookies, of what happens behind a "
    "login, or of\n"
    "a proxy that it does not pass through.\n";

int check_probe(const CheckOptions& options) {
  auto target = parse_probe_url(*options.probe);
  if (!target) {
    std::cerr << "weir check: --probe: " << target.error().message << '\n';
    return refused;
  }
  if (options.probe_field) {
    const auto field = parse_probe_field(*options.probe_field);
    if (!field) {
      std::cerr << "weir check: --probe-header: " << field.error().message << '\n';
      return refused;
    }
    target->field = *field;
  }
  const auto report = probe(*target, ask_over_tcp(*target));
  if (!report) {
    std::cerr << "weir check: --probe: " << report.error().message << '\n';
    return failed;
  }
  std::cout << "plain form: GET " << target->path << ": answered " << report->plain.status
            << (report->is_steady ? " with the same body each time\n"
                                  : " with another body each time, so only status codes count\n");
  for (const auto& finding : report->findings)
    std::cout << finding.form << ": " << finding.reading << "; " << finding.advice << '\n';
  std::cout << probe_bounds;
  return succeeded;
}

int check_file(const CheckOptions& options) {
  const auto loaded = config::load_file(options.file);
  if (!loaded) {
    print_diagnostics(std::cout, options.file, loaded.error());
    return refused;
  }
  const auto start = app::check_start(**loaded, app::raise_descriptor_limit());
  print_diagnostics(std::cerr, options.file, (*loaded)->warnings, "warning: ");
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
    print_routes(std::cout, **loaded);
  }
  return succeeded;
}

int check(const CheckOptions& options) {
  if (options.file.empty() && !options.probe) {
    std::cerr << "weir: FILE is required\nTry `weir check --help`.\n";
    return refused;
  }
  const int code = options.file.empty() ? succeeded : check_file(options);
  return code == succeeded && options.probe ? check_probe(options) : code;
}

}  // namespace

void add_check(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("check", "Validate a configuration");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->file, "The configuration")->type_name("");
  command->add_flag("--verbose,-v", options->verbose,
                    "Print what the store and every route resolve to");
  command
      ->add_option(
          "--probe", options->probe,
          "Find out how the service at this URL reads requests that can be read in two ways")
      ->type_name("URL");
  command
      ->add_option("--probe-header", options->probe_field,
                   "A field that changes the service's answer, to try look-alikes of its name")
      ->type_name("'NAME: VALUE'");
  command->footer(
      "Prints `FILE: ok`, or a line for each problem: `FILE:LINE:COLUMN: message`. Also tries "
      "what\n"
      "serve opens: run it as the same user, in the same place. Changes nothing.\n"
      "Warnings go to standard error and do not change the exit code.\n"
      "--probe sends about 20 GET requests; FILE may be left out then. Example:\n"
      "  weir check --probe 'http://127.0.0.1:3000/api/items?id=1'");
  command->callback([&chosen, options] { chosen = [options] { return check(*options); }; });
}

}  // namespace weir::cli
