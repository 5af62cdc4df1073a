// What a new connection says before it is used: who we are and which database in one write, and
// when that is granted the scripts in another. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/options.hpp"

namespace weir::redis {

/// A command in RESP.
std::string command_of(std::span<const std::string_view> words);

struct HandshakeCommand {
  enum class Step : std::uint8_t { authenticate, set_name, select, load_script } step;
  std::string text;  ///< in RESP; holds the password where it authenticates
};

/// As an error names it: `AUTH`.
std::string_view to_string(HandshakeCommand::Step step);

/// The scripts come last, in their order.
std::vector<HandshakeCommand> handshake_of(const Options& options,
                                           std::span<const std::string> scripts);

/// For a script that the server has lost.
std::string load_command(std::string_view script);

/// The reply to SCRIPT LOAD: 40 hex digits.
bool is_sha(std::string_view text);

/// The question that `evalsha` (as append_question() wrote it, by SHA) asks, with the script's text
/// in place of its name.
std::string as_eval(std::string_view evalsha, std::string_view script);

}  // namespace weir::redis
