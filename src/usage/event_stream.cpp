#include "usage/event_stream.hpp"

#include "usage/find_byte.hpp"

namespace weir::usage {
namespace {

constexpr std::string_view field_name = "data";
constexpr std::string_view start_of_data = "data:";

}  // namespace

void EventStream::feed(std::string_view piece, JsonScanner& scanner) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != end) {
    if (is_after_carriage_return_ && *at == '\n') ++at;
    is_after_carriage_return_ = false;
    const char* const stop = find_either<'\r', '\n'>(at, end);
    read_line({at, static_cast<std::size_t>(stop - at)}, scanner);
    if (stop == end) return;
    end_line(scanner);
    is_after_carriage_return_ = *stop == '\r';
    at = stop + 1;
  }
}

void EventStream::read_line(std::string_view part, JsonScanner& scanner) {
  read_name(part, scanner);
  if (line_ == Line::colon && !part.empty()) {
    if (part.front() == ' ') part.remove_prefix(1);
    line_ = Line::data;
  }
  if (line_ == Line::data) read_data(part, scanner);
}

void EventStream::read_name(std::string_view& part, JsonScanner& scanner) {
  if (line_ == Line::name && matched_ == 0 && part.starts_with(start_of_data)) {
    part.remove_prefix(start_of_data.size());
    line_ = Line::colon;
    return start_data(scanner);
  }
  for (; line_ == Line::name && !part.empty(); part.remove_prefix(1)) {
    const char expected = matched_ < field_name.size() ? field_name[matched_] : ':';
    if (part.front() != expected) {
      line_ = Line::other;
    } else if (++matched_ > field_name.size()) {
      line_ = Line::colon;
      start_data(scanner);
    }
  }
}

/// Separates the line from earlier data lines of the event.
void EventStream::start_data(JsonScanner& scanner) {
  if (content_ == Content::json) scanner.feed("\n");
}

void EventStream::read_data(std::string_view part, JsonScanner& scanner) {
  if (content_ == Content::unknown) {
    const std::size_t start = part.find_first_not_of(" \t");
    if (start == std::string_view::npos) return;
    content_ = part[start] == '{' || part[start] == '[' ? Content::json : Content::other;
  }
  if (content_ == Content::json) scanner.feed(part);
}

void EventStream::end_line(JsonScanner& scanner) {
  if (line_ == Line::name && matched_ == 0) {
    end_event(scanner);
  } else if (line_ == Line::name && matched_ == field_name.size()) {
    start_data(scanner);  // a line without a colon has an empty value
  }
  line_ = Line::name;
  matched_ = 0;
}

void EventStream::end_event(JsonScanner& scanner) {
  if (content_ == Content::json) scanner.end_document();
  content_ = Content::unknown;
}

void EventStream::finish(JsonScanner& scanner) {
  end_line(scanner);
  end_event(scanner);
}

}  // namespace weir::usage
