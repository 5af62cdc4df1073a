#include "cli/admin_call.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/admin_url.hpp"
#include "cli/cli.hpp"
#include "config/secret_file.hpp"

namespace weir::cli {
namespace {

/// Longer than the admin server waits for Redis.
constexpr auto answer_timeout = std::chrono::seconds(10);

Result<Secret> token_of(const AdminTarget& target) {
  if (!target.token_file.empty()) return config::read_secret_file(target.token_file);
  const char* const token = std::getenv("WEIR_ADMIN_TOKEN");
  return Secret(token == nullptr ? "" : token);
}

/// The source of the token, or how to give the command one.
std::string about_token(const AdminTarget& target, bool has_token) {
  if (!target.token_file.empty())
    return "; the command sent the one in --token-file " + target.token_file;
  if (has_token)
    return "; the command sent the one in WEIR_ADMIN_TOKEN; --token-file FILE comes before it";
  return "; the command reads it from --token-file FILE or from WEIR_ADMIN_TOKEN";
}

/// The detail of a problem document, else its status.
std::string problem_in(const AdminReply& reply) {
  const auto body = nlohmann::json::parse(reply.body, nullptr, false);
  if (body.is_object() && body.contains("detail") && body["detail"].is_string())
    return body["detail"].get<std::string>();
  return "the admin server answered " + std::to_string(reply.status);
}

}  // namespace

CLI::Option& add_admin_target(CLI::App& command, AdminTarget& target, const std::string& help) {
  auto* const option = command.add_option("--admin", target.url, help)->type_name("URL");
  command
      .add_option("--token-file", target.token_file, "A file with the token of the admin server")
      ->type_name("FILE");
  return *option;
}

std::optional<AdminReply> ask_admin_of(const AdminTarget& target, std::string_view command,
                                       AdminQuestion question, int& code) {
  const auto fail = [&](int its_code, const std::string& message) {
    std::cerr << "weir " << command << ": " << message << '\n';
    code = its_code;
    return std::nullopt;
  };
  const auto address = parse_admin_url(target.url);
  if (!address) return fail(refused, "--admin: " + address.error().message);
  auto token = token_of(target);
  if (!token) return fail(refused, "--token-file: " + token.error().message);
  const bool has_token = !token->empty();
  question.token = std::move(*token);
  auto reply = ask_admin(*address, question, answer_timeout);
  if (reply && reply->status < 300) return std::move(*reply);
  if (!reply) {
    return fail(failed,
                target.url + ": " + reply.error().message + advice_on_unreached(target.url));
  }
  std::string problem = target.url + ": " + problem_in(*reply);
  if (reply->status == 401) problem += about_token(target, has_token);
  return fail(failed, problem);
}

int reject_answer(const AdminTarget& target, std::string_view command) {
  std::cerr << "weir " << command << ": " << target.url
            << ": the answer is not one of Weir's admin server; set --admin to its address\n";
  return failed;
}

}  // namespace weir::cli
