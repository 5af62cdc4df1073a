// `weir replay`: what the limits of a configuration would have done with the requests of logs.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/merged_logs.hpp"
#include "cli/progress.hpp"
#include "config/load.hpp"
#include "http/authority.hpp"
#include "replay/json_members.hpp"
#include "replay/own_log.hpp"
#include "replay/report.hpp"
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
    order.add(arrival);
    while (const replay::Arrival* const next = order.next())
      run.receive(*next);
    if (logs.lines().read % requests_per_show == 0) progress.show(logs.position(), logs.size());
  }
  while (const replay::Arrival* const next = order.next(true))
    run.receive(*next);
  run.finish();
}

int run_replay(const ReplayOptions& options) {
  replay::JsonMembers members;
  if (!options.fields.empty()) {
    auto read = replay::read_members(options.fields);
    if (!read) return refuse("replay", "--fields: " + read.error().message);
    members = *std::move(read);
  }
  if (!http::parse_authority(options.host))
    return refuse("replay", "--host: expected a host, such as api.example.com");
  const auto loaded = config::load_file(options.file);
  if (!loaded) {
    print_diagnostics(std::cerr, options.file, loaded.error());
    return refused;
  }
  const config::Config& config = **loaded;
  auto logs = MergedLogs::open(options.logs, members);
  if (!logs) return refuse("replay", logs.error().message);
  const replay::OwnLogConfiguration own(config.proxy, config.limiter);
  const bool is_own = options.fields.empty();
  replay::Run run(is_own ? own.proxy : config.proxy, is_own ? own.limits : config.limiter,
                  store_of(config));
  replay_all(*logs, options.host, run);
  replay::Report report = run.report(options.keys);
  report.lines = logs->lines();
  std::cout << (options.json ? to_json(report) + '\n' : to_text(report));
  for (const std::string& problem : logs->problems())
    std::cerr << "weir replay: " << problem << '\n';
  return logs->problems().empty() ? succeeded : failed;
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
  command->footer(
      "Reads the Common and Combined Log Format, the JSON lines of Weir, and other JSON lines "
      "with\n"
      "--fields; plain, gzip or zstd. Several logs are merged by time. The rules are those of "
      "serve\n"
      "with the memory store, on the time of the log. Opens no connection. Example:\n"
      "  weir replay -c weir.yaml /var/log/nginx/access.log*\n"
      "  weir replay -c weir.yaml caddy.log --fields time=ts,client=request.remote_ip,\\\n"
      "method=request.method,target=request.uri,host=request.host,status=status,duration=duration,"
      "\\\n"
      "header:x-api-key=request.headers.X-Api-Key\n"
      "Exit code 1: a log could not be read to its end; 2: wrong usage or configuration.");
  command->callback([&chosen, options] { chosen = [options] { return run_replay(*options); }; });
}

}  // namespace weir::cli
