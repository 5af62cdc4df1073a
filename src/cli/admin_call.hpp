// Calls of commands to the admin server of a running instance.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

#include "cli/admin_client.hpp"
#include "cli/admin_url.hpp"

namespace weir::cli {

/// Options that name the admin server and its token.
struct AdminTarget {
  std::string url{default_admin_url};
  std::string token_file;  ///< empty: the token is read from WEIR_ADMIN_TOKEN
};

/// Adds --admin and --token-file to a command. `help` describes --admin.
CLI::Option& add_admin_target(CLI::App& command, AdminTarget& target, const std::string& help);

/// Sends a request and returns the answer, if its status is below 300. Otherwise prints the reason
/// on standard error, behind the name of the command, and sets the exit code.
std::optional<AdminReply> ask_admin_of(const AdminTarget& target, std::string_view command,
                                       AdminQuestion question, int& code);

/// Prints on standard error that an answer is not one of Weir, and returns the exit code.
int reject_answer(const AdminTarget& target, std::string_view command);

}  // namespace weir::cli
