#include <iostream>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {

void add_unsupported(CLI::App& root, Action& chosen) {
  for (const std::string name : {"replay", "top"}) {
    auto* const command = root.add_subcommand(name, "Not supported yet");
    command->group("");         // not in --help
    command->prefix_command();  // whatever follows is no usage error
    command->set_help_flag();
    command->callback([&chosen, name] {
      chosen = [name] {
        std::cerr << "weir " << name << ": not supported yet\n";
        return refused;
      };
    });
  }
}

}  // namespace weir::cli
