#include "identity/node.hpp"

#include <string>

#include "catch.hpp"

namespace weir::identity {
namespace {

TEST_CASE("nodes") {
  for (const char* text : {"192.0.2.1", "192.0.2.1:1", "192.0.2.1:65535", "192.0.2.1:_a.b",
                           "[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]:0", "::ffff:192.0.2.1"}) {
    INFO(text);
    CHECK(parse_node(text) == IpAddress::v4({192, 0, 2, 1}));
  }
  for (const char* text : {"",
                           "unknown",
                           "_hidden",
                           "192.0.2.1:",
                           "192.0.2.1:65536",
                           "192.0.2.1:8a",
                           "192.0.2.1:_",
                           "[192.0.2.1]",
                           "[::1",
                           "::1]",
                           "[::1]:",
                           "[::1]x",
                           "[::1]:_",
                           "[]",
                           "[",
                           "[::1]:80:80",
                           "192.0.2.1 ",
                           "host:80",
                           "\"192.0.2.1\"",
                           ":80"}) {
    INFO(text);
    CHECK_FALSE(parse_node(text));
  }
}

TEST_CASE("the address of a Forwarded element is its only `for`") {
  const auto of = [](std::string_view element) {
    const auto address = forwarded_for(element);
    return address ? address->to_string() : "none";
  };
  for (const char* element :
       {"for=2.2.2.2", "FOR=2.2.2.2", "; for=2.2.2.2;", "by=_x;for=2.2.2.2 ;\tproto=http",
        "for=\"2.2.2.2:80\"", "for=\"2\\.2.2.2\"", "host=\"a;for=6.6.6.6\";for=2.2.2.2",
        "for=2.2.2.2;host=\"\""}) {
    INFO(element);
    CHECK(of(element) == "2.2.2.2");
  }
  for (const char* element :
       {"", ";", "proto=http", "for", "for=", "=2.2.2.2", "for =2.2.2.2", "for= 2.2.2.2",
        "for=2.2.2.2;for=2.2.2.2", "for=unknown;for=2.2.2.2", "for=2.2.2.2 by=_x",
        "for=\"2.2.2.2\"x", "for=\"2.2.2.2", "for=\"2.2.2.2\\", "for=2.2.2.2;by",
        "for=2.2.2.2;b y=1", "for=2.2.2.2\"", "for=\"\""}) {
    INFO(element);
    CHECK(of(element) == "none");
  }
}

TEST_CASE("a quoted value of a Forwarded element is at most 64 characters") {
  const auto with_value_of = [](std::size_t size) {
    return "for=1.1.1.1;host=\"" + std::string(size, 'a') + "\"";
  };
  CHECK(forwarded_for(with_value_of(64)));
  CHECK_FALSE(forwarded_for(with_value_of(65)));
  CHECK_FALSE(forwarded_for(with_value_of(1000)));
}

TEST_CASE("elements are taken from the end, without white space") {
  std::string_view list = " a , b,, \tc\t";
  for (const char* element : {"c", "", "b", "a"}) {
    CHECK_FALSE(list.empty());
    CHECK(take_last_element(list) == element);
  }
  CHECK(list.empty());
  CHECK(take_last_element(list).empty());
}

TEST_CASE("commas in quoted strings do not separate Forwarded elements") {
  std::string_view list = R"(a="1,2", b="3\",c="\\",d="x\",y" )";
  CHECK(take_last_forwarded_element(list) == R"(d="x\",y")");
  CHECK(list == R"(a="1,2", b="3\",c="\\")");
  CHECK(take_last_forwarded_element(list) == R"(c="\\")");
  list = R"(a="1,2" , b=2)";
  CHECK(take_last_forwarded_element(list) == "b=2");
  CHECK(take_last_forwarded_element(list) == R"(a="1,2")");
  CHECK(list.empty());
  list = R"(a=",b)";  // the quote that is open on the left hides nothing
  CHECK(take_last_forwarded_element(list) == "b");
}

}  // namespace
}  // namespace weir::identity
