// The commands that a new connection sends before it is used: AUTH, CLIENT SETNAME, SELECT and,
// with sentinels, ROLE in one write, and after their replies the scripts in another. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/redis.hpp"

namespace weir::redis {

/// A command in RESP.
std::string command_of(std::span<const std::string_view> words);

struct HandshakeCommand {
  enum class Step : std::uint8_t { authenticate, set_name, select, check_role, load_script } step;
  std::string text;  ///< in RESP; contains the password if the step is `authenticate`
};

/// The command's name for error texts: `AUTH`.
std::string_view to_string(HandshakeCommand::Step step);

/// All commands of the handshake. The scripts come last, in their order.
std::vector<HandshakeCommand> handshake_of(const options::Redis& options,
                                           std::span<const std::string> scripts);

/// SCRIPT LOAD for one script, outside the handshake.
std::string load_command(std::string_view script);

/// Whether the text is a reply to SCRIPT LOAD: 40 hex digits.
bool is_sha(std::string_view text);

/// Turns an EVALSHA command of append_question() into EVAL with the text of the script.
std::string as_eval(std::string_view evalsha, std::string_view script);

}  // namespace weir::redis
