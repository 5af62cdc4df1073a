#include "app/list_files.hpp"

#include <exception>
#include <variant>

#include "app/log.hpp"

namespace weir::app {
namespace {

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

void ListFiles::watch(std::shared_ptr<const config::Config> config) {
  report_unknown_plans();
  files_.clear();
  limit_files_.reset();
  keep_earlier();
  config_ = std::move(config);
  unknown_plans_.forget();
  for (const config::ListFile& file : config_->list_files) {
    add(
        file, "address list " + file.list.name(), counters_.address_lists,
        [file] { return read_list(file); },
        [list = file.list] { return counted(list.size(), "prefix", "prefixes"); });
  }
  for (const config::PlanFile& file : config_->plan_files) {
    add(
        file, "plan file " + file.shown, counters_.plan_files,
        [this, file] { return read_plans(*config_, file); },
        [table = file.table] { return counted(table.current().size(), "identity", "identities"); });
  }
  for (const config::KeyFile& file : config_->key_files) {
    publish_to_earlier(file);
    add(
        file, "keys of " + file.provider, counters_.key_files,
        [this, file] { return read_keys(file); },
        [state = file.state] {
          return counted(state->keys.edition().keys->size(), "key", "keys");
        });
  }
  if (!config_->limit_file_names.empty()) {
    config::StampedPaths read;
    for (const config::LimitFile& file : config_->limit_files)
      read.emplace_back(file.path, file.stamp);
    limit_files_.emplace(read);
  }
  next_check_.cancel();
  if (!files_.empty() || limit_files_ || !config_->limiter.plans.names.empty()) check();
}

void ListFiles::add(const config::DataFile& file, std::string name,
                    admin::FileReloadCounters& counters, std::function<Reading()> read,
                    std::function<std::string()> content) {
  files_.push_back({.name = std::move(name),
                    .path = file.path,
                    .change = FileChange(file.stamp),
                    .counters = counters,
                    .read = std::move(read),
                    .content = std::move(content)});
}

void ListFiles::keep_earlier() {
  std::erase_if(earlier_keys_, [](const EarlierKeys& one) { return one.state.expired(); });
  if (!config_) return;
  for (const config::KeyFile& file : config_->key_files)
    earlier_keys_.push_back({file.provider, file.path, file.state});
}

void ListFiles::publish_to_earlier(const config::KeyFile& file) const {
  for (const EarlierKeys& one : earlier_keys_) {
    if (one.provider != file.provider || one.path != file.path) continue;
    if (const auto state = one.state.lock()) state->keys.publish(file.state->keys.edition().keys);
  }
}

void ListFiles::stop() {
  config_.reset();
  files_.clear();
  limit_files_.reset();
  next_check_.cancel();
}

void ListFiles::check() {
  for (Watched& watched : files_) {
    if (!watched.change.note(config::stamp_of(watched.path))) continue;
    try {
      check(watched);
    } catch (const std::exception& thrown) {  // no memory; the next check tries again
      log_error({watched.name, ": ", thrown.what()});
      watched.counters.failed.add();
    }
  }
  check_limit_files();
  report_unknown_plans();
  next_check_.set(check_interval, [this] { check(); });
}

/// One reload for all files that have changed, and for those that were added or removed. A file
/// that is wrong is reported by the reload, and is not read again before it changes.
void ListFiles::check_limit_files() {
  if (!limit_files_) return;
  if (!limit_files_->note(config::stamped_paths(config_->limit_file_names))) return;
  limit_files_->note_read();
  reload_([this](const admin::ReloadReport& report) { note_reload(report); });
}

void ListFiles::note_reload(const admin::ReloadReport& report) {
  using enum admin::ReloadReport::Outcome;
  if (report.outcome == applied) counters_.limit_files.ok.add();
  if (report.outcome == rejected) counters_.limit_files.failed.add();
}

void ListFiles::check(Watched& watched) {
  Reading found = watched.read();
  if (found.problems.empty()) {
    if (found.replaced) replaced_(std::move(found.replaced));
    log_info({watched.name, ": file read again, ", watched.content()});
    for (const std::string& warning : found.warnings)
      log_warning({watched.name, ": ", warning});
    watched.counters.ok.add();
  } else if (found.problems != watched.reported) {
    report(watched, found.problems);
  }
  if (!found.is_unreadable) {
    watched.change.note_read();
    found.problems.clear();
  }
  watched.reported = std::move(found.problems);
}

ListFiles::Reading ListFiles::read_list(const config::ListFile& file) {
  AddressList list = file.list;
  config::AddressFile found =
      config::read_address_file(file.path, file.shown, config::reload_patience);
  Reading reading(found);
  if (reading.is_empty && list.size() > 0)
    reading.problems = {"the file is empty; write a comment into the file of an empty list"};
  if (reading.problems.empty()) reading.replaced = list.replace(std::move(found.prefixes));
  return reading;
}

ListFiles::Reading ListFiles::read_plans(const config::Config& config,
                                         const config::PlanFile& file) {
  auto table = file.table;
  config::PlanFileContent found =
      config::read_plan_file(file.path, file.shown, config::plan_line_rules(config, file.identity),
                             config::reload_patience);
  Reading reading(found);
  if (reading.is_empty && table.current().size() > 0)
    reading.problems = {"the file is empty; write a comment into a file without identities"};
  if (reading.problems.empty()) reading.replaced = table.replace(std::move(found.table));
  return reading;
}

/// Workers share the keys that they verify with, so the previous ones need not be kept here.
ListFiles::Reading ListFiles::read_keys(const config::KeyFile& file) const {
  config::KeyFileContent found =
      config::read_key_file(file.path, file.shown, config::reload_patience);
  Reading reading(found);
  if (reading.problems.empty()) {
    file.state->keys.publish(std::make_shared<const jwt::KeySet>(std::move(found.keys)));
    publish_to_earlier(file);
  }
  return reading;
}

void ListFiles::report(const Watched& watched, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems)
    log_error({watched.name, ": ", problem});
  log_error({watched.name, ": the previous content stays in use, ", watched.content()});
  watched.counters.failed.add();
}

void ListFiles::report_unknown_plans() {
  const auto [names, is_full] = unknown_plans_.take();
  for (const auto& [name, source] : names) {
    // A worker may have used an earlier configuration.
    if (!config_ || source >= config_->limiter.plans.sources.size()) continue;
    const auto& from = config_->limiter.plans.sources[source].from;
    const bool is_claim = std::holds_alternative<limiter::PlanFromClaim>(from);
    log_warning({"no plan is called \"", name, "\", which a request names (",
                 config_->shown()["plan_from"][source](config_->limiter.plans.sources[source]),
                 "); the default plan counts. Add it to plans, or correct the ",
                 is_claim ? "issuer of the token" : "proxy that sends it"});
  }
  if (is_full)
    log_warning({"more unknown plan names are not logged; weir_unknown_plans_total counts them"});
}

}  // namespace weir::app
