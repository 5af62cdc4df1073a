// `address_lists`, and the routes and limits that name them.
#include <string>

#include "catch.hpp"
#include "unit/config/files.hpp"

namespace weir::config {
namespace {

using test::Files;
using test::warnings_of;

const std::string with_limit =
    "policies: {p: {algorithm: gcra, rate: 1/1s}}\n"
    "routes:\n- {respond: {}, limits: [{policy: p";

bool contains(const AddressList& list, const char* address) {
  return list.contains(IpAddress::parse(address).value());
}

TEST_CASE("address lists are named by routes and by conditions") {
  const auto config = test::must_load(R"(
address_lists: {office: [192.0.2.0/24, "2001:db8::/32", 198.51.100.7], nobody: []}
policies: {p: {algorithm: gcra, rate: 1/1s}}
identities: {user: {header: x-user}}
routes:
- {match: {address: office}, respond: {}}
- respond: {}
  limits:
  - {policy: p, when: {identity: user, methods: [GET, PUT]}, unless: {address: nobody}}
)");
  REQUIRE(config->limiter.address_lists.size() == 2);
  const AddressList& office = config->proxy.routes[0].match.address.value();
  CHECK(office.name() == "office");
  CHECK(office.size() == 3);
  CHECK(contains(office, "192.0.2.7"));
  CHECK(contains(office, "2001:db8::7"));
  CHECK_FALSE(contains(office, "198.51.100.8"));
  const limiter::Limit& limit = config->proxy.routes[1].limits[0];
  CHECK(config->limiter.identities[limit.when->identity.value()].name == "user");
  CHECK(limit.when->methods == std::vector<std::string>{"GET", "PUT"});
  CHECK_FALSE(limit.when->address);
  CHECK(limit.unless->address->name() == "nobody");
  CHECK(limit.unless->address->size() == 0);
  CHECK(config->presentation.warnings.empty());
}

TEST_CASE("a list is read from a file beside the configuration") {
  const Files files;
  files.write("crawlers.txt", "# known\n192.0.2.0/24\n2001:db8::7 # one\n");
  const auto config = test::must_load(
      "address_lists: {crawlers: {file: \"${NAME}\"}}\n"
      "routes: [{match: {address: crawlers}, respond: {}}]\n",
      files.environment({{"NAME", "crawlers.txt"}}));
  CHECK(config->limiter.address_lists[0].size() == 2);
  REQUIRE(config->list_files.size() == 1);
  CHECK(config->list_files[0].path == files.path("crawlers.txt"));
  CHECK(config->list_files[0].shown == "${NAME}");
  CHECK(config->list_files[0].list == config->limiter.address_lists[0]);
  CHECK(config->list_files[0].stamp == stamp_of(files.path("crawlers.txt")));
}

TEST_CASE("a list file that cannot be read or parsed is reported with its lines") {
  const Files files;
  files.write("bad.txt", "192.0.2.0/24\ns3cr3t\n10.0.0.1/8\n");
  const std::string tail = "\nroutes: [{match: {address: l}, respond: {}}]\n";
  const std::string expected =
      "expected an address or a prefix whose host bits are zero, such as 10.0.0.0/8 or "
      "2001:db8::/32\n";
  CHECK(test::problems_of("address_lists: {l: {file: bad.txt}}" + tail, files.environment()) ==
        "1:27: address_lists.l.file: file \"" + files.path("bad.txt") + "\" line 2: " + expected +
            "1:27: address_lists.l.file: file \"" + files.path("bad.txt") +
            "\" line 3: " + expected);
  CHECK(test::problems_of("address_lists: {l: {file: none.txt}}" + tail, files.environment()) ==
        "1:27: address_lists.l.file: cannot read file \"" + files.path("none.txt") +
            "\": No such file or directory; check the path, and in a container that the file is "
            "mounted\n");
  // The content of a variable is not shown.
  CHECK(test::problems_of("address_lists: {l: {file: \"${F}\"}}" + tail,
                          files.environment({{"F", "n0ne"}}))
            .find("n0ne") == std::string::npos);
}

TEST_CASE("address lists that no route uses are warned of") {
  const std::string lists = "address_lists: {office: [192.0.2.0/24]}\n";
  CHECK(warnings_of(lists + test::route_tail) ==
        std::vector<std::string>{"1:25: address_lists.office: no route uses it"});
  CHECK(warnings_of(lists + "routes: [{match: {address: office}, respond: {}}]\n").empty());
  CHECK(warnings_of(lists + with_limit + ", when: {address: office}}]}\n").empty());
  // Identities of conditions are used.
  CHECK(warnings_of("identities: {user: {header: x-user}}\n" + with_limit +
                    ", unless: {identity: user}}]}\n")
            .empty());
}

TEST_CASE("a route for an address list leaves requests to the routes after it") {
  const std::string lists = "address_lists: {office: [192.0.2.0/24]}\n";
  CHECK(warnings_of(lists + "routes: [{match: {address: office}, respond: {}}, {respond: {}}]\n")
            .empty());
}

}  // namespace
}  // namespace weir::config
