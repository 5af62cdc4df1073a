// `weir replay`: what the limits of a configuration would have done with the requests of logs.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/shadow_request.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/merged_logs.hpp"
#include "cli/new_file.hpp"
#include "cli/progress.hpp"
#include "config/load.hpp"
#include "http/authority.hpp"
#include "offline/comparison.hpp"
#include "replay/flips.hpp"
#include "replay/json_members.hpp"
#include "replay/own_log.hpp"
#include "replay/report.hpp"
#include "replay/report_page.hpp"
#include "replay/run.hpp"
#include "replay/time_order.hpp"

namespace weir::cli {
namespace {

struct ReplayOptions {
  std::string file = "/etc/weir/weir.yaml";
  std::vector<std::string> logs;
  std::string fields;
  std::string host = "localhost";
  std::size_t keys = 20;
  bool json = false;
  std::string compare;
  std::string suggest;
  std::string report;
};

/// The bound of the memory store; with Redis there is none.
store::MemoryStoreOptions store_of(const config::Config& config) {
  constexpr std::size_t most = std::size_t{1} << 24;
  return {.max_keys =
              config.store_type == config::StoreType::redis ? most : config.memory.max_keys};
}

void replay_all(MergedLogs& logs, const std::string& host, replay::Run& run) {
  Progress progress;
  replay::TimeOrder order;
  constexpr std::uint64_t requests_per_show = 4096;
  while (const auto request = logs.next()) {
    replay::Arrival& arrival = order.storage();
    fill(arrival, *request, host);
    arrival.file = logs.path();
    arrival.line = logs.line();
    order.add(arrival, logs.time());
    while (const replay::Arrival* const next = order.next())
      run.receive(*next);
    if (logs.lines().read % requests_per_show == 0) progress.show(logs.position(), logs.size());
  }
  while (const replay::Arrival* const next = order.next(true))
    logs.has_wrong_times() && order.is_ahead() ? run.receive_ahead(*next) : run.receive(*next);
  run.finish();
}

/// Another configuration, ready for the same log.
struct Compared {
  std::shared_ptr<const config::Config> config;
  replay::SharedSecret shared;
  replay::OwnLogConfiguration own;

  Compared(std::shared_ptr<const config::Config> its_config, const limiter::Options& first)
      : config(std::move(its_config)),
        shared(first, config->limiter),
        own(config->proxy, shared.limits) {}
};

/// Prints the problems of a configuration that cannot be loaded.
std::shared_ptr<const config::Config> load(const std::string& file) {
  const auto loaded = config::load_file(file);
  if (loaded) return *loaded;
  print_diagnostics(std::cerr, file, loaded.error());
  return nullptr;
}

/// Describes a wrong option; nothing: there is none.
std::optional<std::string> read_options(const ReplayOptions& options, replay::JsonMembers& members,
                                        std::optional<std::int64_t>& max_denied) {
  if (!options.fields.empty()) {
    auto read = replay::read_members(options.fields);
    if (!read) return "--fields: " + read.error().message;
    members = *std::move(read);
  }
  if (!http::parse_authority(options.host))
    return "--host: expected a host, such as api.example.com";
  if (std::ranges::count(options.logs, "-") > 1)
    return "LOG: - is given more than once, but standard input can be read only once";
  if (options.suggest.empty()) return std::nullopt;
  const auto share = app::parse_percentage(options.suggest);
  if (!share || *share == 0)
    return "--suggest: expected a percentage above 0 and up to 100 with at most four decimals, "
           "such as 99.9";
  max_denied = replay::whole_share - *share;
  return std::nullopt;
}

/// Prints the report and writes the page. Returns the exit code.
int finish(const replay::Report& report, const ReplayOptions& options, NewFile* page,
           std::span<const std::string> problems) {
  std::cout << (options.json ? to_json(report) + '\n' : to_text(report));
  for (const std::string& problem : problems)
    std::cerr << "weir replay: " << problem << '\n';
  if (page != nullptr) {
    if (const auto written = page->complete(to_page(report)); !written) {
      std::cerr << "weir replay: " << options.report << ": " << written.error().message << '\n';
      return failed;
    }
  }
  if (!problems.empty()) return failed;
  if (report.lines.read > 0 || report.lines.unreadable == 0) return succeeded;
  std::cerr << "weir replay: no line is one of an access log; --fields names the members of JSON "
               "logs of other servers\n";
  return failed;
}

int run_replay(const ReplayOptions& options) {
  replay::JsonMembers members;
  replay::Run::Options wanted;
  if (const auto problem = read_options(options, members, wanted.max_denied))
    return refuse_usage("replay", *problem);
  const auto config = load(options.file);
  if (!config) return refused;
  const replay::OwnLogConfiguration own(config->proxy, config->limiter);
  const bool is_own = options.fields.empty();
  std::optional<Compared> compared;
  std::optional<offline::Comparison::Configuration> other;
  if (!options.compare.empty()) {
    auto loaded = load(options.compare);
    if (!loaded) return refused;
    compared.emplace(std::move(loaded), config->limiter);
    other.emplace(is_own ? offline::Comparison::Configuration{.proxy = compared->own.proxy,
                                                              .limits = compared->own.limits}
                         : offline::Comparison::Configuration{.proxy = compared->config->proxy,
                                                              .limits = compared->shared.limits});
    wanted.other = &*other;
  }
  std::optional<NewFile> page;
  if (!options.report.empty()) {
    auto created = NewFile::create(options.report);
    if (!created) return refuse("replay", options.report + ": " + created.error().message);
    page.emplace(*std::move(created));
  }
  auto logs = MergedLogs::open(options.logs, members);
  if (!logs) return refuse("replay", logs.error().message);
  replay::Run run(is_own ? own.proxy : config->proxy, is_own ? own.limits : config->limiter,
                  store_of(*config), wanted);
  replay_all(*logs, options.host, run);
  replay::Report report = run.report(options.keys);
  report.lines = logs->lines();
  if (report.flips) {
    report.flips->file = options.compare;
    report.flips->secret_differs = compared->shared.secret_differs;
    report.flips->has_two_hashes = compared->shared.has_two_hashes;
  }
  return finish(report, options, page ? &*page : nullptr, logs->problems());
}

}  // namespace

void add_replay(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand(
      "replay", "Show what the limits would have done with the traffic of logs");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("--config,-c", options->file, "The configuration")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("LOG", options->logs, "Access logs; - is standard input")
      ->type_name("")
      ->required();
  command
      ->add_option("--fields", options->fields,
                   "The members of JSON logs of other servers: PART=MEMBER,...")
      ->type_name("FIELDS");
  command->add_option("--host", options->host, "The host of requests whose log has none")
      ->type_name("HOST")
      ->capture_default_str();
  command->add_option("--keys", options->keys, "The number of limited keys to show")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command
      ->add_option("--compare", options->compare,
                   "Another configuration: also show the decisions that it would flip")
      ->type_name("FILE");
  command
      ->add_option("--suggest", options->suggest,
                   "Also show the smallest round rate of each policy that admits this percentage "
                   "of its requests and limits no more of its keys")
      ->type_name("PERCENT");
  command
      ->add_option("--report", options->report, "Also write an HTML page with charts to this file")
      ->type_name("FILE");
  command->footer(
      "Reads the Common and Combined Log Format, the JSON lines of Weir, and other JSON lines "
      "with\n"
      "--fields; plain, gzip or zstd. Several logs are merged by time. The rules are those of "
      "serve\n"
      "with the memory store, on the time of the log. Opens no connection. Example:\n"
      "  weir replay -c weir.yaml /var/log/nginx/access.log*\n"
      "  weir replay -c weir.yaml /var/log/nginx/access.log* --suggest 99.9 --report report.html\n"
      "  weir replay -c weir.yaml /var/log/nginx/access.log* --compare new.yaml\n"
      "  weir replay -c weir.yaml caddy.log --fields time=ts,client=request.remote_ip,\\\n"
      "method=request.method,target=request.uri,host=request.host,status=status,duration=duration,"
      "\\\n"
      "header:x-api-key=request.headers.X-Api-Key\n"
      "Exit code 1: a log could not be read to its end; 2: wrong usage or configuration.");
  command->callback([&chosen, options] { chosen = [options] { return run_replay(*options); }; });
}

}  // namespace weir::cli
