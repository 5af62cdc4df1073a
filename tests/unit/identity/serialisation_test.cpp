#include "identity/serialisation.hpp"

#include <string>

#include "catch.hpp"

namespace weir::identity {
namespace {

using namespace std::string_literals;

TEST_CASE("parts have their length before them, so two identities never have the same bytes") {
  Serialisation one;
  one.part("ab");
  one.part("c");
  CHECK(one.view() == "\2\0\0\0ab\1\0\0\0c"s);
  Serialisation other;
  other.part("a");
  other.part("bc");
  CHECK(one.view() != other.view());
  Serialisation tagged;
  tagged.tag(Tag::header);
  tagged.count(0x01020304);
  CHECK(tagged.view() == "\2\4\3\2\1"s);
}

TEST_CASE("only the new part is in lower case") {
  Serialisation out;
  out.part("Up");
  out.part_in_lower_case("Low\xc3\x84");
  CHECK(out.view() == "\2\0\0\0Up\5\0\0\0low\xc3\x84"s);
}

TEST_CASE("a value is decoded, and blanks at its ends are removed") {
  const auto [written, value] = GENERATE(table<std::string, std::string>({
      {"plain", "plain"},
      {"%41%2fb", "A/b"},
      {"%20%09 a b %20", "a b"},
      {"", ""},
      {"%20", ""},
  }));
  CAPTURE(written);
  Serialisation out;
  out.tag(Tag::query);
  CHECK(out.part_decoded_and_trimmed(written) == !value.empty());
  Serialisation expected;
  expected.tag(Tag::query);
  expected.part(value);
  CHECK(out.view() == expected.view());
}

TEST_CASE("a cut leaves the parts before it") {
  Serialisation out;
  out.part("kept");
  const std::size_t size = out.size();
  out.part(std::string(1000, 'x'));
  out.cut_to(size);
  CHECK(out.view() == "\4\0\0\0kept"s);
}

TEST_CASE("claims identify a client if they are a text, a number or a boolean") {
  using Kind = jwt::ClaimKind;
  for (const Kind kind : {Kind::text, Kind::number, Kind::boolean}) {
    Serialisation out;
    CHECK(out.part_claim("login", "/sub", {.kind = kind, .text = "1"}));
    Serialisation other;
    CHECK(other.part_claim("other", "/sub", {.kind = kind, .text = "1"}));
    CHECK(out.view() != other.view());
  }
  for (const Kind kind : {Kind::absent, Kind::list, Kind::object}) {
    Serialisation out;
    CHECK_FALSE(out.part_claim("login", "/sub", {.kind = kind, .text = "1"}));
    CHECK(out.size() == 0);
  }
  Serialisation text;
  Serialisation number;
  text.part_claim("login", "/sub", {.kind = Kind::text, .text = "1"});
  number.part_claim("login", "/sub", {.kind = Kind::number, .text = "1"});
  CHECK(text.view() != number.view());
}

TEST_CASE("a path may be counted without case and without a slash at its end") {
  const auto bytes = [](std::string_view path, bool ignores_case, bool ignores_slash) {
    Serialisation out;
    append_path(path, ignores_case, ignores_slash, out);
    return std::string(out.view());
  };
  CHECK(bytes("/A/", true, true) == bytes("/a", false, false));
  CHECK(bytes("/A/", true, false) == bytes("/a/", false, false));
  CHECK(bytes("/A/", false, true) == bytes("/A", false, false));
  CHECK(bytes("/", true, true) == bytes("/", false, false));
}

TEST_CASE("an address that is written counts as its network") {
  const ClientAddressOptions client;
  const ValueOptions options{.client = client};
  const auto bytes = [&](std::string_view written) -> std::string {
    Serialisation out;
    const bool can_be = ValueWriter(written, options, out)(FromClientAddress{});
    return can_be ? std::string(out.view()) : "none";
  };
  CHECK(bytes("10.0.0.1") != "none");
  CHECK(bytes("10.0.0.1") == bytes("10.0.0.1/32"));
  CHECK(bytes("10.0.0.1") != bytes("10.0.0.2"));
  CHECK(bytes("10.0.0.0/8") == "none");  // no client is counted by that prefix
  CHECK(bytes("word") == "none");
}

}  // namespace
}  // namespace weir::identity
