#include "cli/merged_logs.hpp"

#include <algorithm>
#include <utility>

namespace weir::cli {

Result<MergedLogs> MergedLogs::open(const std::vector<std::string>& paths,
                                    const replay::JsonMembers& members) {
  MergedLogs logs;
  for (const std::string& path : paths) {
    auto file = LogFile::open(path);
    if (!file) return Problem{path + ": " + file.error().message};
    logs.sources_.push_back(
        {.path = path, .file = *std::move(file), .lines = replay::LogLines(members)});
  }
  for (Source& source : logs.sources_)
    logs.advance(source);
  return logs;
}

std::optional<replay::LoggedRequest> MergedLogs::next() {
  if (used_ != nullptr) advance(*std::exchange(used_, nullptr));
  for (Source& source : sources_) {
    if (source.request && (used_ == nullptr || source.place() < used_->place())) used_ = &source;
  }
  if (used_ == nullptr) return std::nullopt;
  ++lines_.read;
  return used_->request;
}

/// Reads until the next request of a log.
void MergedLogs::advance(Source& source) {
  source.request.reset();
  for (;;) {
    while (const auto line = source.lines.next(source.is_at_end)) {
      if (*line) {
        source.request = **line;
        source.clock.note((*line)->at);
        return;
      }
      ++lines_.unreadable;
      if (lines_.first_faults.size() < replay::LineReport::most_faults)
        lines_.first_faults.push_back(
            {.file = source.path, .number = source.lines.number(), .fault = line->error()});
    }
    if (source.is_at_end) return;
    const auto piece = source.file->read();
    if (!piece) problems_.push_back(source.path + ": " + piece.error().message);
    source.is_at_end = !piece || piece->empty();
    source.lines.feed(piece ? *piece : std::string_view());
  }
}

std::uint64_t MergedLogs::position() const {
  std::uint64_t sum = 0;
  for (const Source& source : sources_)
    sum += source.file->position();
  return sum;
}

std::uint64_t MergedLogs::size() const {
  std::uint64_t sum = 0;
  for (const Source& source : sources_) {
    if (source.file->size() == 0) return 0;
    sum += source.file->size();
  }
  return sum;
}

}  // namespace weir::cli
