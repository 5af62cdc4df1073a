#include "redis/error_reply.hpp"

#include "catch.hpp"

using namespace weir::redis;
using weir::store::Error;

TEST_CASE("an error reply is classified by its code") {
  struct Row {
    std::string_view text;
    Error error;
  };
  const auto row = GENERATE(values<Row>({
      {"NOSCRIPT No matching script. Please use EVAL.", Error::script_missing},
      {"READONLY You can't write against a read only replica.", Error::read_only},
      {"OOM command not allowed when used memory > 'maxmemory'.", Error::out_of_memory},
      // the server cannot serve at present
      {"LOADING Redis is loading the dataset in memory", Error::loading},
      {"MASTERDOWN Link with MASTER is down", Error::loading},
      {"BUSY Redis is busy running a script.", Error::loading},
      {"CLUSTERDOWN The cluster is down", Error::loading},
      // the configuration is wrong; the last three are from servers without a password
      {"NOAUTH Authentication required.", Error::refused},
      {"WRONGPASS invalid username-password pair or user is disabled.", Error::refused},
      {"NOPERM this user has no permissions to run the 'evalsha' command", Error::refused},
      {"ERR AUTH <password> called without any password configured for the default user. Are you "
       "sure your configuration is correct?",
       Error::refused},
      {"ERR Client sent AUTH, but no password is set", Error::refused},
      {"ERR invalid password", Error::refused},
      // the user may run the script but not its commands: Redis 7, later, and 6
      {"ERR ACL failure in script: User weir has no permissions to run the 'rpush' command script: "
       "1f8f4cfb, on @user_script:1.",
       Error::refused},
      {"ERR The user executing the script can't run this command or subcommand script: 1f8f4cfb, "
       "on @user_script:1.",
       Error::refused},
      {"ERR The user executing the script can't access at least one of the keys mentioned in the "
       "command arguments script: 1f8f4cfb, on @user_script:1.",
       Error::refused},
      {"NOPERM ACL failure in script: User weir has no permissions to run the 'set' command "
       "script: 1f8f4cfb, on @user_script:1.",
       Error::refused},
      {"ERR Error running script (call to f_5b7a): @user_script:1: @user_script: 1: The user "
       "executing the script can't run this command or subcommand",
       Error::refused},
      // a code is a whole word
      {"BUSYGROUP Consumer Group name already exists", Error::other},
      {"BUSYKEY Target key name already exists.", Error::other},
      {"OOMPH", Error::other},
      {"LOADING", Error::loading},
      // within a script, in the format of Redis 6 and KeyDB
      {"ERR Error running script (call to f_5b7a): @user_script:12: @user_script: 12: -READONLY "
       "You "
       "can't write against a read only replica.",
       Error::read_only},
      {"ERR Error running script (call to f_5b7a): @user_script:12: -OOM command not allowed when "
       "used memory > 'maxmemory'.",
       Error::out_of_memory},
      {"ERR Error running script (call to f_5b7a): @user_script:3: WRONGTYPE Operation against a "
       "key holding the wrong kind of value",
       Error::other},
      {"ERR Error running script (call to f_5b7a): @user_script:3: -", Error::other},
      {"ERR something else: -READONLY", Error::other},
      // anything else
      {"ERR unknown command 'EVALSHA'", Error::other},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Error::other},
      {"MOVED 3999 127.0.0.1:6381", Error::redirected},
      {"ASK 3999 127.0.0.1:6381", Error::redirected},
      {"TRYAGAIN Multiple keys request during rehashing of slot", Error::redirected},
      {"MISCONF Redis is configured to save RDB snapshots", Error::other},
      {"", Error::other},
  }));
  CAPTURE(row.text);
  CHECK(error_of(row.text) == row.error);
}

TEST_CASE("an error that quotes a password is cut at the quotation mark") {
  CHECK(unquoted("ERR unknown command `AUTH`, with args beginning with: `hunt") ==
        "ERR unknown command ");
  CHECK(unquoted("ERR unknown command 'AUTH'") == "ERR unknown command ");
  CHECK(unquoted("ERR unknown \"AUTH\"") == "ERR unknown ");
  CHECK(unquoted("WRONGPASS invalid username-password pair or user is disabled.") ==
        "WRONGPASS invalid username-password pair or user is disabled.");
}

TEST_CASE("an error is printed without the password and control characters, and shortened") {
  CHECK(printable("NOAUTH Authentication required.") == "NOAUTH Authentication required.");
  CHECK(printable("a\x1b[31mb\r\nc\xff") == "a?[31mb??c?");
  CHECK(printable(std::string(10'000, 'x')).size() == 200);
  const auto quoted =
      printable("ERR unknown command `AUTH`, with args beginning with: `hunter2`, ", "hunter2");
  CHECK(quoted == "an error whose text quotes the password");
}
