// `weir limits`: overrides of one key, through the admin server of a running instance.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "cli/admin_client.hpp"
#include "cli/admin_url.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "config/secret_file.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

/// Longer than the admin server waits for Redis.
constexpr auto answer_timeout = std::chrono::seconds(10);

struct Target {
  std::string url = "http://127.0.0.1:9090";
  std::string token_file;
  std::string identity;
  std::string key;
  std::string policy;
};

struct OverrideOptions : Target {
  std::string rate;
  std::vector<std::string> rates;
  std::optional<std::int64_t> burst;
  std::optional<std::int64_t> queue;
  bool denies = false;
  bool is_unlimited = false;
  bool removes = false;
  std::string until;
  std::string note;
};

struct ListOptions : Target {
  bool json = false;
};

int fail(int code, const std::string& message) {
  std::cerr << "weir limits: " << message << '\n';
  return code;
}

Result<Secret> token_of(const Target& target) {
  if (!target.token_file.empty()) return config::read_secret_file(target.token_file);
  const char* const token = std::getenv("WEIR_ADMIN_TOKEN");
  return Secret(token == nullptr ? "" : token);
}

/// The key as given, or a line of standard input for `-`: arguments of a command are visible to
/// other users of the machine.
std::string key_of(const Target& target) {
  if (target.key != "-") return target.key;
  std::string line;
  std::getline(std::cin, line);
  return line;
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

std::string overrides_target(const Target& target, const std::string& key) {
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

/// The detail of a problem document, else its status.
std::string problem_in(const AdminReply& reply) {
  const auto body = ordered_json::parse(reply.body, nullptr, false);
  if (body.is_object() && body.contains("detail") && body["detail"].is_string())
    return body["detail"].get<std::string>();
  return "the admin server answered " + std::to_string(reply.status);
}

/// Returns the answer, or nothing after it has reported why there is none; `code` is the exit code
/// then.
std::optional<AdminReply> ask(const Target& target, AdminQuestion question, int& code) {
  const auto address = parse_admin_url(target.url);
  if (!address) {
    code = fail(refused, "--admin: " + address.error().message);
    return std::nullopt;
  }
  auto token = token_of(target);
  if (!token) {
    code = fail(refused, "--token-file: " + token.error().message);
    return std::nullopt;
  }
  question.token = std::move(*token);
  auto reply = ask_admin(*address, question, answer_timeout);
  if (reply && reply->status < 300) return std::move(*reply);
  code = fail(failed, target.url + ": " +
                          (reply ? problem_in(*reply) : std::string(reply.error().message)));
  return std::nullopt;
}

/// Without control characters: whoever can write to Redis could forge lines with them.
std::string shown(const ordered_json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace_if(text.begin(), text.end(), http::is_control, '?');
  return text;
}

/// One line: `hash:0123..., policy per_user: rate 6000/1m, note launch`.
std::string line_of(const ordered_json& entry) {
  std::string line = "hash:" + shown(entry["hash"]);
  line += entry.contains("policy") ? ", policy " + shown(entry["policy"]) : ", all policies";
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
  add("rate", options.rate);
  if (!options.rates.empty()) body["rates"] = options.rates;
  if (options.burst) body["burst"] = *options.burst;
  if (options.queue) body["queue"] = *options.queue;
  if (options.denies) body["deny"] = true;
  if (options.is_unlimited) body["unlimited"] = true;
  add("until", options.until);
  add("note", options.note);
  return body;
}

int put_override(const OverrideOptions& options) {
  int code = succeeded;
  const auto body = body_of(options, key_of(options))
                        .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  const auto reply = ask(options, {.method = "PUT", .target = "/v1/overrides", .body = body}, code);
  if (!reply) return code;
  const auto stored = ordered_json::parse(reply->body);
  std::cout << line_of(stored) << '\n';
  if (stored.value("store", "") == "memory")
    std::cerr << "weir limits: kept in memory: this instance loses it when it restarts, and others "
                 "do not have it; store.type: redis keeps and shares overrides\n";
  return succeeded;
}

int remove_override(const OverrideOptions& options) {
  int code = succeeded;
  const std::string target = overrides_target(options, key_of(options));
  return ask(options, {.method = "DELETE", .target = target}, code) ? succeeded : code;
}

int list_overrides(const ListOptions& options) {
  int code = succeeded;
  const auto reply = ask(options, {.target = overrides_target(options, key_of(options))}, code);
  if (!reply) return code;
  if (options.json) {
    std::cout << reply->body;
    return succeeded;
  }
  const auto answer = ordered_json::parse(reply->body);
  for (const auto& entry : answer["overrides"])
    std::cout << line_of(entry) << '\n';
  if (answer["overrides"].empty()) std::cout << "no overrides\n";
  if (!answer["complete"].get<bool>())
    std::cerr << "weir limits: the list is not complete; name a key to see its overrides\n";
  return succeeded;
}

/// An empty value is a variable of the shell that is not set, and not the absence of the option.
std::string reject_empty(const std::string& text) {
  return text.empty() ? "the value is empty; leave the option out" : "";
}

void add_target(CLI::App& command, Target& target, bool needs_key) {
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
  command.add_option("--admin", target.url, "The admin server: http://HOST:PORT or unix:/path")
      ->type_name("URL")
      ->capture_default_str();
  command
      .add_option("--token-file", target.token_file, "A file with the token of the admin server")
      ->type_name("FILE");
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
  command->add_option("--queue", options->queue, "Another queue")->type_name("UNITS");
  command->add_flag("--unlimited", options->is_unlimited, "No limit");
  command->add_flag("--deny", options->denies, "Answer 403");
  command->add_option("--until", options->until, "Its end, as 2026-12-01T00:00:00Z")
      ->check(reject_empty)
      ->type_name("TIME");
  command->add_option("--note", options->note, "A note for the list")->type_name("TEXT");
  command->add_flag("--delete", options->removes, "Delete the override");
  command->footer(
      "Replaces the override that the key has for the policy. Numbers need --policy; --unlimited\n"
      "and --deny apply to all policies without it. The token of the admin server is read from\n"
      "--token-file or WEIR_ADMIN_TOKEN. Example:\n"
      "  weir limits override --key abc --policy per_user --rate 6000/1m "
      "--until 2026-12-01T00:00:00Z");
  command->callback([&chosen, options] {
    chosen = [options] {
      return options->removes ? remove_override(*options) : put_override(*options);
    };
  });
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
