#include "identity/blanks.hpp"

#include "catch.hpp"

namespace weir::identity {

TEST_CASE("blanks at the ends of a value, in the middle they stay") {
  struct Row {
    std::string_view text;
    std::string_view value;
  };
  for (const Row& row : {Row{"", ""}, Row{"a b", "a b"}, Row{" \t\r\n\v\fa ", "a"},
                         Row{"\x1c\x1d\x1e\x1f"
                             "a",
                             "a"},
                         Row{"\xc2\xa0 \xef\xbb\xbf", ""}, Row{"\xe2\x80\x8a\xe2\x80\x80v", "v"},
                         Row{"v\xc2\x85\xe1\x9a\x80", "v"}, Row{"a\xc2\xa0z", "a\xc2\xa0z"},
                         Row{"a\xe2\x80\xaf\xe2\x80\xa8\xe2\x80\xa9\xe2\x81\x9f\xe3\x80\x80", "a"},
                         Row{"\x1b", "\x1b"}, Row{"a\x80", "a\x80"}, Row{"\xc2", "\xc2"},
                         Row{"\xe2\x80\x8b", "\xe2\x80\x8b"}, Row{"\xa0", "\xa0"},
                         Row{"voil\xc3\xa0", "voil\xc3\xa0"}}) {
    INFO(row.text);
    CHECK(without_unicode_blanks(row.text) == row.value);
  }
  CHECK(without_unicode_blanks(std::string_view("\0a\0", 3)) == "a");
  CHECK(without_blanks("\xa0v\x85 ") == "v");
  CHECK(without_blanks("\xc2\xa0v\xe3\x80\x80") == "v");
  CHECK(without_blanks("a\xa0z") == "a\xa0z");
  CHECK(without_blanks(" \t\n\v\f\r\x85\xa0 a\xa0 b\xa0\x85 \r") == "a\xa0 b");
  CHECK(without_blanks("\x08 a \x0e") == "\x08 a \x0e");
  CHECK(without_blanks(" \t").empty());
}

}  // namespace weir::identity
