#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/override_request.hpp"
#include "app/source.hpp"
#include "base/clock.hpp"
#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/explained_call.hpp"
#include "cli/explanation.hpp"
#include "cli/live_state.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

struct ExplainOptions {
  std::string file = "/etc/weir/weir.yaml";
  std::string peer = "127.0.0.1";
  RequestArguments request;
  CallArguments call;
  AdminTarget live{.url = {}, .token_file = {}};
  bool json = false;
};

/// Explains a request or a call with the overrides that a running instance has.
using Explain = std::function<Explanation(std::span<const KnownOverrides>)>;

std::string hash_text(const Hash128& identity) {
  return "hash:" + to_hex(identity);
}

/// A listed override has the members that put it.
std::vector<store::Override> overrides_in(const OverrideList& list, const std::string& key,
                                          const app::OverrideContext& context, Instant now) {
  std::vector<store::Override> entries;
  for (nlohmann::ordered_json entry : list.entries) {
    entry.erase("hash");
    const bool is_malformed = entry.contains("malformed");
    entry["key"] = key;
    auto put = app::read_override(entry.dump(), context, now);
    if (put && !is_malformed) {
      entries.push_back(std::move(put->entry));
      continue;
    }
    std::cerr << "weir explain: an override of " << key << " is left out: "
              << (is_malformed ? std::string("it is malformed") : put.error().message) << '\n';
  }
  return entries;
}

/// Asks the admin server for the overrides of each identity that the explanation shows. One that
/// does not fit the configuration is left out, with a line on standard error. A problem: there is
/// no answer, and the exit code is set.
Result<std::vector<KnownOverrides>> live_overrides(const AdminTarget& target,
                                                   const Explanation& explanation,
                                                   const config::Config& config, Instant now,
                                                   int& code) {
  std::vector<std::string> names;
  for (const limiter::Policy& policy : config.limiter.policies)
    names.push_back(policy.name);
  std::vector<KnownOverrides> known;
  for (const ExplainedLimit& limit : explanation.limits) {
    const auto& hash = limit.identity.hash;
    if (!hash || std::ranges::find(known, *hash, &KnownOverrides::identity) != known.end())
      continue;
    const std::string key = hash_text(*hash);
    const auto reply = call_admin(target, {.target = "/v1/overrides?key=" + key}, code);
    if (!reply) return reply.error();
    const auto list = read_override_list(reply->body);
    if (!list) {
      code = failed;
      return foreign_answer(target);
    }
    known.push_back(
        {.identity = *hash,
         .entries = overrides_in(*list, key, {.config = config, .policy_names = names}, now)});
  }
  return known;
}

/// Prints a line if the instance runs another configuration than the file. Returns false if there
/// is no answer: then the reason is printed, and the exit code is set.
bool compare_configurations(const AdminTarget& target, const std::string& file,
                            const std::string& hash, int& code) {
  const auto reply = ask_admin_of(target, "explain", {.target = "/v1/config"}, code);
  if (!reply) return false;
  const auto running = read_config_hash(reply->body);
  if (!running) {
    code = reject_answer(target, "explain");
    return false;
  }
  if (*running == hash) return true;
  std::cerr << "weir explain: warning: " << target.url << " runs another configuration than "
            << file << ": the states are those of its keys and policies; reload it, or name its "
            << "file with --config\n";
  return true;
}

/// Reads the present state of the key of each limit that applies, or would without a plan or an
/// override. A problem: one has no answer, and the exit code is set.
std::optional<Problem> read_live_states(const AdminTarget& target, Explanation& explanation,
                                        int& code) {
  for (ExplainedLimit& limit : explanation.limits) {
    // The numbers of a policy that the file replaces by a denial mean nothing.
    if (!limit.identity.hash || limit.numbers_from == "file") continue;
    std::string query = "/v1/limits?policy=" + percent_encoded(limit.policy->name) +
                        "&key=" + hash_text(*limit.identity.hash);
    if (explanation.plan && !explanation.plan->name.empty())
      query += "&plan=" + percent_encoded(explanation.plan->name);
    constexpr int unknown_name = 422;
    const auto reply = call_admin(target, {.target = query, .expected_status = unknown_name}, code);
    if (!reply) return reply.error();
    limit.live = reply->status == unknown_name ? LiveState{.problem = problem_in(*reply)}
                                               : read_live_state(reply->body);
    if (!limit.live) {
      code = failed;
      return foreign_answer(target);
    }
  }
  return std::nullopt;
}

/// Adds what a running instance has. If its store does not answer, the explanation is without it,
/// and the reason is returned.
std::optional<Problem> add_live_state(const AdminTarget& target, const config::Config& config,
                                      Instant now, const Explain& explain_with,
                                      Explanation& explanation, int& code) {
  const auto overrides = live_overrides(target, explanation, config, now, code);
  if (!overrides)
    return Problem{overrides.error().message +
                   "; the explanation is without overrides and the present state"};
  explanation = explain_with(*overrides);
  auto problem = read_live_states(target, explanation, code);
  if (problem) problem->message += "; the explanation is without the present state";
  return problem;
}

int print_explanation(const ExplainOptions& options, const app::LoadedConfig& loaded, Instant now,
                      const Explain& explain_with) {
  Explanation explanation = explain_with({});
  int code = succeeded;
  std::optional<Problem> problem;
  if (!options.live.url.empty()) {
    if (!compare_configurations(options.live, options.file, loaded.hash, code)) return code;
    problem = add_live_state(options.live, *loaded.config, now, explain_with, explanation, code);
  }
  std::cout << (options.json ? to_json(explanation) + '\n' : to_text(explanation)) << std::flush;
  if (problem) std::cerr << "weir explain: " << problem->message << '\n';
  return code;
}

/// Empty: the problems are printed.
std::optional<app::LoadedConfig> load_explained(const std::string& file) {
  auto loaded = app::file_source(file).load(config::for_ever, nullptr);
  if (loaded) return *std::move(loaded);
  print_diagnostics(std::cerr, file, loaded.error());
  return std::nullopt;
}

int run_explain(const ExplainOptions& options) {
  const auto peer = IpAddress::parse(options.peer);
  if (!peer) return refuse_usage("explain", "--peer: expected an IP address, such as 192.0.2.7");
  const auto head = request_head(options.request);
  if (!head) return refuse_usage("explain", head.error().message);
  const auto loaded = load_explained(options.file);
  if (!loaded) return refused;
  const Instant now = MonotonicClock().now();
  return print_explanation(options, *loaded, now, [&](std::span<const KnownOverrides> overrides) {
    return explain(*loaded->config, *peer, *head, now, overrides);
  });
}

int run_explain_call(const ExplainOptions& options) {
  const auto call = read_call(options.call);
  if (!call) return refuse_usage("explain", call.error().message);
  const auto loaded = load_explained(options.file);
  if (!loaded) return refused;
  if (!loaded->config->rate_limit_service)
    return refuse("explain", "--domain: the configuration has no rate_limit_service");
  const Instant now = MonotonicClock().now();
  return print_explanation(options, *loaded, now, [&](std::span<const KnownOverrides> overrides) {
    return explain_call(*loaded->config, *call, now, overrides);
  });
}

}  // namespace

void add_explain(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("explain", "Show what a configuration does with one request");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("--config,-c", options->file, "The configuration")
      ->type_name("FILE")
      ->capture_default_str();
  auto* const url =
      command->add_option("URL", options->request.url, "The URL that the client requests")
          ->type_name("");
  auto* const method =
      command->add_option("--method,-X", options->request.method, "The method of the request")
          ->type_name("METHOD")
          ->capture_default_str();
  auto* const peer =
      command->add_option("--peer", options->peer, "The address that the connection comes from")
          ->type_name("IP")
          ->capture_default_str();
  auto* const header = command
                           ->add_option("--header,-H", options->request.fields,
                                        "A field of the request; may be given several times")
                           ->type_name("'NAME: VALUE'")
                           ->allow_extra_args(false);
  auto* const domain =
      command
          ->add_option("--domain", options->call.domain,
                       "Explain a call of the rate limit service with this domain, not a URL")
          ->type_name("NAME")
          ->excludes(url)
          ->excludes(method)
          ->excludes(peer)
          ->excludes(header);
  // The parser's own conversion of lists in a list takes an empty text as the end of one.
  const CLI::callback_t add_descriptor = [options](const CLI::results_t& texts) {
    options->call.descriptors.push_back(texts);
    return true;
  };
  command
      ->add_option("--descriptor", add_descriptor,
                   "A descriptor of the call, with its entries in order; may be given several "
                   "times")
      ->type_name("KEY=VALUE")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args()
      ->trigger_on_parse()
      ->needs(domain);
  add_admin_target(*command, options->live,
                   "Also show the overrides and the present state of each key in a running "
                   "instance: http://HOST:PORT or unix:/path",
                   "--live,--admin");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Shows the route and why earlier ones do not match, each limit with its key, cost and\n"
      "numbers, and the answer of a store in which nothing is used yet; with --live also what is\n"
      "left of each limit now. Charges nothing, and opens a connection only with --live. The path "
      "is taken as written. Keys are shown as\n"
      "their keyed hash. A number that comes from a variable or a file is shown as (from the\n"
      "environment), which is a string in --json. Example:\n"
      "  weir explain -c weir.yaml -H 'X-Api-Key: abc' 'https://api.example.com/v1/search?q=a'\n"
      "  weir explain -c weir.yaml --domain edge --descriptor path=/login "
      "remote_address=192.0.2.7");
  command->callback([&chosen, options, url, domain] {
    if (url->empty() && domain->empty()) throw CLI::RequiredError("URL");
    chosen = [options, is_call = !domain->empty()] {
      return is_call ? run_explain_call(*options) : run_explain(*options);
    };
  });
}

}  // namespace weir::cli
