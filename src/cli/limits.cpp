// `weir limits`: the state and the overrides of one key, through the admin server of a running
// instance.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "app/override_members.hpp"
#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;
using Form = app::OverrideMember::Form;
using Role = app::OverrideMember::Role;

/// The arguments of a command.
struct OverrideArguments : AdminTarget {
  ordered_json members = ordered_json::object();  ///< of the override, as app::override_members()
  bool is_removal = false;
  bool json = false;
};

/// Replaces the key `-` by the line of standard input: arguments of a command are visible to other
/// users of the machine.
Result<void> read_key(OverrideArguments& arguments) {
  if (arguments.members.value("key", "") != "-") return {};
  auto line = read_one_line(std::cin, ::isatty(STDIN_FILENO) != 0);
  if (!line) return Problem{"--key: " + line.error().message};
  arguments.members["key"] = std::move(*line);
  return {};
}

std::string target_of(std::string target, const ordered_json& members) {
  char separator = '?';
  for (const auto& [name, value] : members.items()) {
    target += std::exchange(separator, '&');
    target.append(name).append("=").append(percent_encoded(value.get_ref<const std::string&>()));
  }
  return target;
}

std::optional<AdminReply> ask(const OverrideArguments& arguments, AdminQuestion question,
                              int& code) {
  return ask_admin_of(arguments, "limits", std::move(question), code);
}

/// Replaces control characters, with which a writer to Redis could forge lines.
std::string reply_text(const ordered_json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace_if(text.begin(), text.end(), http::is_control, '?');
  return text;
}

/// Members of an answer that a line has elsewhere, or not at all.
constexpr std::array<std::string_view, 5> not_listed{"hash", "policy", "identity", "store",
                                                     "warning"};

/// One line: `hash:0123..., policy per_user: rate 6000/1m, note launch`.
std::string line_of(const ordered_json& entry) {
  std::string line = "hash:" + reply_text(entry["hash"]);
  if (entry.contains("policy")) {
    line += ", policy " + reply_text(entry["policy"]);
  } else if (!entry.contains("malformed")) {  // it may have had one
    line += ", all policies";
  }
  std::string_view separator = ": ";
  for (const auto& [name, value] : entry.items()) {
    if (std::ranges::find(not_listed, name) != not_listed.end()) continue;
    line.append(separator).append(name);
    if (!value.is_boolean()) line.append(" ").append(reply_text(value));
    separator = ", ";
  }
  return line;
}

std::string text_of(const ordered_json& members) {
  return members.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Returns what is wrong whatever the instance has, and what to write instead.
std::string usage_problem(const OverrideArguments& arguments) {
  if (!arguments.is_removal) {
    const auto read = app::read_override_members(text_of(arguments.members),
                                                 {.prefix = "--", .other_kinds = ", --delete"});
    return read ? std::string() : read.error().message;
  }
  std::string others;
  for (const auto& member : app::override_members()) {
    if (member.role == Role::owner || !arguments.members.contains(member.name)) continue;
    others.append(others.empty() ? "--" : ", --").append(member.name);
  }
  return others.empty() ? others
                        : "--delete and " + others +
                              " exclude each other: an override is either deleted or put";
}

int put_override(const OverrideArguments& arguments) {
  int code = succeeded;
  const auto reply =
      ask(arguments,
          {.method = "PUT", .target = "/v1/overrides", .body = text_of(arguments.members)}, code);
  if (!reply) return code;
  const auto stored = read_stored_override(reply->body);
  if (!stored) return reject_answer(arguments, "limits");
  std::cout << line_of(*stored) << '\n';
  if (stored->contains("warning"))
    std::cerr << "weir limits: " << reply_text(stored->at("warning")) << '\n';
  if (stored->at("store") == "memory")
    std::cerr << "weir limits: kept in memory: this instance loses it when it restarts, and others "
                 "do not have it; store.type: redis keeps and shares overrides\n";
  return succeeded;
}

int remove_override(const OverrideArguments& arguments) {
  int code = succeeded;
  const auto reply =
      ask(arguments, {.method = "DELETE", .target = target_of("/v1/overrides", arguments.members)},
          code);
  if (!reply) return code;
  if (reply->status != 204) return reject_answer(arguments, "limits");
  // A key that is no hash may be a secret.
  const auto key = arguments.members["key"].get<std::string>();
  std::cout << (key.starts_with("hash:") ? key : "the key") << ", "
            << (arguments.members.contains("policy")
                    ? "policy " + arguments.members["policy"].get<std::string>()
                    : "all policies")
            << ": deleted\n";
  return succeeded;
}

int change_override(OverrideArguments& arguments) {
  if (const std::string problem = usage_problem(arguments); !problem.empty())
    return refuse_usage("limits", problem);
  if (const auto key = read_key(arguments); !key)
    return refuse_usage("limits", key.error().message);
  return arguments.is_removal ? remove_override(arguments) : put_override(arguments);
}

int list_overrides(OverrideArguments& arguments) {
  int code = succeeded;
  if (const auto key = read_key(arguments); !key)
    return refuse_usage("limits", key.error().message);
  const auto reply =
      ask(arguments, {.target = target_of("/v1/overrides", arguments.members)}, code);
  if (!reply) return code;
  const auto list = read_override_list(reply->body);
  if (!list) return reject_answer(arguments, "limits");
  if (arguments.json) {
    std::cout << reply->body;
    return succeeded;
  }
  for (const auto& entry : list->entries)
    std::cout << line_of(entry) << '\n';
  if (list->entries.empty()) std::cout << "no overrides\n";
  if (!list->is_complete)
    std::cerr << "weir limits: the list is not complete; name a key to see its overrides\n";
  return succeeded;
}

/// One line: `hash:0123..., policy per_user (gcra): 5 of 20 left, all of it again after 1.5 s`.
std::string line_of_limit(const ordered_json& limit) {
  const ordered_json& numbers = limit.at("numbers");
  std::string line = "hash:" + reply_text(limit.at("hash")) + ", policy " +
                     reply_text(limit.at("policy")) + " (" + reply_text(limit.at("algorithm")) +
                     "): ";
  const std::string from = reply_text(numbers.at("from"));
  const std::string source = (from == "override" ? "an " : "the ") + from;
  if (from == "file") return line + "denied, requests_per_unit is 0";
  if (numbers.contains("denied")) return line + "denied by " + source;
  if (numbers.contains("unlimited")) return line + "unlimited by " + source;
  line += reply_text(limit.at("remaining")) + " of " + reply_text(numbers.at("limit")) + " left";
  if (from != "policy")
    line +=
        " (limit of " + source + (from == "plan" ? ' ' + reply_text(limit.at("plan")) : "") + ")";
  if (limit.at("held") != 0) line += ", " + reply_text(limit.at("held")) + " held";
  if (!limit.at("retry_after").is_null())
    line += ", the next after " + reply_text(limit.at("retry_after")) + " s";
  if (limit.at("reset_after") != 0)
    line += ", all of it again after " + reply_text(limit.at("reset_after")) + " s";
  return line;
}

/// The value of an attribute. A client chooses it, so it is a JSON string in ASCII if it has a
/// control character, a mark of the direction of text, or what separates attributes.
std::string attribute_text(const ordered_json& value) {
  const auto text = value.get<std::string>();
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != ',' && c != '"'; };
  if (std::ranges::all_of(text, is_plain)) return text;
  return value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

/// The entries of an attributed window with the same attributes as one line: `  12 units: method
/// GET, header:user-agent curl/8.0`. Those with the most units come first.
std::string lines_of_entries(const ordered_json& limit) {
  constexpr std::size_t most_lines = 20;
  if (!limit.contains("entries")) return {};
  std::map<std::string, std::int64_t> units;
  for (const ordered_json& entry : limit.at("entries")) {
    std::string attributes;
    for (const auto& [name, value] : entry.at("attributes").items())
      attributes += (attributes.empty() ? "" : ", ") + name + ' ' + attribute_text(value);
    units[attributes] += entry.at("units").get<std::int64_t>();
  }
  std::vector<std::pair<std::string, std::int64_t>> groups(units.begin(), units.end());
  std::ranges::stable_sort(groups, std::greater(), &std::pair<std::string, std::int64_t>::second);
  std::string lines;
  for (std::size_t i = 0; i < std::min(groups.size(), most_lines); ++i)
    lines += "\n  " + std::to_string(groups[i].second) + " units: " + groups[i].first;
  if (groups.size() > most_lines)
    lines += "\n  and " + std::to_string(groups.size() - most_lines) + " more; --json lists them";
  if (limit.at("entries_complete") == false) lines += "\n  older entries are not shown";
  return lines;
}

int show_limit(OverrideArguments& arguments) {
  int code = succeeded;
  if (const auto key = read_key(arguments); !key)
    return refuse_usage("limits", key.error().message);
  const auto reply = ask(arguments, {.target = target_of("/v1/limits", arguments.members)}, code);
  if (!reply) return code;
  if (arguments.json) {
    std::cout << reply->body;
    return succeeded;
  }
  try {
    const auto limit = ordered_json::parse(reply->body);
    std::cout << line_of_limit(limit) + lines_of_entries(limit) << '\n';
  } catch (const ordered_json::exception&) {
    return reject_answer(arguments, "limits");
  }
  return succeeded;
}

int reset_limit(OverrideArguments& arguments) {
  int code = succeeded;
  if (const auto key = read_key(arguments); !key)
    return refuse_usage("limits", key.error().message);
  const auto reply = ask(
      arguments, {.method = "DELETE", .target = target_of("/v1/limits", arguments.members)}, code);
  if (!reply) return code;
  if (reply->status != 204) return reject_answer(arguments, "limits");
  std::cout << "reset: the next request of the key finds the whole quota\n";
  return succeeded;
}

/// An empty value is a variable of the shell that is not set, and not the absence of the option.
std::string reject_empty(const std::string& text) {
  return text.empty() ? "the value is empty; leave the option out" : "";
}

/// Adds the option of a member, which writes its value into `to`.
void add_member(CLI::App& command, const app::OverrideMember& member, ordered_json& to) {
  const std::string name(member.name);
  const std::string option = "--" + name;
  const std::string help(member.help);
  const std::string argument(member.argument);
  const auto set = [&to, name](const auto& value) { to[name] = value; };
  switch (member.form) {
    case Form::flag:
      command.add_flag_callback(
          option, [set] { set(true); }, help);
      break;
    case Form::count:
      command.add_option_function<std::int64_t>(option, set, help)->type_name(argument);
      break;
    case Form::list:
      command.add_option_function<std::vector<std::string>>(option, set, help)
          ->type_name(argument)
          ->delimiter(',')
          ->allow_extra_args(false);
      break;
    case Form::text:
      command.add_option_function<std::string>(option, set, help)
          ->check(reject_empty)
          ->type_name(argument);
  }
}

/// Adds the options of the members for which `includes` returns true, and those of the server.
template <class Includes>
void add_members(CLI::App& command, OverrideArguments& to, Includes&& includes) {
  for (const auto& member : app::override_members()) {
    if (includes(member)) add_member(command, member, to.members);
  }
  add_admin_target(command, to, "The admin server: http://HOST:PORT or unix:/path")
      .capture_default_str();
}

void add_override(CLI::App& limits, Action& chosen) {
  auto* const command = limits.add_subcommand("override", "Put or delete an override of one key");
  const auto arguments = std::make_shared<OverrideArguments>();
  add_members(*command, *arguments, [](const auto&) { return true; });
  command->get_option("--key")->required();
  command->add_flag("--delete", arguments->is_removal, "Delete the override");
  command->footer(
      "Replaces the override that the key has for the policy. Numbers need --policy; --plan,\n"
      "--unlimited and --deny apply to all policies without it. The token of the admin server is\n"
      "read from --token-file or WEIR_ADMIN_TOKEN. Example:\n"
      "  weir limits override --key abc --policy per_user --rate 6000/1m "
      "--until 2026-12-01T00:00:00Z");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return change_override(*arguments); }; });
}

void add_overrides(CLI::App& limits, Action& chosen) {
  auto* const command =
      limits.add_subcommand("overrides", "List the overrides of all keys, or of one");
  const auto arguments = std::make_shared<OverrideArguments>();
  add_members(*command, *arguments, [](const auto& member) { return member.role == Role::owner; });
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer("Shows the keyed hash of each key, as the access log does, and never a key.");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return list_overrides(*arguments); }; });
}

const app::OverrideMember& member_named(std::string_view name) {
  return *std::ranges::find(app::override_members(), name, &app::OverrideMember::name);
}

void add_show(CLI::App& limits, Action& chosen) {
  auto* const command = limits.add_subcommand("show", "Show what one key has left");
  const auto arguments = std::make_shared<OverrideArguments>();
  add_members(*command, *arguments, [](const auto& member) { return member.role == Role::owner; });
  command->get_option("--key")->required();
  add_member(*command, member_named("plan"), arguments->members);
  command->get_option("--plan")->description("The plan of the client: its numbers count");
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer(
      "Charges nothing. --policy may be left out if limits have only one. An attributed window\n"
      "also shows what has used it up. Example:\n"
      "  weir limits show --key abc --policy per_user");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return show_limit(*arguments); }; });
}

void add_reset(CLI::App& limits, Action& chosen) {
  auto* const command = limits.add_subcommand("reset", "Forget what one key has used");
  const auto arguments = std::make_shared<OverrideArguments>();
  add_members(*command, *arguments, [](const auto& member) { return member.role == Role::owner; });
  command->get_option("--key")->required();
  command->footer(
      "With Redis every instance uses it from its next decision on. Overrides stay. Example:\n"
      "  weir limits reset --key abc --policy per_user");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return reset_limit(*arguments); }; });
}

}  // namespace

Result<std::string> read_one_line(std::istream& input, bool is_terminal) {
  std::string line;
  std::getline(input, line);
  if (line.empty()) return Problem{"standard input has no line, or an empty one; write the key"};
  if (!is_terminal && input.peek() != std::istream::traits_type::eof())
    return Problem{"standard input has more than one line; write one key"};
  return {boost::system::in_place_value, std::move(line)};
}

void add_limits(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("limits", "Show or change the limits of one key while Weir runs");
  command->require_subcommand(1);
  add_show(*command, chosen);
  add_reset(*command, chosen);
  add_override(*command, chosen);
  add_overrides(*command, chosen);
}

}  // namespace weir::cli
