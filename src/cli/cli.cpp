#include "cli/cli.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iostream>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace weir::cli {
namespace {

constexpr auto description = "Weir, a rate-limiting reverse proxy.";
constexpr auto footer =
    "Exit codes: 0 success, 1 failure while running, 2 wrong usage or configuration.\n"
    "`weir COMMAND --help` shows the options of a command.";

void add_version(CLI::App& root, Action& chosen) {
  const auto print = [] {
    std::cout << "weir " WEIR_VERSION "\n";
    return succeeded;
  };
  root.add_subcommand("version", "Print the version")->callback([&chosen, print] {
    chosen = print;
  });
}

void describe(CLI::App& root, Action& chosen) {
  root.require_subcommand(1);
  root.set_version_flag("--version", "weir " WEIR_VERSION, "Print the version");
  root.get_formatter()->column_width(34);
  root.footer(footer);
  add_serve(root, chosen);
  add_proxy(root, chosen);
  add_check(root, chosen);
  add_explain(root, chosen);
  add_replay(root, chosen);
  add_test(root, chosen);
  add_hash(root, chosen);
  add_health(root, chosen);
  add_import(root, chosen);
  add_limits(root, chosen);
  add_reload(root, chosen);
  add_top(root, chosen);
  add_version(root, chosen);
  add_help(root, chosen);
}

/// The --help command for the command that was given, for the hint after wrong usage.
std::string help_command(const CLI::App& root) {
  const auto given = root.get_subcommands();
  return given.empty() ? "weir --help" : "weir " + given.front()->get_name() + " --help";
}

/// Describes wrong usage. CLI11 reports a missing argument before an unknown one; the unknown one
/// is the better hint.
std::string what_is_wrong(const CLI::App& root, const CLI::ParseError& error) {
  const auto left = root.remaining(true);
  const auto unknown =
      std::find_if(left.begin(), left.end(), [](const auto& one) { return one != "--"; });
  // The value of an option, or the rest of a URL, may be a secret.
  if (unknown == left.end()) {
    constexpr std::string_view not_converted = "Could not convert: ";  // and `NAME = VALUE`
    std::string what = error.what();
    if (!what.starts_with(not_converted)) return what;
    what.erase(0, not_converted.size());
    return what.substr(0, what.find(" = ")) + ": expected a whole number";
  }
  const bool is_command = root.get_subcommands().empty() && !unknown->starts_with('-');
  const bool is_short = unknown->starts_with('-') && !unknown->starts_with("--");
  return (is_command ? "unknown command \"" : "unexpected argument \"") +
         unknown->substr(0, is_short ? 2 : unknown->find_first_of("=:")) + "\"";
}

/// --help and --version arrive as errors with code 0; all other codes of the parser become
/// `refused`.
int report(const CLI::App& root, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    root.exit(error, std::cout, std::cerr);
    return succeeded;
  }
  std::cerr << "weir: " << what_is_wrong(root, error) << "\nTry `" << help_command(root) << "`.\n";
  return refused;
}

int run_command(int argc, char** argv) {
  CLI::App root(description, "weir");
  Action chosen;
  describe(root, chosen);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report(root, error);
  }
  try {
    return chosen();
  } catch (const std::exception& error) {
    std::cerr << "weir: " << error.what() << '\n';
    return failed;
  }
}

/// The exit code of a command that ended with `code`, once its output is written. A command that
/// succeeded fails if its output is lost: a full disk must not look like an empty result.
int written_result(int code) {
  errno = 0;
  std::cout.flush();
  if (std::cout.good()) return code;
  const int error = errno;  // 0 if an earlier write failed
  std::cerr << "weir: cannot write to standard output";
  if (error != 0) std::cerr << ": " << std::generic_category().message(error);
  std::cerr << '\n';
  return code == succeeded ? failed : code;
}

}  // namespace

void print_diagnostics(std::ostream& out, const std::string& file,
                       std::span<const config::Diagnostic> diagnostics, std::string_view label) {
  for (const auto& diagnostic : diagnostics) {
    out << file << ':';
    if (diagnostic.line > 0) out << diagnostic.line << ':' << diagnostic.column << ':';
    out << ' ' << label;
    if (!diagnostic.key_path.empty()) out << diagnostic.key_path << ": ";
    out << diagnostic.message << '\n';
  }
}

int refuse(std::string_view command, std::string_view reason) {
  std::cerr << "weir " << command << ": " << reason << '\n';
  return refused;
}

int refuse_usage(std::string_view command, std::string_view reason) {
  refuse(command, reason);
  return advise_help(command);
}

int advise_help(std::string_view command) {
  std::cerr << "Try `weir " << command << " --help`.\n";
  return refused;
}

int run(int argc, char** argv) {
  return written_result(run_command(argc, argv));
}

}  // namespace weir::cli
