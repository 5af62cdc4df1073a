#include "base/secret.hpp"

#include <ostream>
#include <string>
#include <type_traits>

#include "catch.hpp"

namespace weir {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
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
  CHECK(Secret("a") == Secret("a"));
  CHECK(Secret("a") != Secret("b"));
}

}  // namespace weir
