// The body of a request on its way to an upstream, concurrent with the response.
#include "proxy/upload.hpp"

#include <optional>

#include "catch.hpp"
#include "proxy/http1_upstream_stream.hpp"
#include "unit/proxy/forward_phase.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

const std::string counted_put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
const std::string chunked_put =
    "PUT / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n";

class Uploading : public ForwardTest {
 public:
  explicit Uploading(
      std::string its_head, Change change = [](Configuration&) {})
      : ForwardTest(std::move(its_head), 1, change) {
    const auto connect = [](upstream::PooledServer& to,
                            upstream::Connection& made) -> loop::Task<> {
      const error_code ec = co_await to.connect(made);
      REQUIRE_FALSE(ec);
    };
    stream.emplace(phase, server().make());
    loop::spawn(world.io, connect(server(), stream->connection()));
    accept();
    world.poll();
    upload.emplace(phase);
  }
  ~Uploading() { end(); }

  void start() {
    has_started = true;
    upload->start(*stream);
    world.poll();
  }
  void end() {
    if (!has_started || upload->state().has_finished) return;
    bool has_ended = false;
    loop::spawn(world.io, note_end(upload->end(), has_ended));
    world.run_until([&] { return has_ended; });
  }
  /// Sends what was built, and returns it.
  std::string built() {
    error_code ec;
    stream->send(ec);
    return sent();
  }
  std::string sent() {
    world.poll();
    return upstream->receive();
  }
  bool has_finished() const { return upload->state().has_finished; }

  std::optional<Http1UpstreamStream> stream;
  std::optional<Upload> upload;
  bool has_started = false;
};

}  // namespace

TEST_CASE("A request without a body is sent with its head") {
  Uploading uploading("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(uploading.upload->is_sent());
  uploading.upload->append_arrived(*uploading.stream);
  CHECK(uploading.built() == "");
  CHECK(uploading.has_finished());
  CHECK_FALSE(uploading.upload->is_held_back());
}

TEST_CASE("The part of a body that has arrived is sent with the head") {
  Uploading uploading(counted_put);
  CHECK_FALSE(uploading.upload->is_sent());
  uploading.client.body.arrive("one ");
  uploading.client.body.arrive("two ");
  SECTION("a part of it") {
    uploading.upload->append_arrived(*uploading.stream);
    CHECK(uploading.built() == "one two ");
    CHECK_FALSE(uploading.upload->is_sent());
  }
  SECTION("all of it") {
    uploading.client.body.arrive("3");
    uploading.client.body.end();
    uploading.upload->append_arrived(*uploading.stream);
    CHECK(uploading.built() == "one two 3");
    CHECK(uploading.upload->is_sent());
  }
  SECTION("a malformed part") {
    uploading.client.body.be_malformed();
    uploading.upload->append_arrived(*uploading.stream);
    CHECK(uploading.upload->state().failure == Failure::body_malformed);
    CHECK_FALSE(uploading.upload->is_sent());
  }
  CHECK(uploading.has_finished());  // not started: nothing runs concurrently with the response yet
}

TEST_CASE("The rest of a body is sent piece by piece as it arrives") {
  Uploading uploading(counted_put,
                      [](Configuration& settings) { settings.upstreams[0].response_timeout = 5s; });
  uploading.start();
  CHECK(uploading.client.body.is_waited_for());
  CHECK(uploading.client.body.keeps == uploading.phase.upstream().retry_body);
  CHECK(uploading.client.watchdog.phase() == Phase::body);
  for (const char* const piece : {"one ", "two ", "3"}) {
    uploading.client.body.arrive(piece);
    CHECK(uploading.sent() == piece);
    CHECK_FALSE(uploading.has_finished());
  }
  uploading.client.body.end();
  CHECK(uploading.sent() == "");
  CHECK(uploading.has_finished());
  CHECK(uploading.upload->is_sent());
  CHECK(uploading.upload->state().failure == Failure::none);
  CHECK(uploading.client.watchdog.phase() == Phase::response);
}

TEST_CASE("The end of an upload does not restart the time for a response that has begun") {
  Uploading uploading(counted_put);
  uploading.start();
  error_code ec;
  uploading.client.responder.send(ec);
  uploading.client.body.end();
  uploading.world.poll();
  CHECK(uploading.client.watchdog.phase() == Phase::relay);
}

TEST_CASE("A chunked body is sent in chunks, with the trailers that were announced") {
  Uploading uploading(chunked_put);
  CHECK(uploading.upload->announced_trailers() == "X-Sum");
  uploading.start();
  uploading.client.body.arrive("hello");
  CHECK(uploading.sent() == "5\r\nhello\r\n");
  uploading.client.body.end_with_trailer("X-Sum", "1");
  CHECK(uploading.sent() == "0\r\nX-Sum: 1\r\n\r\n");
  CHECK(uploading.has_finished());
}

TEST_CASE("A trailer that was not announced is dropped") {
  Uploading uploading(chunked_put);
  uploading.start();
  uploading.client.body.end_with_trailer("X-Other", "1");
  CHECK(uploading.sent() == "0\r\n\r\n");
}

TEST_CASE("An upstream that takes no more holds the client back") {
  Uploading uploading("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000000\r\n\r\n");
  uploading.start();
  const std::string piece = large_text(100'000);
  std::size_t arrived = 0;
  while (uploading.client.body.is_waited_for() && arrived < 800) {
    uploading.client.body.arrive(piece);
    ++arrived;
    uploading.world.poll();
  }
  CHECK(uploading.upload->state().waits_for_upstream);
  uploading.client.body.arrive("more");
  uploading.world.poll();
  CHECK(uploading.client.body.pulled() == arrived);
  // The upstream is slow, not the client.
  uploading.world.tick(5s);
  CHECK_FALSE(uploading.upload->is_held_back());
  std::string expected;
  for (std::size_t i = 0; i < arrived; ++i)
    expected += piece;
  expected += "more";
  std::string sent;
  uploading.world.run_until([&] {
    sent += uploading.upstream->receive();
    return sent.size() == expected.size();
  });
  CHECK((sent == expected));
  CHECK_FALSE(uploading.upload->state().waits_for_upstream);
  CHECK(uploading.client.body.is_waited_for());
}

TEST_CASE("A body larger than downstream.max_body fails when the byte too many arrives") {
  Uploading uploading(chunked_put,
                      [](Configuration& settings) { settings.proxy.downstream.max_body = 6; });
  uploading.start();
  uploading.client.body.arrive("123456");
  CHECK(uploading.sent() == "6\r\n123456\r\n");
  CHECK(uploading.upload->state().failure == Failure::none);
  uploading.client.body.arrive("7");
  CHECK(uploading.sent() == "");
  CHECK(uploading.upload->state().failure == Failure::body_too_large);
  CHECK(uploading.has_finished());
}

TEST_CASE("A failure of the client ends the upload, and what is waited for on the upstream") {
  Uploading uploading(chunked_put,
                      [](Configuration& settings) { settings.proxy.downstream.body_timeout = 2s; });
  error_code read_error;
  std::array<char, 16> room{};
  const auto read = [](loop::Stream& from, asio::mutable_buffer to,
                       error_code& ec) -> loop::Task<> { co_await from.read(to, ec); };
  loop::spawn(uploading.world.io,
              read(uploading.stream->connection().stream, asio::buffer(room), read_error));
  uploading.start();
  Failure expected = Failure::none;
  SECTION("malformed") {
    uploading.client.body.be_malformed();
    expected = Failure::body_malformed;
  }
  SECTION("the connection breaks") {
    uploading.client.body.break_off();
    expected = Failure::downstream_gone;
  }
  SECTION("nothing arrives in time") {
    uploading.world.tick(1'900ms);
    CHECK_FALSE(uploading.has_finished());
    uploading.world.tick(500ms);
    expected = Failure::body_timed_out;
  }
  uploading.world.poll();
  CHECK(uploading.upload->state().failure == expected);
  CHECK(uploading.has_finished());
  CHECK_FALSE(uploading.upload->is_sent());
  CHECK(read_error == asio::error::operation_aborted);
}

TEST_CASE("An upload that is ended stops where it is, without a failure") {
  Uploading uploading(counted_put);
  uploading.start();
  uploading.client.body.arrive("one ");
  CHECK(uploading.sent() == "one ");
  uploading.end();
  CHECK(uploading.has_finished());
  CHECK(uploading.upload->state().failure == Failure::none);
  CHECK_FALSE(uploading.upload->is_sent());
  CHECK_FALSE(uploading.client.body.is_waited_for());
  CHECK(uploading.client.watchdog.phase() == Phase::body);  // the response is not due yet
  uploading.client.body.arrive("two ");
  CHECK(uploading.sent() == "");
}

TEST_CASE("An upload is held back by a client that has been waited for for a second") {
  Uploading uploading(counted_put);
  CHECK_FALSE(uploading.upload->is_held_back());
  uploading.start();
  uploading.world.tick(900ms);
  CHECK_FALSE(uploading.upload->is_held_back());
  uploading.client.body.arrive("one");  // an occasional byte makes no difference
  uploading.world.tick(100ms);
  CHECK(uploading.upload->is_held_back());
  uploading.client.body.end();
  uploading.world.poll();
  CHECK_FALSE(uploading.upload->is_held_back());
}

TEST_CASE("An upstream that has closed ends the upload, and its response decides") {
  Uploading uploading(counted_put);
  uploading.start();
  uploading.upstream->close();
  for (const char* const piece : {"one ", "two "}) {  // the first one is answered with a reset
    uploading.client.body.arrive(piece);
    uploading.world.poll();
  }
  CHECK(uploading.has_finished());
  CHECK(uploading.upload->state().failure == Failure::none);
  CHECK_FALSE(uploading.upload->is_sent());
}

TEST_CASE("An exception ends the upload, and is kept for the attempt") {
  Uploading uploading(counted_put);
  CHECK_FALSE(uploading.upload->has_thrown());
  CHECK_NOTHROW(uploading.upload->rethrow());
  try {
    throw std::runtime_error("no memory");
  } catch (...) {
    uploading.upload->keep_exception();
  }
  CHECK(uploading.upload->has_thrown());
  CHECK_THROWS_WITH(uploading.upload->rethrow(), "no memory");
}

}  // namespace weir::proxy::test
