#include "tls/client_hello.hpp"

#include <string>

#include "catch.hpp"

namespace weir::tls {
namespace {

std::string record(const std::string& content) {
  return std::string("\x16\x03\x01", 3) + static_cast<char>(content.size() >> 8) +
         static_cast<char>(content.size()) + content;
}

/// A ClientHello of so many bytes without its header.
std::string hello(std::size_t size) {
  return std::string(1, '\1') + static_cast<char>(size >> 16) + static_cast<char>(size >> 8) +
         static_cast<char>(size) + std::string(size, '\3');
}

/// As a session waits for it: the sizes at which it looks, the last one that of the complete hello.
std::string looks(const std::string& all) {
  std::string sizes;
  std::size_t size = 1;
  for (;;) {
    sizes += " " + std::to_string(size);
    const std::size_t needed = needed_for_hello(std::string_view(all).substr(0, size));
    if (needed == 0) return sizes;
    REQUIRE(needed > size);
    if (needed > all.size()) return sizes + " >" + std::to_string(needed);
    size = needed;
  }
}

TEST_CASE("a ClientHello is complete with its last byte") {
  CHECK(looks(record(hello(512))) == " 1 5 521");
  CHECK(needed_for_hello({}) == 5);
  for (const std::size_t size : {0, 1, 255, 256, 2000, 16380}) {
    const std::string all = record(hello(size));
    CAPTURE(size);
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(needed_for_hello(std::string_view(all).substr(0, i)) == (i < 5 ? 5 : all.size()));
    CHECK(needed_for_hello(all) == 0);
    CHECK(needed_for_hello(all + "more") == 0);
  }
}

TEST_CASE("a ClientHello may be cut into records") {
  const std::string message = hello(6);
  std::string all;
  for (const char byte : message)
    all += record(std::string(1, byte));
  CHECK(looks(all) == " 1 5 6 11 12 17 18 23 24 29 30 35 36 41 42 47 48 53 54 59 60");
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(needed_for_hello(std::string_view(all).substr(0, i)) > i);
  CHECK(looks(record(message.substr(0, 7)) + record(message.substr(7))) == " 1 5 12 17 20");
}

TEST_CASE("a part of a ClientHello is not enough, however complete its records are") {
  CHECK(looks(record("\1")) == " 1 5 6 >11");
  CHECK(looks(record(hello(100).substr(0, 20))) == " 1 5 25 >30");
  CHECK(looks(record(hello(100).substr(0, 103))) == " 1 5 108 >113");
  // The second record would go beyond what is waited for.
  const std::string second = record("\1") + std::string("\x16\x03\x01\x40\0", 5);
  CHECK(needed_for_hello(second) == most_of_hello);
}

TEST_CASE("a ClientHello larger than a record is not waited for") {
  const std::string large = record(hello(20'000).substr(0, 16384));
  CHECK(needed_for_hello(std::string_view(large).substr(0, large.size() - 1)) == most_of_hello);
  CHECK(needed_for_hello(large) == 0);
}

TEST_CASE("bytes that are not a ClientHello are not waited for") {
  for (const std::string& bytes :
       {std::string("\x80"), std::string("\x15\x03\x01"), std::string(3, '\0'), record("hello"),
        record({}), std::string("\x16\x03\x01\x40\x01", 5), record("\1") + "\x17"}) {
    CAPTURE(bytes);
    CHECK(needed_for_hello(bytes) == 0);
  }
}

}  // namespace
}  // namespace weir::tls
