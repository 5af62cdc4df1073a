#include "app/file_watch.hpp"

#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "app/log.hpp"

namespace weir::app {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as the kernel follows (path_resolution(7))

constexpr std::uint32_t watched_events =
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;

/// A file that was just created is not complete: the end of writing is an event of its own. A link
/// is complete.
bool is_complete(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return false;
  return !S_ISREG(found.st_mode) || found.st_nlink > 1;
}

std::string_view remedy(int error) {
  if (error == ENOSPC) return "; raise fs.inotify.max_user_watches";
  if (error == EACCES) return "; the directory must be readable";
  return "";
}

}  // namespace

std::vector<PathStep> steps_to(const fs::path& file) {
  std::vector<PathStep> steps;
  std::error_code error;
  const fs::path relative_to_root = fs::absolute(file, error).relative_path();
  std::deque<fs::path> rest(relative_to_root.begin(), relative_to_root.end());
  fs::path at = "/";
  for (int links = 0; !rest.empty();) {
    const fs::path name = rest.front();
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    steps.push_back({at, name.string()});
    const fs::path next = at / name;
    const auto status = fs::symlink_status(next, error);
    if (!fs::exists(status)) break;
    if (!fs::is_symlink(status)) {
      at = next;
      continue;
    }
    if (++links > most_links) break;
    const fs::path target = fs::read_symlink(next, error);
    if (error) break;
    if (target.is_absolute()) at = "/";
    const fs::path relative = target.relative_path();
    rest.insert(rest.begin(), relative.begin(), relative.end());
  }
  return steps;
}

FileWatch::FileWatch(boost::asio::io_context& io, fs::path file, std::function<void()> changed)
    : file_(std::move(file)), changed_(std::move(changed)), io_(io), burst_end_(io) {}

Result<void> FileWatch::start() {
  events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events_ < 0) {
    return Problem{"cannot watch " + file_.string() + ": " + std::system_category().message(errno) +
                   "; raise fs.inotify.max_user_instances, or leave out --watch"};
  }
  watch_.emplace(io_, loop::Descriptor(events_), [this] { on_events(); });
  if (auto watching = watch_steps(); !watching)
    return Problem{watching.error().message + ", or leave out --watch"};
  return {};
}

void FileWatch::stop() {
  watch_.reset();
  burst_end_.cancel();
}

/// Replaces the names of directories that are watched, and removes watches that are no longer
/// needed. Watches what it can, and returns the last failure.
Result<void> FileWatch::watch_steps() {
  Result<void> result;
  std::map<int, std::set<std::string>> names;
  std::map<int, fs::path> directories;
  for (const PathStep& step : steps_to(file_)) {
    const int watch = ::inotify_add_watch(events_, step.directory.c_str(), watched_events);
    if (watch < 0) {
      // A directory that has just been removed or replaced: its parent is watched.
      if (errno == ENOENT || errno == ENOTDIR) continue;
      result = Problem{"cannot watch " + step.directory.string() + ": " +
                       std::system_category().message(errno) + std::string(remedy(errno))};
      continue;
    }
    names[watch].insert(step.name);
    directories[watch] = step.directory;
  }
  for (const auto& [watch, unused] : names_) {
    if (!names.contains(watch)) ::inotify_rm_watch(events_, watch);
  }
  names_ = std::move(names);
  directories_ = std::move(directories);
  return result;
}

void FileWatch::watch_again() {
  const auto watching = watch_steps();
  std::string failure = watching ? std::string() : watching.error().message;
  if (!failure.empty() && failure != last_failure_)
    log_warning({"--watch: ", failure, "; changes there are not noticed, reload by SIGHUP"});
  last_failure_ = std::move(failure);
}

void FileWatch::on_events() {
  if (read_events()) note_event();
}

/// True if one of them concerns the path of the file.
bool FileWatch::read_events() {
  alignas(inotify_event) char buffer[16 * (sizeof(inotify_event) + NAME_MAX + 1)];
  bool concerned = false;
  for (;;) {
    const ssize_t size = ::read(events_, buffer, sizeof buffer);
    if (size <= 0) return concerned;
    for (const char* at = buffer; at < buffer + size;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(at);
      const std::string name = event.len > 0 ? event.name : "";
      concerned =
          concerned || (event.mask & IN_Q_OVERFLOW) != 0 || concerns(event.wd, name, event.mask);
      at += sizeof(inotify_event) + event.len;
    }
  }
}

bool FileWatch::concerns(int watch, const std::string& name, std::uint32_t what) const {
  const auto names = names_.find(watch);
  if (names == names_.end() || !names->second.contains(name)) return false;
  return (what & IN_CREATE) == 0 || is_complete(directories_.at(watch) / name);
}

/// Watches the path as it is now, and waits for the end of the burst.
void FileWatch::note_event() {
  watch_again();
  const auto now = std::chrono::steady_clock::now();
  burst_end_.set(std::chrono::ceil<Duration>(burst_.note(now) - now), [this] { end_burst(); });
}

void FileWatch::end_burst() {
  burst_.end();
  watch_again();  // then every change after the file is read is an event
  if (!note_missing()) changed_();
}

bool FileWatch::note_missing() {
  std::error_code error;
  const bool was_missing = is_missing_;
  is_missing_ = !fs::exists(file_, error) && !error;
  if (is_missing_ && !was_missing)
    log_warning({"--watch: ", file_.native(), " is missing; the running configuration stays"});
  return is_missing_;
}

}  // namespace weir::app
