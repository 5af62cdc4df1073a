// Logs in pieces, of one format and of several.
#include "replay/log_lines.hpp"

#include "catch.hpp"

namespace weir::replay {
namespace {

constexpr std::string_view mixed =
    "192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] \"GET /a HTTP/1.1\" 200 1\r\n"
    "\n"
    "nonsense\n"
    "{\"time\":1767225600,\"client\":\"192.0.2.2\",\"method\":\"GET\",\"path\":\"/b\"}\n"
    "192.0.2.3 - - [10/Oct/2000:20:55:37 +0000] \"GET /c HTTP/1.1\" 200 1";

/// `1:/a` for a line with a request, `3:form` for one with a fault.
std::string read_in_pieces(std::string_view log, std::size_t size) {
  LogLines lines;
  std::string out;
  const auto take = [&](bool is_end) {
    while (const auto line = lines.next(is_end)) {
      out += std::to_string(lines.number()) + ":";
      out += *line ? std::string((*line)->target) : "fault" + std::to_string(int(line->error()));
      out += ' ';
    }
  };
  while (!log.empty()) {
    const std::string piece(log.substr(0, size));
    log.remove_prefix(piece.size());
    lines.feed(piece);
    take(false);
  }
  lines.feed({});
  take(true);
  return out;
}

}  // namespace

TEST_CASE("pieces of any size give the same lines") {
  for (const std::size_t size : {1, 2, 3, 7, 64, 100, 1000}) {
    CAPTURE(size);
    CHECK(read_in_pieces(mixed, size) == "1:/a 3:fault0 4:/b 5:/c ");
  }
  CHECK(read_in_pieces("", 1).empty());
  CHECK(read_in_pieces("\n\n", 1).empty());
}

TEST_CASE("a line that is too long is skipped, and the next one is read") {
  const std::string log = std::string(LogLines::longest + 1, 'x') + "\n" +
                          std::string(mixed.substr(0, mixed.find('\n')));
  CHECK(read_in_pieces(log, 4096) == "1:fault3 2:/a ");
  CHECK(read_in_pieces(std::string(2 * LogLines::longest, 'x'), 4096) == "1:fault3 ");
}

}  // namespace weir::replay
