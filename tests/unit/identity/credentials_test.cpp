#include "identity/credentials.hpp"

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

}  // namespace weir::identity
