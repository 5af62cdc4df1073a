#include "catch.hpp"
#include "cli/admin_call.hpp"

using namespace weir::cli;

namespace {

const std::string hash = "\"hash\":\"000000000000000000000000000000ab\"";

std::string list_of(const std::string& entries, const std::string& complete = "true") {
  return R"({"store":"redis","overrides":)" + entries + R"(,"complete":)" + complete + "}\n";
}

}  // namespace

TEST_CASE("A list of overrides is read with its members in order") {
  const auto list = read_override_list(
      list_of("[{" + hash + R"(,"policy":"p","rates":["1/1s","2/1m"],"burst":3,"note":"x"},{)" +
              hash + R"(,"malformed":true}])"));
  REQUIRE(list.has_value());
  CHECK(list->is_complete);
  REQUIRE(list->entries.size() == 2);
  CHECK(list->entries[0]["rates"].dump() == R"(["1/1s","2/1m"])");
  CHECK(list->entries[1]["malformed"] == true);
  CHECK_FALSE(read_override_list(list_of("[]", "false"))->is_complete);
}

TEST_CASE("An answer of another server is no list of overrides") {
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("{}"), std::string("[]"),
        std::string("<html>"), std::string("{\"overrides\":[]}"), list_of("{}"), list_of("[]", "1"),
        list_of("[{}]"), list_of("[null]"), list_of(R"([{"hash":1}])"),
        list_of(R"([{"hash":"abc"}])"), list_of("[{" + hash + R"(,"policy":1}])"),
        list_of("[{" + hash + R"(,"note":{}}])"), list_of("[{" + hash + R"(,"rates":[[]]}])"),
        list_of("[{" + hash + R"(,"note":null}])"),
        list_of("[{" + hash + "},{" + hash + R"(,"note":{}}])"),
        list_of("[{" + hash + ",\"note\":\"\xff\"}]"), std::string(100'000, '[')}) {
    CAPTURE(body.substr(0, 100));
    CHECK_FALSE(read_override_list(body).has_value());
  }
}

TEST_CASE("A stored override names its store") {
  const auto stored = read_stored_override(R"({"store":"memory",)" + hash +
                                           R"(,"deny":true,"warning":"no limit"})");
  REQUIRE(stored.has_value());
  CHECK(stored->at("store") == "memory");
  CHECK(stored->at("warning") == "no limit");
  for (const std::string& body :
       {std::string("{}"), std::string("<html>"), std::string("[]"), "{" + hash + "}",
        std::string(R"({"store":"memory"})"), R"({"store":1,)" + hash + "}"}) {
    CAPTURE(body);
    CHECK_FALSE(read_stored_override(body).has_value());
  }
}
