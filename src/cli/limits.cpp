// `weir limits`: overrides of one key, through the admin server of a running instance.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/one_line.hpp"
#include "cli/override_options.hpp"
#include "cli/override_reply.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

struct ListOptions : OverrideTarget {
  bool json = false;
};

int reject_usage(const std::string& what) {
  std::cerr << "weir limits: " << what << '\n';
  return refused;
}

/// The key as given, or the line of standard input for `-`: arguments of a command are visible to
/// other users of the machine.
Result<std::string> key_of(const OverrideTarget& target) {
  if (target.key != "-") return {boost::system::in_place_value, target.key};
  return read_one_line(std::cin, ::isatty(STDIN_FILENO) != 0);
}

std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
  }
  return out;
}

std::string overrides_target(const OverrideTarget& target, const std::string& key) {
  std::string query;
  const auto add = [&query](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    query.append(query.empty() ? "?" : "&").append(name).append("=").append(encoded(value));
  };
  add("identity", target.identity);
  add("key", key);
  add("policy", target.policy);
  return "/v1/overrides" + query;
}

std::optional<AdminReply> ask(const OverrideTarget& target, AdminQuestion question, int& code) {
  return ask_admin_of(target, "limits", std::move(question), code);
}

/// Replaces control characters, with which a writer to Redis could forge lines.
std::string shown(const ordered_json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace_if(text.begin(), text.end(), http::is_control, '?');
  return text;
}

/// One line: `hash:0123..., policy per_user: rate 6000/1m, note launch`.
std::string line_of(const ordered_json& entry) {
  std::string line = "hash:" + shown(entry["hash"]);
  if (entry.contains("policy")) {
    line += ", policy " + shown(entry["policy"]);
  } else if (!entry.contains("malformed")) {  // it may have had one
    line += ", all policies";
  }
  std::string_view separator = ": ";
  for (const auto& [name, value] : entry.items()) {
    if (name == "hash" || name == "policy" || name == "identity" || name == "store") continue;
    line.append(separator).append(name);
    if (!value.is_boolean()) line.append(" ").append(shown(value));
    separator = ", ";
  }
  return line;
}

ordered_json body_of(const OverrideOptions& options, const std::string& key) {
  ordered_json body;
  const auto add = [&body](const char* name, const std::string& value) {
    if (!value.empty()) body[name] = value;
  };
  add("identity", options.identity);
  add("key", key);
  add("policy", options.policy);
  if (options.rate) body["rate"] = *options.rate;
  if (!options.rates.empty()) body["rates"] = options.rates;
  if (options.burst) body["burst"] = *options.burst;
  if (options.limit) body["limit"] = *options.limit;
  if (options.queue) body["queue"] = *options.queue;
  add("plan", options.plan);
  if (options.denies) body["deny"] = true;
  if (options.is_unlimited) body["unlimited"] = true;
  add("until", options.until);
  if (options.note) add("note", *options.note);
  return body;
}

void print_warnings(const StoredOverride& stored) {
  if (!stored.warning.empty()) std::cerr << "weir limits: " << shown(stored.warning) << '\n';
  if (stored.is_in_memory)
    std::cerr << "weir limits: kept in memory: this instance loses it when it restarts, and others "
                 "do not have it; store.type: redis keeps and shares overrides\n";
}

int put_override(const OverrideOptions& options, const std::string& key) {
  int code = succeeded;
  const auto body =
      body_of(options, key).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  const auto reply = ask(options, {.method = "PUT", .target = "/v1/overrides", .body = body}, code);
  if (!reply) return code;
  const auto stored = read_stored_override(reply->body);
  if (!stored) return reject_answer(options, "limits");
  std::cout << line_of(stored->entry) << '\n';
  print_warnings(*stored);
  return succeeded;
}

int remove_override(const OverrideOptions& options, const std::string& key) {
  int code = succeeded;
  const auto reply =
      ask(options, {.method = "DELETE", .target = overrides_target(options, key)}, code);
  if (!reply) return code;
  if (reply->status != 204) return reject_answer(options, "limits");
  // A key that is no hash may be a secret.
  std::cout << (key.starts_with("hash:") ? key : "the key") << ", "
            << (options.policy.empty() ? "all policies" : "policy " + options.policy)
            << ": deleted\n";
  return succeeded;
}

int change_override(const OverrideOptions& options) {
  if (const std::string problem = wrong_usage_of(options); !problem.empty())
    return reject_usage(problem);
  const auto key = key_of(options);
  if (!key) return reject_usage("--key: " + key.error().message);
  return options.removes ? remove_override(options, *key) : put_override(options, *key);
}

int list_overrides(const ListOptions& options) {
  int code = succeeded;
  const auto key = key_of(options);
  if (!key) return reject_usage("--key: " + key.error().message);
  const auto reply = ask(options, {.target = overrides_target(options, *key)}, code);
  if (!reply) return code;
  const auto list = read_override_list(reply->body);
  if (!list) return reject_answer(options, "limits");
  if (options.json) {
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

/// An empty value is a variable of the shell that is not set, and not the absence of the option.
std::string reject_empty(const std::string& text) {
  return text.empty() ? "the value is empty; leave the option out" : "";
}

void add_target(CLI::App& command, OverrideTarget& target, bool needs_key) {
  auto* const key = command.add_option(
      "--key", target.key, "The value of the identity, hash:HEX as in the log, or - to read it");
  key->type_name("KEY");
  if (needs_key) key->required();
  command
      .add_option("--identity", target.identity,
                  "The identity; default: the only one of the limits")
      ->check(reject_empty)
      ->type_name("NAME");
  command.add_option("--policy", target.policy, "The policy")
      ->check(reject_empty)
      ->type_name("NAME");
  add_admin_target(command, target, "The admin server: http://HOST:PORT or unix:/path")
      .capture_default_str();
}

void add_override(CLI::App& limits, Action& chosen) {
  auto* const command = limits.add_subcommand("override", "Put or delete an override of one key");
  const auto options = std::make_shared<OverrideOptions>();
  add_target(*command, *options, true);
  command->add_option("--rate", options->rate, "Another rate")->type_name("RATE");
  command->add_option("--rates", options->rates, "Other rates of a sliding_window")
      ->type_name("RATE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--burst", options->burst, "Another burst")->type_name("UNITS");
  command->add_option("--limit", options->limit, "Another limit of a concurrency policy")
      ->type_name("UNITS");
  command->add_option("--queue", options->queue, "Another queue of a leaky_bucket")
      ->type_name("UNITS");
  command->add_option("--plan", options->plan, "The numbers of this plan")
      ->check(reject_empty)
      ->type_name("NAME");
  command->add_flag("--unlimited", options->is_unlimited, "No limit");
  command->add_flag("--deny", options->denies, "Answer 403");
  command->add_option("--until", options->until, "Its end, such as 2026-12-01T00:00:00Z")
      ->check(reject_empty)
      ->type_name("TIME");
  command->add_option("--note", options->note, "A note for the list")->type_name("TEXT");
  command->add_flag("--delete", options->removes, "Delete the override");
  command->footer(
      "Replaces the override that the key has for the policy. Numbers need --policy; --plan,\n"
      "--unlimited and --deny apply to all policies without it. The token of the admin server is\n"
      "read from --token-file or WEIR_ADMIN_TOKEN. Example:\n"
      "  weir limits override --key abc --policy per_user --rate 6000/1m "
      "--until 2026-12-01T00:00:00Z");
  command->callback(
      [&chosen, options] { chosen = [options] { return change_override(*options); }; });
}

void add_overrides(CLI::App& limits, Action& chosen) {
  auto* const command =
      limits.add_subcommand("overrides", "List the overrides of all keys, or of one");
  const auto options = std::make_shared<ListOptions>();
  add_target(*command, *options, false);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer("Shows the keyed hash of each key, as the access log does, and never a key.");
  command->callback(
      [&chosen, options] { chosen = [options] { return list_overrides(*options); }; });
}

}  // namespace

void add_limits(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("limits", "Change the limits of one key while Weir runs");
  command->require_subcommand(1);
  add_override(*command, chosen);
  add_overrides(*command, chosen);
}

}  // namespace weir::cli
