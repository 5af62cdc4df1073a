#include "app/list_files.hpp"

#include <exception>
#include <spdlog/spdlog.h>
#include <utility>

#include "config/address_file.hpp"

namespace weir::app {
namespace {

/// A file that turned into a pipe must not stop the server's thread for long.
constexpr config::Patience patience = std::chrono::seconds(1);

}  // namespace

void ListFiles::watch(const std::vector<config::ListFile>& files) {
  files_.clear();
  for (const config::ListFile& file : files)
    files_.push_back({.file = file, .change = FileChange(file.stamp)});
  timer_.cancel();
  if (!files_.empty()) check();
}

void ListFiles::stop() {
  files_.clear();
  timer_.cancel();
}

void ListFiles::check() {
  for (Watched& watched : files_) {
    if (!watched.change.note(config::stamp_of(watched.file.path))) continue;
    try {
      read(watched);
    } catch (const std::exception& thrown) {  // no memory; the next check tries again
      spdlog::error("address list {}: {}", watched.file.list.name(), thrown.what());
      counters_.failed.add();
    }
  }
  timer_.expires_after(check_interval);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec && !files_.empty()) check();
  });
}

void ListFiles::read(Watched& watched) {
  AddressList& list = watched.file.list;
  config::AddressFile found =
      config::read_address_file(watched.file.path, watched.file.shown, patience);
  if (found.is_empty && list.size() > 0)
    found.problems = {"the file is empty; write a comment into the file of an empty list"};
  if (found.problems.empty()) {
    replaced_(list.replace(std::move(found.prefixes)));
    spdlog::info("address list {}: file read again, {} prefixes", list.name(), list.size());
    counters_.ok.add();
  } else if (found.problems != watched.reported) {
    report(list, found.problems);
  }
  if (!found.is_unreadable) {
    watched.change.note_read();
    found.problems.clear();
  }
  watched.reported = std::move(found.problems);
}

void ListFiles::report(const AddressList& list, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems)
    spdlog::error("address list {}: {}", list.name(), problem);
  spdlog::error("address list {}: the previous {} prefixes stay in use", list.name(), list.size());
  counters_.failed.add();
}

}  // namespace weir::app
