#include "redis/remedy.hpp"

#include "catch.hpp"

namespace weir::redis {
namespace {

using Catch::Matchers::Contains;
using options::RedisTopology;
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
  CHECK_THAT(std::string(remedy(Error::other, row.reply, RedisTopology::standalone)),
             Contains(row.text));
}

TEST_CASE("errors that Redis did not return have no remedy") {
  const auto error = GENERATE(Error::none, Error::not_connected, Error::timeout,
                              Error::connection_lost, Error::overloaded);
  for (const auto topology :
       {RedisTopology::standalone, RedisTopology::sentinel, RedisTopology::cluster})
    CHECK(remedy(error, "", topology).empty());
}

TEST_CASE("a cluster without a master for some slots is not only loading") {
  const std::string_view text =
      remedy(Error::loading, "CLUSTERDOWN The cluster is down", RedisTopology::cluster);
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
    const std::string_view text = remedy(error, "ERR", RedisTopology::standalone);
    CHECK(text.find(named) != std::string_view::npos);
    // It follows a semicolon in a line of the log.
    CHECK_FALSE(text.ends_with('.'));
    CHECK(text.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("the remedy depends on the topology") {
  struct Row {
    Error error;
    RedisTopology topology;
    std::string text;
  };
  const auto row = GENERATE(values<Row>({
      {Error::read_only, RedisTopology::standalone, "set store.redis.url to the primary"},
      {Error::read_only, RedisTopology::sentinel, "the sentinels return the new one"},
      {Error::read_only, RedisTopology::cluster, "list nodes of a cluster in store.redis.servers"},
      {Error::redirected, RedisTopology::standalone, "write topology: cluster"},
      {Error::redirected, RedisTopology::sentinel, "write topology: cluster"},
      {Error::redirected, RedisTopology::cluster, "slots are moving"},
      {Error::other, RedisTopology::standalone, "the server of store.redis.url is not Redis"},
      {Error::other, RedisTopology::sentinel, "check the address that the sentinels return"},
      {Error::other, RedisTopology::cluster, "check store.redis.servers"},
  }));
  const std::string text(remedy(row.error, "", row.topology));
  CHECK_THAT(text, Contains(row.text));
  const bool is_of_url = text.find("store.redis.url") != std::string::npos;
  CHECK((row.topology == RedisTopology::standalone || !is_of_url));
}

TEST_CASE("the remedy for a handshake names Redis and TLS") {
  for (const bool is_secure : {false, true}) {
    const auto end = GENERATE(HandshakeEnd::closed, HandshakeEnd::silent);
    const std::string text(handshake_remedy(end, is_secure));
    CHECK_THAT(text, Contains("is Redis"));
    CHECK_THAT(text, Catch::Matchers::EndsWith(is_secure ? "uses TLS" : "does not require TLS"));
    CHECK((text.find("may be stopping") != std::string::npos) == (end == HandshakeEnd::closed));
    CHECK((text.find("is not blocked") != std::string::npos) == (end == HandshakeEnd::silent));
  }
}

TEST_CASE("a refused connection has a remedy, other errors of the system have none") {
  CHECK(connect_remedy("Connection refused") == "check that Redis is running at this address");
  CHECK(connect_remedy("No route to host").empty());
  CHECK(connect_remedy("").empty());
}

TEST_CASE("a server that returns no slots is not of a cluster, or lacks a permission") {
  CHECK_THAT(std::string(slots_remedy("ERR This instance has cluster support disabled")),
             Contains("write topology: standalone"));
  CHECK_THAT(std::string(slots_remedy("ERR unknown command 'CLUSTER', with args")),
             Contains("write topology: standalone"));
  CHECK_THAT(
      std::string(slots_remedy("NOPERM this user has no permissions to run 'cluster|slots'")),
      Contains("grant the user"));
  CHECK(slots_remedy("LOADING Redis is loading the dataset in memory").empty());
}

TEST_CASE("a refused connection needs permissions, or another user or password") {
  CHECK(refusal_remedy("SCRIPT LOAD: NOPERM this user has no permissions") ==
        remedy(Error::refused, "", RedisTopology::standalone));
  for (const char* const error :
       {"AUTH: WRONGPASS invalid username-password pair or user is disabled",
        "SELECT: NOAUTH Authentication required.", ""})
    CHECK(refusal_remedy(error) == "check the user and the password in store.redis.url");
}

}  // namespace
}  // namespace weir::redis
