#include "redis/hash_slot.hpp"

#include "catch.hpp"
#include "redis/cluster.hpp"

using namespace weir;
using namespace weir::redis;

TEST_CASE("The checksum is CRC-16/XMODEM") {
  CHECK(crc16("123456789") == 0x31c3);
  CHECK(crc16("") == 0);
}

TEST_CASE("The slot of a key is that of its hash tag") {
  struct Row {
    std::string_view key;
    HashSlot slot;
  };
  for (const Row& row :
       {Row{"123456789", 12'739}, Row{"foo", 12'182}, Row{"bar", 5'061}, Row{"somekey", 11'058},
        Row{"{user1000}.following", 3'443}, Row{"{user1000}.followers", 3'443},
        Row{"foo{hash_tag}", 2'515}, Row{"foo{}{bar}", 8'363}, Row{"foo{{bar}}zap", 4'015},
        Row{"foo{bar}{zap}", 5'061}, Row{"", 0}}) {
    CAPTURE(row.key);
    CHECK(slot_of_key(row.key) == row.slot);
  }
}

TEST_CASE("All keys of an identity are in the slot of the identity") {
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const Hash128 identity{.low = i * 0x9e3779b97f4a7c15, .high = i * 0xc2b2ae3d27d4eb4f + i};
    const std::string digits = to_hex(identity);
    REQUIRE(slot_of(identity) == slot_of_key("weir:{" + digits + "}:policy:g1"));
    REQUIRE(slot_of(identity) == slot_of_key("other{" + digits + "}:!"));
    REQUIRE(HashSlots().division_of(identity) == slot_of(identity));
  }
}
