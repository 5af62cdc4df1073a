// `weir test`: scenarios against the configuration that they name.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/explanation.hpp"
#include "scenario/report.hpp"

namespace weir::cli {
namespace {

struct TestOptions {
  std::vector<std::string> files;
  std::string junit;
};

std::vector<KnownOverrides> known(std::span<const scenario::OverridePut> overrides) {
  std::vector<KnownOverrides> known;
  for (const auto& [identity, entry] : overrides) {
    auto found = std::ranges::find(known, identity, &KnownOverrides::identity);
    if (found == known.end())
      found = known.insert(known.end(), {.identity = identity, .entries = {}});
    found->entries.push_back(entry);
  }
  return known;
}

/// What `weir explain` prints, with the state that the request met.
std::string explain_failed(const scenario::FailedRequest& failed) {
  return to_text(explain(failed.config, failed.instance,
                         {.request = failed.request, .trace = failed.trace},
                         known(failed.overrides)));
}

bool write_junit(const std::string& file, std::span<const scenario::FileResult> results) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << scenario::to_junit(results) << std::flush;
  if (out) return true;
  std::cerr << "weir test: --junit: cannot write the file " << file << '\n';
  return false;
}

int run_tests(const TestOptions& options) {
  int code = succeeded;
  // The results refer to their scenarios.
  std::vector<std::unique_ptr<scenario::Scenario>> scenarios;
  std::vector<scenario::FileResult> results;
  for (const std::string& file : options.files) {
    scenario::FileResult& result = results.emplace_back(scenario::FileResult{.file = file});
    auto read = scenario::read_file(file);
    if (!read) {
      for (const auto& [name, problems] : read.error())
        print_diagnostics(std::cerr, name, problems);
      result.problems = std::move(read).error();
      code = refused;
      continue;
    }
    scenarios.push_back(std::make_unique<scenario::Scenario>(*std::move(read)));
    result.steps = scenario::run(*scenarios.back(), explain_failed);
    std::cout << scenario::to_text(result);
    if (!result.is_ok() && code == succeeded) code = failed;
  }
  if (!options.junit.empty() && !write_junit(options.junit, results) && code == succeeded)
    code = failed;
  return code;
}

}  // namespace

void add_test(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("test", "Test the limits of a configuration with scenarios");
  const auto options = std::make_shared<TestOptions>();
  command->add_option("FILE", options->files, "The scenarios")->type_name("")->required();
  command->add_option("--junit", options->junit, "Also write the results as JUnit XML")
      ->type_name("FILE");
  command->footer(
      "A scenario has requests at instants of a virtual clock, what the upstream answers, and "
      "what\n"
      "is expected:\n"
      "  config: weir.yaml\n"
      "  steps:\n"
      "    - {request: {url: \"http://api.example.com/\"}, repeat: 20, expect: {status: 200}}\n"
      "    - {request: {url: \"http://api.example.com/\"}, expect: {status: 429, retry_after: 1}}\n"
      "The rules are those of serve with the memory store. Opens no connection and takes no time.\n"
      "Prints `FILE: N steps ok`, or each failed step and what explain prints for its request.\n"
      "A step without `expect` only uses its quota; at least one step must expect something.\n"
      "Exit code 1: a step failed; 2: a scenario or a configuration is wrong.");
  command->callback([&chosen, options] { chosen = [options] { return run_tests(*options); }; });
}

}  // namespace weir::cli
