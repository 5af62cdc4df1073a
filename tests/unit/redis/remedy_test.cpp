#include "redis/remedy.hpp"

#include "catch.hpp"

namespace weir::redis {
namespace {

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

TEST_CASE("a cluster without a master for some slots is not only loading") {
  const std::string_view text = remedy(Error::loading, "CLUSTERDOWN The cluster is down");
  CHECK(text.find("no master") != std::string_view::npos);
}

TEST_CASE("errors that Redis returned have a remedy that names the setting") {
  const struct {
    Error error;
    std::string_view named;
  } rows[] = {
      {Error::loading, "no action needed"}, {Error::read_only, "store.redis.url"},
      {Error::out_of_memory, "maxmemory"},  {Error::refused, "permissions"},
      {Error::script_missing, "command"},
  };
  for (const auto& [error, named] : rows) {
    CAPTURE(to_string(error));
    const std::string_view text = remedy(error, "ERR");
    CHECK(text.find(named) != std::string_view::npos);
    // It follows a semicolon in a line of the log.
    CHECK_FALSE(text.ends_with('.'));
    CHECK(text.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("the remedy for a handshake names Redis and TLS") {
  for (const bool is_secure : {false, true}) {
    const std::string text(handshake_remedy(is_secure));
    CHECK_THAT(text, Contains("is Redis"));
    CHECK_THAT(text, Catch::Matchers::EndsWith(is_secure ? "uses TLS" : "does not require TLS"));
  }
}

TEST_CASE("a refused connection needs permissions, or another user or password") {
  CHECK(refusal_remedy("SCRIPT LOAD: NOPERM this user has no permissions") ==
        remedy(Error::refused, ""));
  for (const char* const error :
       {"AUTH: WRONGPASS invalid username-password pair or user is disabled",
        "SELECT: NOAUTH Authentication required.", ""})
    CHECK(refusal_remedy(error) == "check the user and the password in store.redis.url");
}

}  // namespace
}  // namespace weir::redis
