#include <iostream>

#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {

void add_version(CLI::App& root, Action& chosen) {
  const auto print = [] {
    std::cout << "weir " WEIR_VERSION "\n";
    return succeeded;
  };
  root.add_subcommand("version", "Print the version")->callback([&chosen, print] {
    chosen = print;
  });
}

}  // namespace weir::cli
