#include "cli/probe_echo.hpp"

#include "routing/segments.hpp"

namespace weir::cli {
namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int c = routing::escape_at(text.substr(i));
    out += c < 0 ? text[i] : static_cast<char>(c);
    if (c >= 0) i += 2;
  }
  return out;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

std::string without_echo(std::string body, std::string_view target) {
  constexpr std::string_view mark = "{path}";
  std::string spelling(target.substr(0, target.find('?')));
  for (int round = 0; round < 3; ++round) {
    std::string escaped = spelling;
    replace_all(escaped, "/", "\\/");
    if (spelling.size() > 1) {
      replace_all(body, spelling, mark);
      replace_all(body, escaped, mark);
    }
    spelling = decoded(spelling);
  }
  return body;
}

}  // namespace weir::cli
