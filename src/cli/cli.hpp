// The command line: argv -> one command -> an exit code.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::cli {

/// Exit codes of every command.
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;   ///< while running
inline constexpr int refused = 2;  ///< wrong usage or configuration

/// Runs the command that argv names and returns its exit code. Results go to std::cout, errors to
/// std::cerr. A result that cannot be written is a failure.
int run(int argc, char** argv);

/// Prints a line for each: `FILE:LINE:COLUMN: LABELmessage`; LINE and COLUMN are left out for
/// problems of the whole file.
void print_diagnostics(std::ostream& out, const std::string& file,
                       std::span<const config::Diagnostic> diagnostics,
                       std::string_view label = {});

/// Prints the reason why a command is not carried out, and returns the exit code.
int refuse(std::string_view command, std::string_view reason);
/// The same for an argument that is wrong: the line after the reason names the command with help.
int refuse_usage(std::string_view command, std::string_view reason);
/// Prints that line alone, and returns the exit code.
int advise_help(std::string_view command);

}  // namespace weir::cli
