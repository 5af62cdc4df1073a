// The command line: argv -> one command -> an exit code.
#pragma once

namespace weir::cli {

/// Exit codes of every command.
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;   ///< while running
inline constexpr int refused = 2;  ///< wrong usage or configuration

/// Runs the command that argv names and returns its exit code. Results go to std::cout, errors to
/// std::cerr. A result that cannot be written is a failure.
int run(int argc, char** argv);

}  // namespace weir::cli
