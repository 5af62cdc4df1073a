// The commands, one file each. Each adds itself to the parser, and sets `chosen` to its action if
// it is the command given.
#pragma once

#include <functional>
#include <istream>
#include <string>

#include <CLI/App.hpp>

#include "base/result.hpp"

namespace weir::cli {

/// The action of a command; it returns the exit code.
using Action = std::function<int()>;

void add_serve(CLI::App& root, Action& chosen);
void add_proxy(CLI::App& root, Action& chosen);
void add_check(CLI::App& root, Action& chosen);
void add_explain(CLI::App& root, Action& chosen);
void add_hash(CLI::App& root, Action& chosen);
void add_health(CLI::App& root, Action& chosen);
void add_help(CLI::App& root, Action& chosen);
void add_import(CLI::App& root, Action& chosen);
void add_limits(CLI::App& root, Action& chosen);
void add_replay(CLI::App& root, Action& chosen);
void add_reload(CLI::App& root, Action& chosen);
void add_test(CLI::App& root, Action& chosen);
void add_top(CLI::App& root, Action& chosen);

/// Reads the only line of the input. A problem: it has none, or more than one. At a
/// terminal nothing is read after the line, because that would wait for it.
Result<std::string> read_one_line(std::istream& input, bool is_terminal);

}  // namespace weir::cli
