#include "http/request_id.hpp"

#include <string>

#include "catch.hpp"

namespace weir::http {
namespace {

std::string text_of(const UuidText& uuid) {
  return {uuid.data(), uuid.size()};
}

}  // namespace

// RFC 9562 appendix A.6.
TEST_CASE("a UUID of version 7 is that of the RFC") {
  const Instant now = Instant{} + std::chrono::milliseconds(0x017F22E279B0);
  CHECK(text_of(uuid_v7(now, 0xCC3, std::uint64_t{0x18C4DC0C0C07398F} << 2)) ==
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST_CASE("version and variant stay whatever the random bits are, and later ids sort after") {
  const Instant now = Instant{} + std::chrono::milliseconds(1'795'000'000'000);
  const auto ones = text_of(uuid_v7(now, ~0ULL, ~0ULL));
  const auto zeros = text_of(uuid_v7(now, 0, 0));
  CHECK(ones.substr(13) == "-7fff-bfff-ffffffffffff");
  CHECK(zeros.substr(13) == "-7000-8000-000000000000");
  CHECK(ones < text_of(uuid_v7(now + std::chrono::milliseconds(1), 0, 0)));
  CHECK(zeros == text_of(uuid_v7(now + std::chrono::microseconds(999), 0, 0)));
}

TEST_CASE("an id of a peer has a bounded length and no character that needs an escape") {
  for (const std::string good :
       {"a", "0190a1b2-c3d4-7eee-8fff-001122334455", "Root=1-5e:x/y+z@_.", "ABCxyz019"})
    CHECK(is_request_id(good));
  CHECK(is_request_id(std::string(128, 'x')));
  for (const std::string bad : {"", "a b", "a\"b", "a\tb", "a,b", "\x80", "<a>", "a\\b", "a;b"})
    CHECK_FALSE(is_request_id(bad));
  CHECK_FALSE(is_request_id(std::string(129, 'x')));
}

}  // namespace weir::http
