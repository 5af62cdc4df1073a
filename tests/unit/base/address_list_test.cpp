#include "base/address_list.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "catch.hpp"

namespace weir {
namespace {

PrefixTable table_of(const char* prefix) {
  return PrefixTable({IpPrefix::parse(prefix).value()});
}

const IpAddress inside = IpAddress::parse("192.0.2.7").value();

TEST_CASE("copies of an address list share the content") {
  AddressList list("office", table_of("192.0.2.0/24"));
  const AddressList copy = list;
  CHECK(copy.name() == "office");
  CHECK(copy.contains(inside));
  const auto previous = list.replace(table_of("198.51.100.0/24"));
  CHECK_FALSE(copy.contains(inside));
  CHECK(copy.find(IpAddress::parse("198.51.100.1").value())->to_string() == "198.51.100.0/24");
  CHECK(previous->contains(inside));
}

TEST_CASE("address lists are equal by name, and are compared by content on request") {
  const AddressList office("office", table_of("192.0.2.0/24"));
  const AddressList other("other", table_of("192.0.2.0/24"));
  const AddressList changed("office", table_of("192.0.2.0/25"));
  CHECK_FALSE(office == other);
  CHECK(office.has_same_prefixes(other));
  CHECK(office == changed);
  CHECK_FALSE(office.has_same_prefixes(changed));
}

TEST_CASE("an address list is read while its content is replaced") {
  AddressList list("office", table_of("192.0.2.0/24"));
  std::atomic<bool> stopped = false;
  std::atomic<bool> missed = false;
  std::thread reader([&, copy = list] {
    while (!stopped)
      if (!copy.contains(inside)) missed = true;
  });
  std::vector<std::shared_ptr<const PrefixTable>> previous;
  for (int i = 0; i < 2000; ++i)
    previous.push_back(list.replace(table_of(i % 2 == 0 ? "192.0.2.0/25" : "192.0.0.0/16")));
  stopped = true;
  reader.join();
  CHECK_FALSE(missed);
}

}  // namespace
}  // namespace weir
