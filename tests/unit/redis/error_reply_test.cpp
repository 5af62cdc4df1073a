#include "redis/error_reply.hpp"

#include "catch.hpp"

using namespace weir::redis;

TEST_CASE("an error reply is known by its code") {
  struct Row {
    std::string_view text;
    StoreError error;
  };
  const auto row = GENERATE(values<Row>({
      {"NOSCRIPT No matching script. Please use EVAL.", StoreError::script_missing},
      {"READONLY You can't write against a read only replica.", StoreError::read_only},
      {"OOM command not allowed when used memory > 'maxmemory'.", StoreError::out_of_memory},
      // can not serve at present
      {"LOADING Redis is loading the dataset in memory", StoreError::loading},
      {"MASTERDOWN Link with MASTER is down", StoreError::loading},
      {"BUSY Redis is busy running a script.", StoreError::loading},
      {"CLUSTERDOWN The cluster is down", StoreError::loading},
      // the configuration is wrong; the last three are what servers without a password say
      {"NOAUTH Authentication required.", StoreError::refused},
      {"WRONGPASS invalid username-password pair or user is disabled.", StoreError::refused},
      {"NOPERM this user has no permissions to run the 'evalsha' command", StoreError::refused},
      {"ERR AUTH <password> called without any password configured for the default user. Are you "
       "sure your configuration is correct?",
       StoreError::refused},
      {"ERR Client sent AUTH, but no password is set", StoreError::refused},
      {"ERR invalid password", StoreError::refused},
      // the user may run the script, and not what it calls: Redis 7, later, and 6
      {"ERR The user executing the script can't run this command or subcommand script: 1f8f4cfb, "
       "on @user_script:1.",
       StoreError::refused},
      {"ERR The user executing the script can't access at least one of the keys mentioned in the "
       "command arguments script: 1f8f4cfb, on @user_script:1.",
       StoreError::refused},
      {"NOPERM ACL failure in script: User weir has no permissions to run the 'set' command "
       "script: 1f8f4cfb, on @user_script:1.",
       StoreError::refused},
      {"ERR Error running script (call to f_5b7a): @user_script:1: @user_script: 1: The user "
       "executing the script can't run this command or subcommand",
       StoreError::refused},
      // a code is a whole word
      {"BUSYGROUP Consumer Group name already exists", StoreError::other},
      {"BUSYKEY Target key name already exists.", StoreError::other},
      {"OOMPH", StoreError::other},
      {"LOADING", StoreError::loading},
      // within a script, as Redis 6 and KeyDB tell it
      {"ERR Error running script (call to f_5b7a): @user_script:12: @user_script: 12: -READONLY "
       "You "
       "can't write against a read only replica.",
       StoreError::read_only},
      {"ERR Error running script (call to f_5b7a): @user_script:12: -OOM command not allowed when "
       "used memory > 'maxmemory'.",
       StoreError::out_of_memory},
      {"ERR Error running script (call to f_5b7a): @user_script:3: WRONGTYPE Operation against a "
       "key holding the wrong kind of value",
       StoreError::other},
      {"ERR Error running script (call to f_5b7a): @user_script:3: -", StoreError::other},
      {"ERR something else: -READONLY", StoreError::other},
      // anything else
      {"ERR unknown command 'EVALSHA'", StoreError::other},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", StoreError::other},
      {"MOVED 3999 127.0.0.1:6381", StoreError::other},
      {"MISCONF Redis is configured to save RDB snapshots", StoreError::other},
      {"", StoreError::other},
  }));
  CAPTURE(row.text);
  CHECK(error_of(row.text) == row.error);
}

TEST_CASE("of what a server said to a password all that it quotes is left out") {
  CHECK(unquoted("ERR unknown command `AUTH`, with args beginning with: `hunt") ==
        "ERR unknown command ");
  CHECK(unquoted("ERR unknown command 'AUTH'") == "ERR unknown command ");
  CHECK(unquoted("ERR unknown \"AUTH\"") == "ERR unknown ");
  CHECK(unquoted("WRONGPASS invalid username-password pair or user is disabled.") ==
        "WRONGPASS invalid username-password pair or user is disabled.");
}

TEST_CASE("what a server said is printed without the password, control characters and length") {
  CHECK(printable("NOAUTH Authentication required.") == "NOAUTH Authentication required.");
  CHECK(printable("a\x1b[31mb\r\nc\xff") == "a?[31mb??c?");
  CHECK(printable(std::string(10'000, 'x')).size() == 200);
  const auto quoted =
      printable("ERR unknown command `AUTH`, with args beginning with: `hunter2`, ", "hunter2");
  CHECK(quoted == "an error whose text quotes the password");
}
