// The files of address lists, which are read again when they change.
//
// They are checked once a second, not by inotify(7), so the number of files is not limited by
// watches. A file that cannot be read, is empty or has a wrong line is reported on the log, and its
// list keeps its content. Not thread-safe: one loop; the workers look up addresses meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admin/reload_report.hpp"
#include "app/file_change.hpp"
#include "base/prefix_table.hpp"
#include "config/config.hpp"

namespace weir::app {

class ListFiles {
 public:
  /// From one check to the next. A change counts after two at most (FileChange).
  static constexpr std::chrono::seconds check_interval{1};

  using Replaced = std::shared_ptr<const PrefixTable>;
  /// `replaced` gets the previous content of a list, which must be kept until every look-up in
  /// progress has ended.
  ListFiles(boost::asio::io_context& io, std::function<void(Replaced)> replaced)
      : replaced_(std::move(replaced)), timer_(io) {}

  /// Checks these files from now on, instead of others: those of the running configuration, which
  /// has just read them.
  void watch(const std::vector<config::ListFile>& files);
  void stop();

  const admin::FileReloadCounters& counters() const { return counters_; }

 private:
  struct Watched {
    config::ListFile file;
    FileChange change;
    std::vector<std::string> reported{};  ///< why it could not be read at the last try
  };
  void check();
  void read(Watched& watched);
  void report(const AddressList& list, const std::vector<std::string>& problems);

  const std::function<void(Replaced)> replaced_;
  std::vector<Watched> files_;
  admin::FileReloadCounters counters_;
  boost::asio::steady_timer timer_;
};

}  // namespace weir::app
