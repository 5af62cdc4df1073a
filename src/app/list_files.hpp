// Watches the files that a configuration names. Those of address lists, of plans and of keys are
// read again when they change. Those of the rate limit service cause a reload; so do files that are
// added to its patterns or removed. Also logs the names of plans that are unknown.
//
// They are checked once a second, not by inotify(7), so the number of files is not limited by
// watches. A file that cannot be read, is empty or has a wrong line is reported on the log, and its
// content stays in use. Not thread-safe: one loop; the workers look up clients meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/reload_report.hpp"
#include "config/config.hpp"
#include "config/data_files.hpp"
#include "limiter/unknown_plans.hpp"
#include "loop/calls.hpp"

namespace weir::app {

/// Decides when a file, or several that are read together, has to be read again. It is checked from
/// time to time. Pure. Stamp: config::FileStamp or StampedPaths.
template <class Stamp>
class Change {
 public:
  /// `read`: the stamp of the file before it was read.
  explicit Change(const Stamp& read) : read_(read), seen_(read) {}

  /// The stamp at a check. True: read the file now. That is the second check after a change, so
  /// that a file that is still being written is not read, and each later check until note_read().
  bool note(Stamp now) {
    const bool is_quiet = now == seen_;
    seen_ = std::move(now);
    return is_quiet && seen_ != read_;
  }
  /// The file of the last check was read, whether its content was right or wrong.
  void note_read() { read_ = seen_; }

 private:
  Stamp read_;
  Stamp seen_;  ///< at the last check
};
using FileChange = Change<config::FileStamp>;

class ListFiles {
 public:
  /// From one check to the next. A change counts after two at most (FileChange).
  static constexpr std::chrono::seconds check_interval{1};

  using Replaced = std::shared_ptr<const void>;
  /// Gets the result of a reload.
  using Reloaded = std::function<void(const admin::ReloadReport&)>;
  /// `replaced` gets the previous content of a file, which must be kept until every look-up in
  /// progress has ended.
  /// `reload` is called when files with limits have changed: they are policies.
  ListFiles(boost::asio::io_context& io, limiter::UnknownPlans& unknown_plans,
            std::function<void(Replaced)> replaced, std::function<void(Reloaded)> reload)
      : replaced_(std::move(replaced)),
        reload_(std::move(reload)),
        unknown_plans_(unknown_plans),
        next_check_(io) {}

  /// Checks the files of this configuration from now on, instead of others. It is the running one
  /// and has just read them. Providers of earlier configurations get the keys of their file too for
  /// as long as they exist, because a worker without memory for the next configuration goes on with
  /// the one it has.
  void watch(std::shared_ptr<const config::Config> config);
  void stop();

  const admin::FileReloads& counters() const { return counters_; }

 private:
  /// The outcome of reading a file: its content has been replaced, unless there is a problem.
  struct Reading : config::FileContent {
    explicit Reading(const config::FileContent& found) : FileContent(found) {}
    Replaced replaced{};  ///< the previous content; nullptr: nothing has to be kept
  };
  /// The keys of a provider in an earlier configuration.
  struct EarlierKeys {
    std::string provider;
    std::string path;
    std::weak_ptr<identity::ProviderState> state;
  };
  struct Watched {
    std::string name;  ///< for the log: `address list office`
    std::string path;
    FileChange change;
    admin::FileReloadCounters& counters;
    std::function<Reading()> read;
    std::function<std::string()> content;  ///< for the log: `12 prefixes`
    std::vector<std::string> reported{};   ///< why it could not be read at the last try
  };
  static Reading read_list(const config::ListFile& file);
  static Reading read_plans(const config::Config& config, const config::PlanFile& file);
  Reading read_keys(const config::KeyFile& file) const;
  void add(const config::DataFile& file, std::string name, admin::FileReloadCounters& counters,
           std::function<Reading()> read, std::function<std::string()> content);
  void keep_earlier();
  void publish_to_earlier(const config::KeyFile& file) const;
  void check();
  void check(Watched& watched);
  void check_limit_files();
  void note_reload(const admin::ReloadReport& report);
  static void report(const Watched& watched, const std::vector<std::string>& problems);
  void report_unknown_plans();

  const std::function<void(Replaced)> replaced_;
  const std::function<void(Reloaded)> reload_;
  limiter::UnknownPlans& unknown_plans_;
  std::shared_ptr<const config::Config> config_;
  std::vector<Watched> files_;
  std::optional<Change<config::StampedPaths>> limit_files_;
  std::vector<EarlierKeys> earlier_keys_;
  admin::FileReloads counters_;
  loop::Alarm next_check_;
};

}  // namespace weir::app
