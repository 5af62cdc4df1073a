// `weir help [COMMAND]`: the same texts as --help.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {
namespace {

/// The command of that name below `app`; nullptr if there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto found =
      std::ranges::find_if(commands, [&](const CLI::App* one) { return one->get_name() == name; });
  return found == commands.end() ? nullptr : *found;
}

int help(const CLI::App& root, const std::vector<std::string>& names) {
  const CLI::App* command = &root;
  std::string whole_name = root.get_name();
  for (const std::string& name : names) {
    whole_name += ' ' + name;
    command = find_command(*command, name);
    if (command != nullptr) continue;
    std::cerr << "weir: unknown command \"" << name << "\"\nTry `weir --help`.\n";
    return refused;
  }
  // CLI::App::help() would show the help of the subcommand that was given: of this one.
  std::cout << command->get_formatter()->make_help(command, whole_name, CLI::AppFormatMode::Normal);
  return succeeded;
}

}  // namespace

void add_help(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("help", "Show the help of Weir, or of a command");
  const auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *names, "The command, such as serve")->type_name("");
  command->callback(
      [&chosen, &root, names] { chosen = [&root, names] { return help(root, *names); }; });
}

}  // namespace weir::cli
