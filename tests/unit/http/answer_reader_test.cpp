#include "http/answer_reader.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "catch.hpp"

namespace weir::http {
namespace {

using ReaderState = AnswerReader::State;

struct ReadAnswer {
  ReaderState state = ReaderState::head;
  int status = 0;
  std::string body;
  std::string problem;
};

constexpr AnswerReader::Limits limits{.head = 200, .body = 10};

/// Reads `text` in pieces of `step` bytes, then its end.
ReadAnswer outcome(std::string_view text, std::size_t step) {
  AnswerReader reader(limits);
  for (std::size_t at = 0; at < text.size(); at += step)
    reader.read(text.substr(at, step));
  const ReaderState before_end = reader.state();
  const ReaderState at_end = reader.end();
  if (before_end == ReaderState::done || before_end == ReaderState::failed)
    CHECK(at_end == before_end);
  return {.state = at_end,
          .status = reader.status(),
          .body = reader.take_body(),
          .problem = reader.problem()};
}

void check(std::string_view text, int status, std::string_view body, std::string_view problem) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{10'000}}) {
    CAPTURE(text, step);
    const ReadAnswer found = outcome(text, step);
    CHECK(found.state == (problem.empty() ? ReaderState::done : ReaderState::failed));
    CHECK(found.status == status);
    CHECK(found.body == body);
    CHECK(found.problem == problem);
  }
}

TEST_CASE("a reader without a limit for the body accepts none") {
  AnswerReader empty(AnswerReader::Limits{});
  CHECK(empty.read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") == ReaderState::done);
  AnswerReader one(AnswerReader::Limits{});
  CHECK(one.read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") == ReaderState::failed);
}

TEST_CASE("an answer ends as its framing declares") {
  // Content-Length; what follows is not read.
  check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1", 200, "hello", "");
  check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", "");
  check("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", 200, "0123456789", "");
  // The chunked coding, with an extension and a trailer.
  check(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: "
      "1\r\n\r\n",
      200, "hello", "");
  // The end of the connection.
  check("HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello", "");
  check("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n", 200, "", "");
  // No body at all.
  check("HTTP/1.1 204 No Content\r\n\r\n", 204, "", "");
  // After interim answers.
  check(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      200, "ok", "");
  // "identity" is no coding.
  check("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", 200, "ok",
        "");
}

TEST_CASE("the body of an answer other than 2xx is not read") {
  check("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 1000\r\n\r\n", 302, "", "");
  check("HTTP/1.1 500 Oops\r\nTransfer-Encoding: gzip\r\n\r\n", 500, "", "");
  check("HTTP/1.1 304 Not Modified\r\n\r\n", 304, "", "");
  check("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, "", "");
}

TEST_CASE(
    "the body of any final answer is read on request, and its lifetime is that of a 2xx only") {
  const auto read = [](std::string_view text) {
    AnswerReader reader({.head = 200, .body = 10, .reads_any_status = true});
    reader.read(text);
    CHECK_FALSE(reader.fresh_for().has_value());
    return std::pair(reader.state(), reader.take_body());
  };
  using Outcome = std::pair<ReaderState, std::string>;
  const std::string fresh = "Cache-Control: max-age=60\r\n";
  CHECK(read("HTTP/1.1 401 Unauthorized\r\n" + fresh + "Content-Length: 2\r\n\r\nno") ==
        Outcome(ReaderState::done, "no"));
  CHECK(read("HTTP/1.1 304 Not Modified\r\n\r\n") == Outcome(ReaderState::done, ""));
  CHECK(read("HTTP/1.1 101 Switching Protocols\r\n\r\n") == Outcome(ReaderState::done, ""));
  CHECK(read("HTTP/1.1 500 Oops\r\nContent-Length: 11\r\n\r\n") ==
        Outcome(ReaderState::failed, ""));
}

TEST_CASE("an answer that is incomplete, too large or invalid has a problem") {
  const std::string_view cut = "the connection was closed before the end of the answer";
  check("", 0, "", "the connection was closed without an answer");
  check("HTTP/1.1 200 OK\r\n", 0, "", cut);
  check("HTTP/1.1 100 Continue\r\n\r\n", 0, "", "the connection was closed without an answer");
  check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 200, "", cut);
  check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", 200, "", cut);
  // Not HTTP.
  check("SSH-2.0-OpenSSH_9.2p1\r\n\r\n", 0, "", "it is not HTTP/1.1");
  check("HTTP/1.1 200 OK\nContent-Length: 0\n\n", 0, "", "it is not HTTP/1.1");
  check("HTTP/1.1 099 Low\r\n\r\n", 0, "", "it is not HTTP/1.1");
  // A length is judged before the body.
  check("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", 200, "",
        "its body has 11 bytes, more than 10");
  check("HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n0123456789", 200, "",
        "its body has 10485760 bytes, more than 10");
  const std::string_view larger = "its body is larger than 10 bytes";
  check("HTTP/1.1 200 OK\r\n\r\n0123456789a", 200, "", larger);
  check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n678901\r\n", 200,
        "", larger);
  check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 200, "",
        "its body is invalid: a chunk size does not start with a hexadecimal digit");
  // Framing that another reader could read in another way.
  check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok", 200, "",
        "its framing is invalid: both Transfer-Encoding and Content-Length");
  check("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok", 200, "",
        "its body has a content coding, and the request accepts none");
  // Heads.
  const std::string field = "X: " + std::string(100, 'x') + "\r\n";
  check("HTTP/1.1 200 OK\r\n" + field + field + "\r\n", 0, "", "its head is larger than 200 bytes");
  check("HTTP/1.1 100 Go on\r\n" + field + "\r\nHTTP/1.1 204 No\r\n" + field + "\r\n", 204, "", "");
}

TEST_CASE("a head without an end is refused before it fills the memory") {
  AnswerReader reader(limits);
  reader.read("HTTP/1.1 200 OK\r\nX: ");
  std::size_t read = 0;
  while (reader.read("xxxxxxxxxx") == ReaderState::head && read < 10'000)
    read += 10;
  CHECK(reader.problem() == "its head is larger than 200 bytes");
  CHECK(read < 250);
}

TEST_CASE("Retry-After of the final answer counts if it is a number of seconds") {
  const auto retry_after = [](const std::string& fields, const std::string& status = "503 Busy") {
    AnswerReader reader(limits);
    reader.read("HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n");
    CHECK(reader.read("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n" + fields + "\r\n") ==
          ReaderState::done);
    return reader.retry_after();
  };
  CHECK(retry_after("Retry-After: 7\r\n") == std::chrono::seconds(7));
  CHECK(retry_after("retry-after: 0\r\n", "429 Wait") == std::chrono::seconds(0));
  CHECK_FALSE(retry_after(""));
  CHECK_FALSE(retry_after("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"));
  CHECK_FALSE(retry_after("Retry-After: -1\r\n"));
}

TEST_CASE("a reader that needs no body is done with the head") {
  AnswerReader reader({.head = 200, .reads_body = false});
  CHECK(reader.read("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n") == ReaderState::head);
  CHECK(reader.read("\r\n") == ReaderState::done);
  CHECK(reader.status() == 200);
}

TEST_CASE("the lifetime is that of the final answer") {
  AnswerReader reader(limits);
  reader.read("HTTP/1.1 103 Early Hints\r\nCache-Control: max-age=5\r\n\r\n");
  CHECK(reader.state() == ReaderState::head);
  CHECK(reader.status() == 0);
  reader.read("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\n");
  CHECK(reader.state() == ReaderState::body);
  CHECK(reader.status() == 200);
  CHECK(reader.fresh_for() == std::chrono::seconds(60));
}

TEST_CASE("Retry-After is read of any answer, if it is a number") {
  const auto read = [](std::string_view fields) {
    AnswerReader reader({.head = 200, .body = 10});
    reader.read(std::string("HTTP/1.1 503 No\r\n").append(fields).append("\r\n"));
    return reader.retry_after();
  };
  CHECK(read("Retry-After: 7\r\n") == std::chrono::seconds(7));
  CHECK(read("") == std::nullopt);
  CHECK(read("Retry-After: \r\n") == std::nullopt);
  CHECK(read("Retry-After: -1\r\n") == std::nullopt);
  CHECK(read("Retry-After: Fri, 01 Jan 2027 00:00:00 GMT\r\n") == std::nullopt);
  CHECK(read("retry-after: 99999999999999999999\r\n") == std::chrono::seconds(1LL << 31));
}

}  // namespace
}  // namespace weir::http
