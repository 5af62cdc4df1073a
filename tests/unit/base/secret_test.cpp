#include "base/secret.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "catch.hpp"

namespace weir {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

template <class T, class U>
concept Comparable = requires(const T& one, const U& other) {
  one == other;
};

}  // namespace

TEST_CASE("a secret is neither printed nor converted to text") {
  static_assert(!Printable<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string>);
  static_assert(!std::is_constructible_v<std::string, Secret>);
  static_assert(!std::is_convertible_v<std::string, Secret>);
  CHECK(Secret("s3cret").reveal() == "s3cret");
  CHECK(Secret().empty());
  CHECK_FALSE(Secret("a").empty());
}

TEST_CASE("a secret is compared as a whole, and never with == as a text") {
  static_assert(!Comparable<Secret, std::string>);
  static_assert(!Comparable<Secret, std::string_view>);
  static_assert(!Comparable<Secret, const char*>);
  const Secret secret("s3cret");
  CHECK(secret.equals("s3cret"));
  for (const std::string_view other :
       {""sv, "s"sv, "s3cre"sv, "s3creT"sv, "S3cret"sv, "s3crets"sv, "s3cret\0"sv})
    CHECK_FALSE(secret.equals(other));
  CHECK(Secret().equals(""));
  CHECK_FALSE(Secret().equals("s"));
  CHECK_FALSE(Secret("a\0"s).equals("a"));
  CHECK(Secret("a") == Secret("a"));
  CHECK(Secret("a") != Secret("b"));
  CHECK(Secret("a") != Secret("ab"));
}

}  // namespace weir
