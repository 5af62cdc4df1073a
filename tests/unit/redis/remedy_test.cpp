#include "redis/remedy.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;
using Catch::Matchers::Contains;
using store::Error;

TEST_CASE("the remedy of an unknown error depends on whether Redis returned it") {
  struct Row {
    std::string_view reply;
    std::string text;
  };
  const auto row = GENERATE(values<Row>({
      {"ERR unknown command `EVALSHA`, with args beginning with: ", "every command"},
      {"NOSCRIPT No matching script.", "every command"},
      // a reply that hiredis could not parse
      {"Protocol error, got \"H\" as reply type byte", "is not Redis"},
      {"Multi-bulk length out of range", "is not Redis"},
      // a reply that the script does not return
      {"the reply is not one of the script", "is not Redis"},
      // a proxy
      {"no upstream host", "is not Redis"},
      {"", "is not Redis"},
  }));
  CAPTURE(row.reply);
  CHECK_THAT(std::string(remedy(Error::other, row.reply)), Contains(row.text));
}

TEST_CASE("errors that Redis did not return have no remedy") {
  const auto error = GENERATE(Error::none, Error::not_connected, Error::timeout,
                              Error::connection_lost, Error::overloaded);
  CHECK(remedy(error, "").empty());
}
