// Calls of commands to the admin server of a running instance.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "base/endpoint.hpp"
#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "fetch/request.hpp"

namespace weir::cli {

/// The URL that is used without --admin.
inline constexpr std::string_view default_admin_url = "http://127.0.0.1:9090";

/// Parses `http://HOST:PORT` or `unix:/path`. A slash at the end is allowed, a path is not.
/// `token_advice` ends the problem of a URL with a user or a password: where the command reads the
/// token from, if it sends one.
Result<Endpoint> parse_admin_url(std::string_view text, std::string_view token_advice = {});

/// Returns how to name another admin server, if none could be reached at `url`; begins with "; ",
/// or is empty.
std::string advice_on_unreached(std::string_view url);

struct AdminQuestion {
  std::string method = "GET";
  std::string target;
  std::string body{};       ///< JSON; empty: none
  int expected_status = 0;  ///< returned like an answer below 300, such as 422
  /// Called every few milliseconds while the answer is awaited; true ends the request. Empty: it is
  /// awaited until the timeout.
  std::function<bool()> gives_up{};
};

using AdminReply = fetch::Answer;

/// Sends the request and waits for the answer, whatever its status. A problem states why there is
/// none; it does not contain the token.
Result<AdminReply> ask_admin(const Endpoint& address, AdminQuestion question, Secret token,
                             Duration timeout);

/// Options that name the admin server and its token.
struct AdminTarget {
  std::string url{default_admin_url};
  std::string token_file;  ///< empty: the token is read from WEIR_ADMIN_TOKEN
};

/// Adds --admin, or an option of another name, and --token-file to a command. `help` describes the
/// first.
CLI::Option& add_admin_target(CLI::App& command, AdminTarget& target, const std::string& help,
                              const std::string& option = "--admin");

/// Encodes every byte of a value for a query.
std::string percent_encoded(std::string_view text);

/// Sends a request and returns the answer, if its status is below 300 or expected. Otherwise
/// returns the reason and sets the exit code.
Result<AdminReply> call_admin(const AdminTarget& target, AdminQuestion question, int& code);

/// The same, and prints the reason on standard error, after the name of the command.
std::optional<AdminReply> ask_admin_of(const AdminTarget& target, std::string_view command,
                                       AdminQuestion question, int& code);

/// Returns the detail of a problem document, else the status.
std::string problem_in(const AdminReply& reply);

/// The problem of an answer that is not one of Weir.
Problem foreign_answer(const AdminTarget& target);

/// Prints it on standard error, after the name of the command, and returns the exit code.
int reject_answer(const AdminTarget& target, std::string_view command);

/// A list of overrides. Each is an object with a `hash`; the values of all members are text,
/// numbers, booleans, or lists of text.
struct OverrideList {
  std::vector<nlohmann::ordered_json> entries;
  bool is_complete = true;
};

/// Reads the answer to GET. Empty: this is not an answer of Weir.
std::optional<OverrideList> read_override_list(std::string_view body);

/// Reads the answer to PUT: an override as in a list, with its `store`, and perhaps a `warning`:
/// why it has no effect. Empty: this is not an answer of Weir.
std::optional<nlohmann::ordered_json> read_stored_override(std::string_view body);

}  // namespace weir::cli
