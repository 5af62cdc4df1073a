#include "jwt/rejection.hpp"

#include <algorithm>
#include <set>

#include "catch.hpp"

namespace weir::jwt {
namespace {

constexpr int last_rejection = static_cast<int>(Rejection::bad_subject);

TEST_CASE("each rejection has a description of its own") {
  std::set<std::string_view> texts{"the token is not valid"};  // that of no rejection
  for (int i = 0; i <= last_rejection; ++i) {
    const std::string_view text = description_of(static_cast<Rejection>(i));
    CAPTURE(i, text);
    CHECK(texts.insert(text).second);
  }
}

TEST_CASE("a description fits between quotation marks in a field") {
  // RFC 6750 section 3: %x20-21 / %x23-5B / %x5D-7E
  for (int i = 0; i <= last_rejection; ++i) {
    const std::string_view text = description_of(static_cast<Rejection>(i));
    CAPTURE(text);
    CHECK_FALSE(text.empty());
    CHECK(std::ranges::all_of(
        text, [](char c) { return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\'; }));
  }
}

}  // namespace
}  // namespace weir::jwt
