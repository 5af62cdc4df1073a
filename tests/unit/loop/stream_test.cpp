#include "loop/stream.hpp"

#include <algorithm>
#include <malloc.h>
#include <netinet/in.h>

#include "catch.hpp"
#include "unit/loop/secure_pair.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::large_text;
using test::Outcome;
using test::run;
using test::SecurePair;
using test::start_flush;
using test::start_shutdown;
using test::StreamPair;

void spawn_read(asio::io_context& io, Stream& stream, Outcome& outcome) {
  const auto read = [](Stream& from, Outcome& to) -> Task<> {
    std::array<char, 100> piece{};
    error_code ec;
    const std::size_t n = co_await from.read(asio::buffer(piece.data(), piece.size()), ec);
    to.data.assign(piece.data(), n);
    to.error = ec;
  };
  spawn(io, read(stream, outcome));
}

void start_read(asio::io_context& io, Stream& stream, Outcome& outcome) {
  spawn_read(io, stream, outcome);
  run(io);
}

/// Flushes more than the socket accepts at once.
void start_flush_that_waits(asio::io_context& io, Stream& stream, Outcome& outcome) {
  error_code ec;
  stream.try_write(large_text(), ec);
  start_flush(io, stream, outcome);
  REQUIRE_FALSE(outcome.error);
}

TEST_CASE("data that fits is sent at once") {
  asio::io_context io;
  StreamPair pair(io);
  error_code ec = asio::error::fault;
  pair.stream.try_write("hello", ec);
  CHECK_FALSE(ec);
  CHECK_FALSE(pair.stream.has_unsent());
  CHECK(pair.far.receive() == "hello");
}

TEST_CASE("what does not go at once is kept, in order, until it is flushed") {
  asio::io_context io;
  StreamPair pair(io);
  error_code ec;
  std::string text = large_text();
  pair.stream.try_write(text, ec);
  REQUIRE_FALSE(ec);
  REQUIRE(pair.stream.has_unsent());
  const std::string expected = text + "and more";
  std::fill(text.begin(), text.end(), '-');  // the stream keeps a copy
  pair.stream.try_write("and more", ec);
  CHECK_FALSE(ec);

  Outcome flushed;
  start_flush(io, pair.stream, flushed);
  CHECK_FALSE(flushed.error);
  std::string got;
  while (!flushed.error) {
    const std::string piece = pair.far.receive(100'000);
    REQUIRE_FALSE(piece.empty());
    got += piece;
    run(io);
  }
  got += pair.far.receive();
  CHECK_FALSE(*flushed.error);
  CHECK_FALSE(pair.stream.has_unsent());
  CHECK(got == expected);
}

/// Bytes of the C library's allocator; 0 if a sanitizer has replaced it.
std::size_t allocated() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

TEST_CASE("a flush frees the copy of what did not go at once") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome flushed;
  start_flush_that_waits(io, pair.stream, flushed);
  const std::size_t before = allocated();
  while (!flushed.error) {
    REQUIRE_FALSE(pair.far.receive(100'000).empty());
    run(io);
  }
  const bool is_counted = before > 0;
  CHECK(is_counted == (allocated() + 1'000'000 < before));
}

TEST_CASE("writing to who has left is an error, and nothing is kept") {
  asio::io_context io;
  StreamPair pair(io);
  pair.far.close();
  error_code ec;
  pair.stream.try_write("hello", ec);
  CHECK(ec == asio::error::broken_pipe);
  CHECK_FALSE(pair.stream.has_unsent());
}

TEST_CASE("who leaves while something waits to be sent ends the flush") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome flushed;
  start_flush_that_waits(io, pair.stream, flushed);
  pair.far.close();
  run(io);
  REQUIRE(flushed.error);
  CHECK(*flushed.error);
  CHECK_FALSE(pair.stream.has_unsent());
}

TEST_CASE("reading gives what has arrived, then the end") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome first, second;
  start_read(io, pair.stream, first);
  CHECK_FALSE(first.error);
  pair.far.send("hello");
  run(io);
  CHECK(first.error == error_code{});
  CHECK(first.data == "hello");
  pair.far.end_sending();
  start_read(io, pair.stream, second);
  CHECK(second.error == error_code(asio::error::eof));
}

TEST_CASE("reading and flushing end when they are cancelled, and only what runs does") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome read, flushed, again;
  error_code ec;
  pair.stream.try_write(large_text(), ec);
  start_read(io, pair.stream, read);
  start_flush(io, pair.stream, flushed);
  pair.stream.cancel();
  run(io);
  CHECK(read.error == error_code(asio::error::operation_aborted));
  CHECK(flushed.error == error_code(asio::error::operation_aborted));
  CHECK(pair.stream.has_unsent());
  CHECK(pair.stream.is_open());
  start_read(io, pair.stream, again);
  CHECK_FALSE(again.error);
  pair.far.send("x");
  run(io);
  CHECK(again.data == "x");
}

TEST_CASE("closing ends what is waited for, and the other side sees the end") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome read;
  start_read(io, pair.stream, read);
  pair.stream.close();
  run(io);
  CHECK(read.error == error_code(asio::error::operation_aborted));
  CHECK_FALSE(pair.stream.is_open());
  CHECK(pair.stream.has_ended());
  CHECK(pair.far.has_ended());
  error_code ec;
  pair.stream.try_write("late", ec);
  CHECK(ec);
  start_shutdown(io, pair.stream);
  pair.stream.close();
}

TEST_CASE("what the other side has done is seen without taking it") {
  asio::io_context io;
  StreamPair pair(io);
  Stream& stream = pair.stream;
  CHECK(stream.is_quiet());
  CHECK_FALSE(stream.has_unread());
  CHECK_FALSE(stream.has_ended());
  CHECK_FALSE(stream.peer_has_closed());
  pair.far.send("x");
  CHECK_FALSE(stream.is_quiet());
  CHECK(stream.has_unread());
  CHECK_FALSE(stream.has_ended());
  pair.far.end_sending();
  CHECK_FALSE(stream.has_ended());  // the byte comes first
  CHECK(stream.peer_has_closed());
  Outcome read;
  start_read(io, stream, read);
  CHECK(read.data == "x");
  CHECK_FALSE(stream.is_quiet());
  CHECK_FALSE(stream.has_unread());
  CHECK(stream.has_ended());
}

TEST_CASE("after the end of the sending half the other way is open") {
  asio::io_context io;
  StreamPair pair(io);
  start_shutdown(io, pair.stream);
  CHECK(pair.far.has_ended());
  CHECK(pair.stream.is_open());
  pair.far.send("still");
  Outcome read;
  start_read(io, pair.stream, read);
  CHECK(read.data == "still");
}

/// Both ends of a TCP connection, for tests of TCP-specific behaviour.
std::array<int, 2> tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener, where, size) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  REQUIRE(::getsockname(listener, where, &size) == 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(client, where, size) == 0);
  const int server = ::accept(listener, nullptr, nullptr);
  REQUIRE(server >= 0);
  ::close(listener);
  return {server, client};
}

TEST_CASE("a reset is no end") {
  asio::io_context io;
  {
    StreamPair pair(io, tcp_pair());
    pair.stream.close();
    CHECK(pair.far.has_ended());
    CHECK(pair.far.error() == 0);
  }
  StreamPair pair(io, tcp_pair());
  pair.stream.reset();
  CHECK_FALSE(pair.stream.is_open());
  CHECK(pair.far.has_ended());
  CHECK(pair.far.error() == ECONNRESET);
}

TEST_CASE("over TLS a part of a record is not quiet, and a whole one that carries nothing is") {
  asio::io_context io;
  const std::string record(
      "\x17\x03\x03\x00\x20"
      "stray",
      10);
  for (std::size_t size = 0; size <= record.size(); ++size) {
    CAPTURE(size);
    SecurePair pair(io);
    pair.shake_hands();
    // The session tickets of the server have arrived.
    REQUIRE(pair.client->is_quiet());
    REQUIRE(::send(pair.server->socket().native(), record.data(), size, 0) ==
            static_cast<ssize_t>(size));
    CHECK(pair.client->is_quiet() == (size == 0));
    CHECK(pair.client->is_quiet() == (size == 0));
    pair.client->close();
    pair.server->close();
  }
}

TEST_CASE("over TLS what does not go at once is kept, in order, until it is flushed") {
  asio::io_context io;
  SecurePair pair(io);
  pair.shake_hands();
  REQUIRE(pair.accepted.error == error_code{});
  REQUIRE(pair.connected.error == error_code{});
  CHECK(pair.server->is_secure());
  CHECK(pair.server->is_quiet());

  const std::string text = large_text(1'000'000);
  error_code ec;
  pair.server->try_write(text, ec);
  REQUIRE_FALSE(ec);
  REQUIRE(pair.server->has_unsent());
  Outcome flushed;
  start_flush(io, *pair.server, flushed);
  std::string got;
  while (got.size() < text.size()) {
    Outcome read;
    start_read(io, *pair.client, read);
    REQUIRE(read.error == error_code{});
    got += read.data;
  }
  CHECK(flushed.error == error_code{});
  CHECK_FALSE(pair.server->has_unsent());
  CHECK(got == text);
}

TEST_CASE("a flush is cancelled between two parts of it, too") {
  asio::io_context io;
  StreamPair pair(io);
  Outcome flushed;
  start_flush_that_waits(io, pair.stream, flushed);
  while (!pair.far.receive(100'000).empty()) {
  }
  // The turn of the first part, which can be sent now, comes before the second post's.
  asio::post(io, [&] { asio::post(io, [&] { pair.stream.cancel(); }); });
  run(io);
  CHECK(flushed.error == error_code(asio::error::operation_aborted));
}

TEST_CASE("over TLS a read that has not begun to wait is cancelled, too") {
  asio::io_context io;
  SecurePair pair(io);
  pair.shake_hands();
  Outcome read;
  spawn_read(io, *pair.client, read);
  asio::post(io, [&] { pair.client->cancel(); });
  run(io);
  CHECK(read.error == error_code(asio::error::operation_aborted));
}

TEST_CASE("over TLS the closing word is the end, and a cut is none") {
  asio::io_context io;
  for (const bool says_so : {true, false}) {
    SecurePair pair(io);
    pair.shake_hands();
    Outcome read;
    start_read(io, *pair.client, read);
    CHECK_FALSE(read.error);
    if (says_so) {
      start_shutdown(io, *pair.server);
    } else {
      pair.server->close();
    }
    run(io);
    CHECK(read.error == error_code(says_so ? error_code(asio::error::eof)
                                           : error_code(asio::error::connection_aborted)));
    CHECK(pair.client->has_ended());
  }
}

/// Records of 1,000 bytes, until the next one does not fit.
std::size_t records_that_fit(Stream& stream) {
  const std::string text(1000, 'x');
  error_code ec;
  for (std::size_t count = 0;; ++count) {
    stream.try_write(text, ec);
    REQUIRE_FALSE(ec);
    if (stream.has_unsent()) return count;
  }
}

TEST_CASE("over TLS the closing word waits for room") {
  asio::io_context io;
  SecurePair measured(io);
  measured.shake_hands();
  const std::string text(records_that_fit(*measured.server) * 1000, 'x');
  SecurePair pair(io);
  pair.shake_hands();
  error_code ec;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1000))
    pair.server->try_write(rest.substr(0, 1000), ec);
  REQUIRE_FALSE(pair.server->has_unsent());
  start_shutdown(io, *pair.server);
  std::string got;
  Outcome read;
  do {
    read = {};
    start_read(io, *pair.client, read);
    got += read.data;
  } while (!read.data.empty());
  CHECK(read.error == error_code(asio::error::eof));
  CHECK(got == text);
}

TEST_CASE("a handshake with another name fails, and reports why") {
  asio::io_context io;
  SecurePair pair(io);
  pair.shake_hands("two.test");
  REQUIRE(pair.connected.error);
  CHECK(*pair.connected.error);
  CHECK_FALSE(pair.client->last_error().empty());
}

TEST_CASE("a handshake that is cancelled ends") {
  asio::io_context io;
  StreamPair pair(io);
  const tls::test::MadeCertificate certificate("one.test");
  Outcome accepted;
  const auto accept = [](Stream& stream, std::shared_ptr<const tls::ServerContext> context,
                         Outcome& how) -> Task<> {
    const error_code ec = co_await stream.accept_tls(std::move(context));
    how.error = ec;
  };
  spawn(io, accept(pair.stream, tls::ServerContext::load({certificate.files()}).value(), accepted));
  run(io);
  CHECK_FALSE(accepted.error);
  pair.stream.cancel();
  run(io);
  CHECK(accepted.error == error_code(asio::error::operation_aborted));
}

TEST_CASE("a client that has left after its hello gets no step of a handshake") {
  std::signal(SIGPIPE, SIG_IGN);  // as in the program
  asio::io_context io;
  StreamPair pair(io), client(io);
  const tls::test::MadeCertificate certificate("one.test");
  Outcome connected, accepted;
  const auto connect = [](Stream& stream, std::shared_ptr<const tls::ClientContext> context,
                          Outcome& how) -> Task<> {
    const error_code ec = co_await stream.connect_tls(std::move(context), "one.test");
    how.error = ec;
  };
  const auto accept = [](Stream& stream, std::shared_ptr<const tls::ServerContext> context,
                         Outcome& how) -> Task<> {
    const error_code ec = co_await stream.accept_tls(std::move(context));
    how.error = ec;
  };
  spawn(
      io,
      connect(
          client.stream,
          tls::ClientContext::load(
              {.ca = certificate.files().certificate, .own = {}, .server_name = {}, .verify = true})
              .value(),
          connected));
  run(io);
  pair.far.send(client.far.receive());
  pair.far.close();
  spawn(io, accept(pair.stream, tls::ServerContext::load({certificate.files()}).value(), accepted));
  run(io);
  CHECK(accepted.error == error_code(asio::error::connection_aborted));
  CHECK_FALSE(pair.stream.is_secure());
  client.stream.close();
  run(io);
}

}  // namespace
}  // namespace weir::loop
