#include "identity/credentials.hpp"

#include <string>
#include <string_view>

#include "catch.hpp"

namespace weir::identity {

TEST_CASE("the part of credentials that counts") {
  struct Row {
    std::string_view value;
    std::string_view counted;
  };
  for (const Row& row :
       {Row{"abc", "abc"}, Row{"Bearer", "Bearer"}, Row{" Bearer \t abc ", "abc"},
        Row{"x abc", "abc"}, Row{"Basic YTpi", "YTpi"}, Row{"Digest a=1, b=2", "a=1, b=2"},
        Row{"Token abc", "abc"}, Row{"TOKEN token=abc", "abc"}, Row{"Token token=\"abc\"", "abc"},
        Row{"Token token=\"abc\", nonce=\"1\"", "abc"}, Row{"Foo token=abc", "token=abc"}}) {
    INFO(row.value);
    CHECK(judge_credentials(row.value) == Credentials::clear);
    CHECK(counted_credentials(row.value) == row.counted);
  }
  CHECK(judge_credentials("Basic a b") == Credentials::base64);
  CHECK(judge_credentials("Bearer a b") == Credentials::words);
  CHECK(judge_credentials("") == Credentials::clear);
}

TEST_CASE("Basic credentials are clear if they are canonical Base64") {
  for (const char* value :
       {"Basic dXNlcjpwYXNz", "basic YTo=", "BASIC YQ==", "bAsIc \t /+8= ", "Basic", "Basic "}) {
    INFO(value);
    CHECK(judge_credentials(value) == Credentials::clear);
  }
  for (const char* value : {"Basic YTo", "Basic YTp=", "Basic YR==", "Basic YQ=", "Basic YQ===",
                            "Basic ====", "Basic YTo=YTo=", "Basic dXN-cjpw", "Basic dXNl cjpw",
                            "Basic =YTo", "basic\tYTo", "Basic a", "Basic =", "Basic =="}) {
    INFO(value);
    CHECK(judge_credentials(value) != Credentials::clear);
  }
}

TEST_CASE("the unused bits of the last digit are zero") {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t digit = 0; digit < digits.size(); ++digit) {
    const std::string last(1, digits[digit]);
    INFO(last);
    CHECK(judge_credentials("Basic AAA" + last) == Credentials::clear);
    CHECK((judge_credentials("Basic AA" + last + "=") == Credentials::clear) == (digit % 4 == 0));
    CHECK((judge_credentials("Basic A" + last + "==") == Credentials::clear) == (digit % 16 == 0));
  }
}

}  // namespace weir::identity
