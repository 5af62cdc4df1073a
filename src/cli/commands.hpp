// Each command describes itself to the parser, and says what to run should it be the one chosen.
// One file a command.
#pragma once

#include <functional>

#include <CLI/App.hpp>

namespace weir::cli {

/// What the chosen command does; its result is the exit code.
using Action = std::function<int()>;

void add_serve(CLI::App& root, Action& chosen);
void add_proxy(CLI::App& root, Action& chosen);
void add_check(CLI::App& root, Action& chosen);
void add_explain(CLI::App& root, Action& chosen);
void add_health(CLI::App& root, Action& chosen);
void add_version(CLI::App& root, Action& chosen);

/// Commands that have a name but no deeds: they say so.
void add_unsupported(CLI::App& root, Action& chosen);

}  // namespace weir::cli
