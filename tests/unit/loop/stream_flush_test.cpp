// A flush that is cancelled: nothing is lost, so a writer that goes on cuts no frame.
#include "catch.hpp"
#include "loop/stream.hpp"
#include "unit/loop/secure_pair.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

TEST_CASE("a flush that is cancelled keeps the rest for another one") {
  asio::io_context io;
  test::StreamPair pair(io);
  error_code ec;
  const std::string text = test::large_text();
  pair.stream.try_write(text, ec);
  test::Outcome cancelled, flushed;
  test::start_flush(io, pair.stream, cancelled);
  std::string got = pair.far.receive(100'000);
  test::run(io);
  REQUIRE_FALSE(cancelled.error);
  pair.stream.cancel();
  test::run(io);
  CHECK(cancelled.error == error_code(asio::error::operation_aborted));
  REQUIRE(pair.stream.has_unsent());
  test::start_flush(io, pair.stream, flushed);
  while (!flushed.error) {
    const std::string piece = pair.far.receive(100'000);
    REQUIRE_FALSE(piece.empty());
    got += piece;
    test::run(io);
  }
  got += pair.far.receive();
  CHECK(got == text);
}

}  // namespace
}  // namespace weir::loop
