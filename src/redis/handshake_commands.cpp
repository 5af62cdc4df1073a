#include "redis/handshake_commands.hpp"

#include <algorithm>
#include <array>

#include "redis/resp.hpp"

namespace weir::redis {
namespace {

using Step = HandshakeCommand::Step;

}  // namespace

std::string command_of(std::span<const std::string_view> words) {
  std::string out;
  append_array_header(out, words.size());
  for (const auto word : words)
    append_bulk(out, word);
  return out;
}

std::string_view to_string(Step step) {
  switch (step) {
    case Step::authenticate:
      return "AUTH";
    case Step::set_name:
      return "CLIENT SETNAME";
    case Step::select:
      return "SELECT";
    case Step::check_role:
      return "ROLE";
    case Step::load_script:
      break;
  }
  return "SCRIPT LOAD";
}

std::vector<HandshakeCommand> handshake_of(const options::Redis& options,
                                           std::span<const std::string> scripts) {
  std::vector<HandshakeCommand> commands;
  const auto add = [&commands](Step step, std::initializer_list<std::string_view> words) {
    commands.push_back({.step = step, .text = command_of(words)});
  };
  if (!options.user.empty())
    add(Step::authenticate, {"AUTH", options.user, options.password.reveal()});
  else if (!options.password.empty())
    add(Step::authenticate, {"AUTH", options.password.reveal()});
  add(Step::set_name, {"CLIENT", "SETNAME", "weir"});
  if (options.database != 0) add(Step::select, {"SELECT", std::to_string(options.database)});
  if (options.topology == options::RedisTopology::sentinel) add(Step::check_role, {"ROLE"});
  for (const auto& script : scripts)
    commands.push_back({.step = Step::load_script, .text = load_command(script)});
  return commands;
}

std::string load_command(std::string_view script) {
  return command_of(std::array<std::string_view, 3>{"SCRIPT", "LOAD", script});
}

bool is_sha(std::string_view text) {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string as_eval(std::string_view evalsha, std::string_view script) {
  constexpr std::string_view by_sha = "$7\r\nEVALSHA\r\n$40\r\n";
  const auto named_at = evalsha.find(by_sha);
  std::string out(evalsha.substr(0, named_at));
  append_bulk(out, "EVAL");
  append_bulk(out, script);
  out += evalsha.substr(named_at + by_sha.size() + 40 + 2);
  return out;
}

}  // namespace weir::redis
