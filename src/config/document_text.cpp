#include "config/document_text.hpp"

#include "http/utf8.hpp"

namespace weir::config {

namespace {

bool is_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::optional<Diagnostic> find_bad_byte(std::string_view text) {
  // A text in UTF-16 begins with this mark, or has a zero in each pair of bytes.
  const std::string_view start = text.substr(0, 2);
  if (start == "\xff\xfe" || start == "\xfe\xff" || start.find('\0') != std::string_view::npos) {
    return Diagnostic{.line = 1,
                      .column = 1,
                      .key_path = {},
                      .message = "this is UTF-16 or no text; save the file as UTF-8"};
  }
  int line = 1;
  int column = 1;
  while (!text.empty()) {
    const http::Utf8Step step = http::next_utf8(text);
    if (!step.well_formed) {
      return Diagnostic{.line = line,
                        .column = column,
                        .key_path = {},
                        .message = "not valid UTF-8; save the file as UTF-8"};
    }
    if (!is_printable(text.front())) {
      return Diagnostic{
          .line = line,
          .column = column,
          .key_path = {},
          .message =
              R"(control character in the file; in a value write it as an escape, as "\x07")"};
    }
    column += static_cast<int>(step.length);
    if (text.front() == '\n') {
      ++line;
      column = 1;
    }
    text.remove_prefix(step.length);
  }
  return std::nullopt;
}

}  // namespace weir::config
