// The body of a request on an HTTP/1 connection: bytes that arrived with the head, bytes that
// arrive later, and both again after rewind().
#include "proxy/http1_request_body.hpp"

#include "catch.hpp"
#include "unit/http/lines_of.hpp"
#include "unit/proxy/http1_client.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

const std::string counted_head = "PUT /path HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
const std::string chunked_head =
    "PUT /path HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Returns everything that can be pulled now, its pieces separated by '|', and the state after it.
std::pair<std::string, BodyState> pull_all(RequestBody& body) {
  std::string all;
  std::string_view piece;
  BodyState state = BodyState::payload;
  while ((state = body.pull(piece)) == BodyState::payload)
    all.append(piece).append("|");
  return {all, state};
}
using Pulled = std::pair<std::string, BodyState>;

}  // namespace

TEST_CASE("A body that arrived with the head ends at its length") {
  Http1Client client;
  client.receive(counted_head, "one two 3GET / HTTP/1.1\r\n");
  CHECK_FALSE(client.body.has_ended());
  CHECK_FALSE(client.body.is_touched());
  CHECK(pull_all(client.body) == Pulled{"one two 3|", BodyState::ended});
  CHECK(client.body.has_ended());
  CHECK(client.body.is_touched());
  CHECK_FALSE(client.body.has_rest());
  CHECK(client.body.received() == 9);
  CHECK(client.connection.input.data() == "GET / HTTP/1.1\r\n");
}

TEST_CASE("A body that arrives later is read into a buffer of its own") {
  Http1Client client;
  client.receive(counted_head, "one ");
  CHECK(pull_all(client.body) == Pulled{"one |", BodyState::exhausted});
  client.far.send("two ");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(pull_all(client.body) == Pulled{"two |", BodyState::exhausted});
  CHECK(client.body.has_rest());
  client.far.send("3NEXT");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(pull_all(client.body) == Pulled{"3|", BodyState::ended});
  CHECK(client.body.received() == 9);
  CHECK(client.request.view.target == "/path");  // the views of the head are still valid
}

TEST_CASE("A body of many small chunks is costly, and read in small pieces") {
  Http1Client client;
  client.receive(chunked_head, "");
  std::string chunks;
  for (int i = 0; i < 4000; ++i)
    chunks += "1\r\nx\r\n";
  client.far.send(chunks);
  pull_all(client.body);
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK_FALSE(client.body.is_costly());  // nothing is known of its chunks yet
  const std::size_t first = pull_all(client.body).first.size();
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(client.body.is_costly());
  CHECK(pull_all(client.body).first.size() <= first + 2);
  client.far.send("2000\r\n" + std::string(0x2000, 'x') + "\r\n");
  while (client.body.received() < 4000 + 0x2000) {
    CHECK_FALSE(client.run(client.body.fill()));
    pull_all(client.body);
  }
  client.far.send("1\r\nx\r\n");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK_FALSE(client.body.is_costly());
}

TEST_CASE("A chunked body is decoded, and its trailers are kept") {
  Http1Client client;
  client.receive(chunked_head, "3\r\none\r\n4\r");
  http::Trailers trailers;
  trailers.open({.head = client.request.fields, .connection = client.request.connection});
  client.body.keep_trailers(trailers);
  CHECK(pull_all(client.body) == Pulled{"one|", BodyState::exhausted});
  client.far.send("\ntwo \r\n0\r\nX-Su");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(pull_all(client.body) == Pulled{"two |", BodyState::exhausted});
  client.far.send("m: 1\r\n\r\n");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(pull_all(client.body) == Pulled{"", BodyState::ended});
  CHECK(http::lines_of(trailers.fields()) == "X-Sum: 1\r\n");
  CHECK(client.body.received() == 7);
}

TEST_CASE("A chunk that is malformed is reported") {
  Http1Client client;
  client.receive(chunked_head, "3\r\nonezz");
  CHECK(pull_all(client.body) == Pulled{"one|", BodyState::malformed});
  CHECK_FALSE(client.body.has_ended());
}

TEST_CASE("A request without a body has ended") {
  Http1Client client;
  client.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET");
  CHECK(client.body.has_ended());
  CHECK(pull_all(client.body) == Pulled{"", BodyState::ended});
  CHECK(client.body.is_kept());
  client.body.rewind();
  CHECK(client.body.has_ended());
  CHECK(client.run(client.body.discard(100, 1s)));
  CHECK(client.connection.input.data() == "GET");
}

TEST_CASE("The body of a request whose framing is unknown has a rest") {
  Http1Client client;
  const http::ReceivedRequest unread;
  client.body.begin(unread);
  CHECK_FALSE(client.body.has_ended());
  CHECK(client.body.has_rest());
  CHECK_FALSE(client.body.is_touched());
}

TEST_CASE("An error or a cancellation ends a read") {
  Http1Client client;
  client.receive(counted_head);
  std::optional<error_code> result;
  loop::spawn(client.world.io, note_result(client.body.fill(), result));
  client.world.poll();
  REQUIRE_FALSE(result);
  SECTION("the client closes") {
    client.far.close();
    client.world.run_until([&] { return result.has_value(); });
    CHECK(*result == asio::error::eof);
  }
  SECTION("cancelled") {
    client.body.cancel();
    client.world.run_until([&] { return result.has_value(); });
    CHECK(*result == asio::error::operation_aborted);
  }
}

TEST_CASE("A body is rewound to its first byte, wherever it lies") {
  Http1Client client;
  std::string all;
  const auto read = [&](std::string_view data) {
    client.far.send(data);
    CHECK_FALSE(client.run(client.body.fill()));
    pull_all(client.body);
  };
  SECTION("in the buffer of the head") {
    client.receive(counted_head, "one ");
    pull_all(client.body);
    all = "one |";
  }
  SECTION("in the body's buffer") {
    client.receive(counted_head);
    client.body.keep(64);
    read("one ");
    all = "one |";
  }
  SECTION("in both") {
    client.receive(counted_head, "one ");
    pull_all(client.body);
    client.body.keep(64);
    read("two ");
    all = "one |two |";
  }
  SECTION("in both, and read to its end") {
    client.receive(counted_head, "one ");
    client.body.keep(64);
    pull_all(client.body);
    read("two 3");
    CHECK(client.body.has_ended());
    all = "one |two 3|";
  }
  SECTION("in the middle of a chunk") {
    client.receive(chunked_head, "8\r\none ");
    client.body.keep(64);
    pull_all(client.body);
    read("two");
    all = "one |two|";
  }
  SECTION("with a line that was not complete in the buffer of the head") {
    client.receive(chunked_head, "3\r\none\r\n0\r\nX-Su");
    client.body.keep(64);
    pull_all(client.body);
    read("m: 1\r\n\r\n");
    CHECK(client.body.has_ended());
    all = "one|";
  }
  REQUIRE(client.body.is_kept());
  const bool had_ended = client.body.has_ended();
  for (int i = 0; i < 2; ++i) {
    client.body.rewind();
    CHECK(client.body.received() == 0);
    CHECK_FALSE(client.body.has_ended());
    CHECK(pull_all(client.body) ==
          Pulled{all, had_ended ? BodyState::ended : BodyState::exhausted});
    CHECK(client.body.has_ended() == had_ended);
  }
}

TEST_CASE("A body is read on after it was rewound") {
  Http1Client client;
  client.receive(counted_head, "one ");
  client.body.keep(64);
  pull_all(client.body);
  client.body.rewind();
  pull_all(client.body);
  client.far.send("two 3");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(pull_all(client.body) == Pulled{"two 3|", BodyState::ended});
  client.body.rewind();
  CHECK(pull_all(client.body) == Pulled{"one |two 3|", BodyState::ended});
}

TEST_CASE("A body that exceeds what is kept cannot be rewound") {
  const auto [limit, is_kept] =
      GENERATE(table<std::size_t, bool>({{0, false}, {7, false}, {8, true}}));
  CAPTURE(limit);
  Http1Client client;
  client.receive(counted_head, "one ");
  CHECK(client.body.is_kept());
  pull_all(client.body);
  client.body.keep(limit);
  client.far.send("two ");
  CHECK_FALSE(client.run(client.body.fill()));
  CHECK(client.body.is_kept() == is_kept);
}

TEST_CASE("The rest of a body is discarded up to max_drain, and the next request is kept") {
  const auto [head, with_head, later, is_discarded] =
      GENERATE(table<std::string, std::string, std::string, bool>({
          {counted_head, "one two 3NEXT", "", true},
          {counted_head, "one ", "two 3NEXT", true},
          {counted_head, "", "one two 3NEXT", true},
          {chunked_head, "3\r\none\r\n", "0\r\n\r\nNEXT", true},
          {chunked_head, "9\r\none two 3\r\n0\r\n\r\nNEXT", "", true},
          // Too large, or malformed.
          {chunked_head, "a\r\none two 30\r\n", "", false},
          {chunked_head, "6\r\none tw\r\n", "4\r\no 34\r\n", false},
          {chunked_head, "zz", "", false},
      }));
  CAPTURE(head, with_head, later);
  Http1Client client;
  client.receive(head, with_head);
  client.far.send(later);
  CHECK(client.run(client.body.discard(9, 1s)) == is_discarded);
  if (is_discarded) CHECK(client.connection.input.data() == "NEXT");
}

TEST_CASE("A body is not discarded if the rest does not come") {
  Http1Client client;
  client.receive(counted_head, "one ");
  std::optional<bool> result;
  loop::spawn(client.world.io, note_result(client.body.discard(100, 1s), result));
  client.world.poll();
  CHECK(client.connection.watchdog.phase() == Phase::linger);
  SECTION("in time; each byte begins a new time") {
    client.world.tick(900ms);
    client.far.send("t");
    client.world.run_until([&] { return client.connection.input.data().empty(); });
    client.world.poll();
    client.world.tick(900ms);
    CHECK_FALSE(result);
    client.world.tick(400ms);
  }
  SECTION("because the client has closed") {
    client.far.close();
  }
  client.world.run_until([&] { return result.has_value(); });
  CHECK_FALSE(*result);
}

TEST_CASE("Bytes that were read after a body begin the next request") {
  Http1Client client;
  client.receive(counted_head, "one ");
  pull_all(client.body);
  client.far.send("two 3NEXT");
  CHECK_FALSE(client.run(client.body.fill()));
  pull_all(client.body);
  CHECK(client.body.has_ended());
  CHECK(client.body.has_rest());
  CHECK(client.run(client.body.discard(0, 1s)));
  CHECK(client.connection.input.data() == "NEXT");
  CHECK_FALSE(client.body.has_rest());
}

}  // namespace weir::proxy::test
