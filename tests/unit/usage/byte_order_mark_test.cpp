#include "usage/byte_order_mark.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"

namespace weir::usage {
namespace {

/// Returns the rest of a body that arrives in pieces of `size` bytes.
std::string without_mark(std::string_view body, std::size_t size) {
  ByteOrderMark mark;
  std::string left;
  while (!body.empty()) {
    std::string_view piece = body.substr(0, size);
    body.remove_prefix(std::min(size, body.size()));
    left += mark.remove_from(piece);
    left += piece;
  }
  return left;
}

TEST_CASE("a mark at the start is removed, and nothing else, in whatever pieces it arrives") {
  const auto [body, left] = GENERATE(table<std::string, std::string>({
      {"", ""},
      {"{}", "{}"},
      {"\xef\xbb\xbf", ""},
      {"\xef\xbb\xbf{}", "{}"},
      {"\xef\xbb\xbf\xef\xbb\xbf{}", "\xef\xbb\xbf{}"},  // the second is content
      {"\xef\xbb{}", "\xef\xbb{}"},
      {"\xef{}", "\xef{}"},
      {"\xef\xbb\xbe", "\xef\xbb\xbe"},
      {"{\xef\xbb\xbf}", "{\xef\xbb\xbf}"},
  }));
  for (const std::size_t size : {1, 2, 3, 4, 100}) {
    CAPTURE(body, size);
    CHECK(without_mark(body, size) == left);
  }
}

}  // namespace
}  // namespace weir::usage
