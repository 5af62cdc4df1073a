#include "redis/handshake.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;

namespace {

using Kind = HandshakeReply::Kind;
using Progress = Handshake::Outcome::Kind;

const std::string sha_a(40, 'a');
const std::string sha_b(40, 'b');
constexpr HandshakeReply ok_reply{.kind = Kind::status, .text = "OK"};

HandshakeReply loaded_reply(std::string_view sha) {
  return {.kind = Kind::string, .text = sha};
}
HandshakeReply error_reply(std::string_view text) {
  return {.kind = Kind::error, .text = text};
}

struct HandshakeFixture {
  explicit HandshakeFixture(std::vector<std::string> its_scripts = {"return 1", "return 2"})
      : scripts(std::move(its_scripts)), handshake(options, scripts, shas) {
    options.password = Secret("s3cret");
    options.database = 3;
  }
  HandshakeFixture(const HandshakeFixture&) = delete;
  HandshakeFixture& operator=(const HandshakeFixture&) = delete;

  static std::string steps(Handshake::Commands commands) {
    std::string out;
    for (const auto& command : commands)
      out.append(out.empty() ? "" : ", ").append(to_string(command.step));
    return out;
  }

  options::Redis options;
  std::vector<std::string> scripts;
  ScriptShas shas;
  Handshake handshake;
};

}  // namespace

TEST_CASE("a handshake sends the scripts when everything before them has succeeded") {
  HandshakeFixture fixture;
  // The second handshake is that of the next connection.
  for (const bool is_second : {false, true}) {
    CAPTURE(is_second);
    CHECK(fixture.steps(fixture.handshake.begin()) == "AUTH, CLIENT SETNAME, SELECT");
    CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::pending);
    CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::pending);
    const auto sending = fixture.handshake.on_reply(ok_reply);
    CHECK(sending.kind == Progress::send_scripts);
    CHECK(fixture.steps(sending.commands) == "SCRIPT LOAD, SCRIPT LOAD");
    CHECK(fixture.handshake.on_reply(loaded_reply(is_second ? sha_b : sha_a)).kind ==
          Progress::pending);
    CHECK(fixture.handshake.on_reply(loaded_reply(is_second ? sha_a : sha_b)).kind ==
          Progress::complete);
    CHECK(fixture.shas.sha(0) == (is_second ? sha_b : sha_a));
    CHECK(fixture.shas.sha(1) == (is_second ? sha_a : sha_b));
    fixture.handshake.end();
  }
}

TEST_CASE("a handshake without scripts is complete after its first commands") {
  HandshakeFixture fixture(std::vector<std::string>{});
  fixture.handshake.begin();
  CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::pending);
  CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::pending);
  CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::complete);
}

TEST_CASE("an unexpected reply ends a handshake; its text names the step, never the password") {
  struct Row {
    int answered;
    HandshakeReply reply;
    const char* failure;
    store::Error error;
  };
  const auto row = GENERATE(values<Row>(
      {{0, error_reply("WRONGPASS invalid password"), "AUTH: WRONGPASS invalid password",
        store::Error::refused},
       // A server without AUTH quotes its arguments.
       {0, error_reply("ERR unknown command `AUTH`, with args beginning with: `s3cret`"),
        "AUTH: ERR unknown command ", store::Error::other},
       {1, error_reply("NOAUTH Authentication required."),
        "CLIENT SETNAME: NOAUTH Authentication required.", store::Error::refused},
       {2, error_reply("ERR unknown: s3cret"), "SELECT: an error whose text quotes the password",
        store::Error::other},
       {2, {.kind = Kind::other, .text = {}}, "SELECT: not a reply of Redis", store::Error::other},
       {2, loaded_reply(sha_a), "SELECT: not a reply of Redis", store::Error::other},
       {3, error_reply("LOADING Redis is loading"), "SCRIPT LOAD: LOADING Redis is loading",
        store::Error::loading},
       {3, ok_reply, "SCRIPT LOAD: not a reply of Redis", store::Error::other},
       {4, loaded_reply("a"), "SCRIPT LOAD: not a reply of Redis", store::Error::other}}));
  CAPTURE(row.failure);
  HandshakeFixture fixture;
  fixture.handshake.begin();
  for (int i = 0; i < row.answered; ++i)
    fixture.handshake.on_reply(i < 3 ? ok_reply : loaded_reply(sha_a));
  const auto outcome = fixture.handshake.on_reply(row.reply);
  CHECK(outcome.kind == Progress::failed);
  CHECK(outcome.failure == row.failure);
  CHECK(outcome.error == row.error);
}

TEST_CASE("a handshake continues without CLIENT SETNAME, and keeps the error until the next one") {
  HandshakeFixture fixture;
  fixture.handshake.begin();
  fixture.handshake.on_reply(ok_reply);
  CHECK(fixture.handshake.on_reply(error_reply("NOPERM no setname")).kind == Progress::pending);
  CHECK(fixture.handshake.optional_error() == "CLIENT SETNAME: NOPERM no setname");
  CHECK(fixture.handshake.on_reply(ok_reply).kind == Progress::send_scripts);
  fixture.handshake.begin();
  CHECK(fixture.handshake.optional_error().empty());
}

TEST_CASE("a server that sentinels return must be a master") {
  HandshakeFixture fixture;
  fixture.options.topology = options::RedisTopology::sentinel;
  fixture.options.database = 0;
  const auto on_role = [&fixture](const HandshakeReply& reply) {
    CHECK(fixture.steps(fixture.handshake.begin()) == "AUTH, CLIENT SETNAME, ROLE");
    static_cast<void>(fixture.handshake.on_reply(ok_reply));
    static_cast<void>(fixture.handshake.on_reply(ok_reply));
    return fixture.handshake.on_reply(reply);
  };
  CHECK(on_role({.kind = Kind::array, .text = "master"}).kind == Progress::send_scripts);
  const auto replica = on_role({.kind = Kind::array, .text = "slave"});
  CHECK(replica.kind == Progress::failed);
  CHECK(replica.failure == "ROLE: the server is a replica, and is not promoted yet");
  CHECK(replica.error == store::Error::loading);
  const auto refused = on_role(error_reply("NOPERM no permission to run 'role'"));
  CHECK(refused.error == store::Error::refused);
  for (const auto& reply : {HandshakeReply{.kind = Kind::string, .text = "master"},
                            HandshakeReply{.kind = Kind::array, .text = "sentinel"}, ok_reply}) {
    CHECK(on_role(reply).failure == "ROLE: not a reply of Redis");
  }
}
