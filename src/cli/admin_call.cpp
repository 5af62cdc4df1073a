#include "cli/admin_call.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "cli/cli.hpp"
#include "config/endpoint.hpp"
#include "config/files.hpp"
#include "config/suggest.hpp"
#include "config/url.hpp"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

bool can_be_shown(const ordered_json& value) {
  if (!value.is_array()) return value.is_string() || value.is_number() || value.is_boolean();
  return std::ranges::all_of(value, [](const ordered_json& one) { return one.is_string(); });
}

bool is_hash(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The library throws if a member is missing or has another type.
bool is_override(const ordered_json& entry) {
  return is_hash(entry.at("hash").get_ref<const std::string&>()) &&
         (!entry.contains("policy") || entry["policy"].is_string()) &&
         std::ranges::all_of(entry, can_be_shown);
}

/// Longer than the admin server waits for Redis.
constexpr auto answer_timeout = std::chrono::seconds(10);
constexpr std::size_t most_body = 16 * 1024 * 1024;

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

}  // namespace

std::string problem_in(const AdminReply& reply) {
  const auto body = nlohmann::json::parse(reply.body, nullptr, false);
  if (body.is_object() && body.contains("detail") && body["detail"].is_string())
    return body["detail"].get<std::string>();
  return "the admin server answered " + std::to_string(reply.status);
}

std::optional<OverrideList> read_override_list(std::string_view body) try {
  const auto answer = ordered_json::parse(body);
  OverrideList list{.entries = answer.at("overrides").get<std::vector<ordered_json>>(),
                    .is_complete = answer.at("complete").get<bool>()};
  if (!std::ranges::all_of(list.entries, is_override)) return std::nullopt;
  return list;
} catch (const ordered_json::exception&) {
  return std::nullopt;
}

std::optional<ordered_json> read_stored_override(std::string_view body) try {
  auto answer = ordered_json::parse(body);
  if (!is_override(answer) || !answer.at("store").is_string()) return std::nullopt;
  return answer;
} catch (const ordered_json::exception&) {
  return std::nullopt;
}

Result<Endpoint> parse_admin_url(std::string_view text, std::string_view token_advice) {
  const auto url = config::split_url(text);
  if (url && url->user_info) {
    return Problem{
        std::string("a user or password in the URL is not used; remove it").append(token_advice)};
  }
  const bool is_http = url && url->scheme == "http" && (url->rest.empty() || url->rest == "/");
  const auto endpoint = config::parse_endpoint(is_http ? url->authority : text);
  if (!endpoint || endpoint->is_unix() == is_http || (is_http && endpoint->port == 0)) {
    return Problem{config::in_quotes(text) +
                   " is not the URL of an admin server; write http://HOST:PORT, such as "
                   "http://127.0.0.1:9090, or unix:/path"};
  }
  return *endpoint;
}

std::string advice_on_unreached(std::string_view url) {
  if (url != default_admin_url) return {};
  return "; this is the default address: for another admin.address write "
         "--admin http://HOST:PORT or --admin unix:/path";
}

Result<AdminReply> ask_admin(const Endpoint& address, AdminQuestion question, Secret token,
                             Duration timeout) {
  fetch::Request request{.method = std::move(question.method),
                         .unix_path = address.unix_path,
                         .token = std::move(token),
                         .json = std::move(question.body),
                         .timeout = timeout,
                         .most_body = most_body,
                         .reads_any_status = true};
  request.url.target = std::move(question.target);
  request.url.host = address.is_unix() ? "localhost" : address.host;
  if (!address.is_unix()) request.url.port = address.port;
  if (!question.gives_up) return fetch::answer_to(std::move(request));
  auto answer = fetch::answer_unless(question.gives_up, std::move(request));
  return answer ? *std::move(answer) : Problem{"the request was given up"};
}

CLI::Option& add_admin_target(CLI::App& command, AdminTarget& target, const std::string& help,
                              const std::string& name) {
  auto* const option = command.add_option(name, target.url, help)->type_name("URL");
  command
      .add_option("--token-file", target.token_file, "A file with the token of the admin server")
      ->type_name("FILE");
  return *option;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
  }
  return out;
}

std::optional<AdminReply> ask_admin_of(const AdminTarget& target, std::string_view command,
                                       AdminQuestion question, int& code) {
  auto reply = call_admin(target, std::move(question), code);
  if (reply) return std::move(*reply);
  std::cerr << "weir " << command << ": " << reply.error().message << '\n';
  return std::nullopt;
}

Result<AdminReply> call_admin(const AdminTarget& target, AdminQuestion question, int& code) {
  const auto fail = [&](int its_code, const std::string& message) {
    code = its_code;
    return Problem{message};
  };
  const auto address =
      parse_admin_url(target.url, ", and write the token to the file of --token-file");
  if (!address) return fail(refused, "--admin: " + address.error().message);
  auto token = token_of(target);
  if (!token) return fail(refused, "--token-file: " + token.error().message);
  const bool has_token = !token->empty();
  const int expected = question.expected_status;
  auto reply = ask_admin(*address, std::move(question), *std::move(token), answer_timeout);
  if (reply && (reply->status < 300 || reply->status == expected)) return reply;
  if (!reply) {
    return fail(failed,
                target.url + ": " + reply.error().message + advice_on_unreached(target.url));
  }
  std::string problem = target.url + ": " + problem_in(*reply);
  if (reply->status == 401) problem += about_token(target, has_token);
  return fail(failed, problem);
}

Problem foreign_answer(const AdminTarget& target) {
  return {target.url +
          ": the answer is not one of Weir's admin server; set --admin to its address"};
}

int reject_answer(const AdminTarget& target, std::string_view command) {
  std::cerr << "weir " << command << ": " << foreign_answer(target).message << '\n';
  return failed;
}

}  // namespace weir::cli
