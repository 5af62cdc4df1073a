// `weir hash`: the keyed hash of an identity, as the access log and Redis show it.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/descriptor_arguments.hpp"
#include "config/data_files.hpp"
#include "config/load.hpp"
#include "config/suggest.hpp"
#include "identity/descriptor_key.hpp"
#include "identity/written_key.hpp"
#include "rls/descriptor_rules.hpp"

namespace weir::cli {
namespace {

using identity::WrittenKey;

struct HashOptions {
  std::string file = "/etc/weir/weir.yaml";
  std::string identity;
  std::vector<std::string> values;
};

/// The values as given, with a line of standard input for each `-`: arguments of a command are
/// visible to other users of the machine.
std::vector<std::string> values_of(const HashOptions& options) {
  std::vector<std::string> values = options.values;
  for (std::string& value : values) {
    if (value == "-") std::getline(std::cin, value = {});
  }
  return values;
}

/// The values that belong together: all for an identity that combines several sources, else each
/// alone.
std::vector<std::vector<std::string_view>> groups_of(const std::vector<std::string>& values,
                                                     const identity::Source& source) {
  if (!identity::has_one_value(source)) return {{values.begin(), values.end()}};
  std::vector<std::vector<std::string_view>> groups;
  for (const std::string& value : values)
    groups.push_back({value});
  return groups;
}

std::string no_key(const identity::Definition& identity) {
  const std::string as = " as " + identity.name + " (" + describe(identity.source) + ')';
  if (identity::has_one_value(identity.source)) return "no request can have this value" + as;
  return "no request can have these values" + as +
         "; give one VALUE for each source of all_of, in its order";
}

void print_keys(const std::vector<WrittenKey>& keys, bool shows_sources) {
  for (const WrittenKey& key : keys) {
    std::string line;
    append_hex(line, key.key);
    if (shows_sources) line.append("  ").append(key.source);
    std::cout << line << '\n';
  }
}

/// A plan file is made with the hashes, so it may not exist yet.
config::Loaded load_without_data_files(const std::string& file) {
  const auto text = config::read_text(file);
  if (!text) return text.error();
  config::Environment environment = config::process_environment(file);
  environment.reads_data_files = false;
  return config::load_text(*text, environment);
}

void warn_of_missing_secret(const config::Config& config) {
  if (config.limiter.identity_key == sip_key_from_secret({}))
    std::cerr << "weir hash: identity_secret is not set here: an instance that has one shows other "
                 "hashes\n";
}

/// The key that a limit of a file has for these entries.
int hash_entries(const config::Config& config, const std::vector<std::string>& texts) {
  const auto entries = read_entries_of(texts);
  if (!entries) return refuse_usage("hash", "VALUE: " + entries.error().message);
  std::string line;
  append_hex(line,
             identity::key_of_entries(*entries, rls::configured_kind, config.limiter.identity_key));
  std::cout << line << '\n';
  warn_of_missing_secret(config);
  return succeeded;
}

int hash(const HashOptions& options) {
  const auto loaded = load_without_data_files(options.file);
  if (!loaded) {
    print_diagnostics(std::cerr, options.file, loaded.error());
    return refused;
  }
  const config::Config& config = **loaded;
  std::vector<std::string_view> names;
  for (const auto& identity : config.limiter.identities)
    names.push_back(identity.name);
  const auto found =
      std::ranges::find(config.limiter.identities, options.identity, &identity::Definition::name);
  if (found == config.limiter.identities.end()) {
    return refuse("hash", "--identity: no identity is called " +
                              config::in_quotes(options.identity) +
                              config::hint(options.identity, names));
  }
  const auto index = static_cast<std::size_t>(found - config.limiter.identities.begin());
  if (config.rate_limit_service && index == config.rate_limit_service->identity)
    return hash_entries(config, values_of(options));
  const auto rules = config::plan_line_rules(config, index);
  const identity::Source shown = config.shown()["identities"][found->name](found->source);
  const std::vector<std::string> values = values_of(options);
  std::vector<std::vector<WrittenKey>> all;
  for (const auto& group : groups_of(values, found->source)) {
    all.push_back(identity::written_keys(found->source, group, rules.values, rules.key));
    if (all.back().empty()) return refuse("hash", no_key({.name = found->name, .source = shown}));
  }
  const bool shows_sources =
      std::ranges::any_of(all, [](const auto& keys) { return keys.size() > 1; });
  for (const auto& keys : all)
    print_keys(keys, shows_sources);
  warn_of_missing_secret(config);
  return succeeded;
}

}  // namespace

void add_hash(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("hash", "Print the hash of an identity that logs and Redis show");
  const auto options = std::make_shared<HashOptions>();
  command->add_option("--config,-c", options->file, "The configuration")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--identity,-i", options->identity, "The identity, such as client")
      ->required()
      ->type_name("NAME");
  command->add_option("VALUE", options->values, "Its value, or - to read it from standard input")
      ->required()
      ->type_name("");
  command->footer(
      "The value is as the service sees it: an API key, a decoded parameter, an address, a claim.\n"
      "An identity with all_of takes a VALUE for each source, in its order; others print a line\n"
      "for each VALUE. If a request can have the value in several ways (any_of, or a claim that\n"
      "may be a number), each hash is printed with its source. identity_secret must be that of\n"
      "the running instance. Plan files, address lists and JWK sets are not read. With\n"
      "rate_limit_service, --identity descriptor takes the entries of a descriptor as KEY=VALUE, "
      "in\n"
      "their order, with the pattern in place of a value whose pattern has share_threshold. "
      "Examples:\n"
      "  weir hash -c weir.yaml --identity client 192.0.2.7\n"
      "  weir hash -c weir.yaml --identity descriptor path=/login remote_address=192.0.2.7");
  command->callback([&chosen, options] { chosen = [options] { return hash(*options); }; });
}

}  // namespace weir::cli
