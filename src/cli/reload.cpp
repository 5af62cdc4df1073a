// `weir reload`: POST /v1/reload of a running instance.
#include <iostream>
#include <memory>
#include <string>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "app/shadow_request.hpp"
#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"

namespace weir::cli {
namespace {

struct ReloadArguments : AdminTarget {
  std::string shadow;
  std::string max_flips;
};

std::string reload_target(const ReloadArguments& arguments) {
  std::string target = "/v1/reload";
  if (!arguments.shadow.empty()) target += "?shadow=" + percent_encoded(arguments.shadow);
  if (!arguments.max_flips.empty()) target += "&max_flips=" + percent_encoded(arguments.max_flips);
  return target;
}

/// Prints a line for each problem, in the form of `weir check`.
int print_problems(const ReloadArguments& arguments, const nlohmann::json& answer) try {
  const auto number = [](const nlohmann::json& value) {
    return value.is_null() ? std::string() : std::to_string(value.get<int>()) + ':';
  };
  std::string lines;
  for (const auto& one : answer.at("problems")) {
    lines += one.at("file").get<std::string>() + ':' + number(one.at("line")) +
             number(one.at("column")) + ' ';
    if (const auto path = one.at("path").get<std::string>(); !path.empty()) lines += path + ": ";
    lines += one.at("message").get<std::string>() + '\n';
  }
  std::cerr << lines << "weir reload: " << arguments.url << ": "
            << answer.at("detail").get<std::string>() << '\n';
  return failed;
} catch (const nlohmann::json::exception&) {
  return reject_answer(arguments, "reload");
}

int reload(const ReloadArguments& arguments) {
  constexpr int has_problems = 422;
  int code = succeeded;
  const auto reply = ask_admin_of(
      arguments, "reload",
      {.method = "POST", .target = reload_target(arguments), .expected_status = has_problems},
      code);
  if (!reply) return code;
  const auto answer = nlohmann::json::parse(reply->body, nullptr, false);
  if (reply->status == has_problems) return print_problems(arguments, answer);
  if (!answer.is_object() || !answer.contains("hash")) return reject_answer(arguments, "reload");
  std::cout << reply->body;
  return succeeded;
}

std::string check_period(const std::string& text) {
  const auto period = app::parse_shadow_period(text);
  return period ? std::string() : period.error().message;
}

std::string check_percentage(const std::string& text) {
  const auto share = app::parse_percentage(text);
  return share ? std::string() : share.error().message;
}

}  // namespace

void add_reload(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("reload", "Reload the configuration of a running instance");
  const auto arguments = std::make_shared<ReloadArguments>();
  add_admin_target(*command, *arguments, "The admin server: http://HOST:PORT or unix:/path")
      .capture_default_str();
  auto* const shadow = command
                           ->add_option("--shadow", arguments->shadow,
                                        "Decide in shadow for this time first, such as 10m")
                           ->check(check_period)
                           ->type_name("DURATION");
  command
      ->add_option("--max-flips", arguments->max_flips,
                   "Drop the configuration if more of the decisions would flip (default 0.5%)")
      ->check(check_percentage)
      ->needs(shadow)
      ->type_name("PERCENT");
  command->footer(
      "Prints the answer of the admin server as JSON: the hash, and what has changed. With "
      "--shadow\n"
      "it prints until when the configuration decides in shadow, and does not wait for the end:\n"
      "GET /v1/reload of the admin server shows the result.");
  command->callback([&chosen, arguments] { chosen = [arguments] { return reload(*arguments); }; });
}

}  // namespace weir::cli
