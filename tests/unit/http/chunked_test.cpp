#include "http/chunked.hpp"

#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::http {
namespace {

using namespace std::literals;
using Event = ChunkedDecoder::Event;

struct Decoded {
  Event end = Event::need_more;
  std::string payload;
  std::string trailers;  ///< name=value; for each
  std::string rest;      ///< the bytes not consumed
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

/// Gives the decoder the pieces as they would arrive: what it does not consume is offered again in
/// front of the next.
Decoded decode(const std::vector<std::string_view>& pieces) {
  ChunkedDecoder decoder;
  Decoded decoded;
  for (const std::string_view piece : pieces) {
    decoded.rest += piece;
    if (decoded.end == Event::done || decoded.end == Event::malformed) continue;
    for (;;) {
      const auto step = decoder.next(decoded.rest);
      decoded.payload += step.payload;
      if (step.event == Event::trailer) {
        decoded.trailers.append(step.trailer.name)
            .append("=")
            .append(step.trailer.value)
            .append(";");
      }
      decoded.rest.erase(0, step.consumed);
      decoded.end = step.event;
      if (step.event != Event::payload && step.event != Event::trailer) break;
    }
  }
  return decoded;
}

Decoded decode(std::string_view whole) {
  return decode(std::vector{whole});
}

TEST_CASE("bodies and what follows them") {
  CHECK(decode("5\r\nhello\r\n0\r\n\r\n") == Decoded{Event::done, "hello", "", ""});
  CHECK(decode("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET /") ==
        Decoded{Event::done, "hello world", "", "GET /"});
  CHECK(decode("0\r\n\r\n") == Decoded{Event::done, "", "", ""});
  CHECK(decode("A\r\nhelloworld\r\n000\r\n\r\n") == Decoded{Event::done, "helloworld", "", ""});
  CHECK(decode("0000000000000005\r\nhello\r\n0\r\n\r\n").payload == "hello");
  CHECK(decode("5\r\nhel") == Decoded{Event::need_more, "hel", "", ""});
  CHECK(decode("5\r\nhello\r\n0\r\n") == Decoded{Event::need_more, "hello", "", ""});
}

TEST_CASE("B8: a chunk size is hexadecimal digits and nothing else") {
  for (const char* size : {"0x5", "+5", "-1", " 5", "5 ", "5\t", "1_0", "", "g", "5h", "5,",
                           "\"5\"", "5\x0b", "5.0"}) {
    INFO(size);
    CHECK(decode(std::string{size} + "\r\nhello\r\n0\r\n\r\n").end == Event::malformed);
  }
}

TEST_CASE("B8: a line without a size is not the last chunk") {
  for (const char* line : {"", ";a", " ", " ;a", "\t"}) {
    INFO(line);
    CHECK(decode(std::string{line} + "\r\n\r\n").end == Event::malformed);
    CHECK(decode("1\r\nx\r\n" + std::string{line} + "\r\n\r\n").end == Event::malformed);
  }
}

TEST_CASE("a malformed body has a fault that describes what is wrong") {
  struct Row {
    std::string body;
    std::string_view fault;
  };
  const std::string long_name(ChunkedDecoder::extension_allowance, 'a');
  const Row rows[] = {
      {"x", "a chunk size does not start with a hexadecimal digit"},
      {"5x", "a chunk size has characters other than hexadecimal digits"},
      {"8000000000000000", "a chunk size is too large"},
      {"00000000000000001", "a chunk size is too large"},
      {"5 \r", "a chunk extension is malformed"},
      {"5;a=\"\x01", "a chunk extension has a control character"},
      {"5;" + long_name, "too many bytes of chunk extensions"},
      {"1\rx", "a carriage return without a line feed"},
      {"1\r\nxy", "chunk data is not followed by CRLF"},
      {"1\r\nx\ry", "a carriage return without a line feed"},
      {"0\r\na: b\nc", "a line of the trailer section does not end in CRLF"},
      {"0\r\na b: c\r\n", "a trailer field is malformed"},
      {"0\r\na: " + long_name, "the trailer section is too long"},
  };
  for (const auto& [body, fault] : rows) {
    INFO(body);
    ChunkedDecoder decoder;
    std::string_view rest = body;
    ChunkedDecoder::Step step;
    do {
      step = decoder.next(rest);
      rest.remove_prefix(step.consumed);
    } while (step.event == Event::payload);
    CHECK(step.event == Event::malformed);
    CHECK(decoder.fault() == fault);
  }
}

TEST_CASE("B8: a chunk size does not wrap") {
  CHECK(decode("7fffffffffffffff\r\nx").end == Event::need_more);
  for (const char* size : {"8000000000000000", "ffffffffffffffff", "10000000000000005",
                           "00000000000000005", "FFFFFFFFFFFFFFFF0"}) {
    INFO(size);
    CHECK(decode(std::string{size} + "\r\nhello\r\n0\r\n\r\n").end == Event::malformed);
  }
}

TEST_CASE("B8: lines end in CRLF, and so does the data") {
  for (const char* body :
       {"5\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n", "5\r\nhello!!\r\n0\r\n\r\n", "5\r\nhello\r0\r\n\r\n",
        "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\n\n", "0\r\n\rx", "5\r\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n\r\n0\r\n\r\n"}) {
    INFO(body);
    CHECK(decode(body).end == Event::malformed);
  }
}

TEST_CASE("B8: extensions are read and dropped") {
  for (const char* extension :
       {";a", ";a=b", ";a=\"b;\\\"c\\\\\"", ";a;b=c;d", " ; a = b", "\t;\ta\t=\t\"x\" ; b",
        ";a=\"\"", ";a=\"caf\xc3\xa9\t\"", ";a =b", ";a= b", " \t;a", ";\t  a", ";a \t =b",
        ";a= \t b", ";a \t ;b", ";a=b \t ;c", ";a=\"b\" \t ;c"}) {
    INFO(extension);
    const std::string size_line = std::string{"5"} + extension + "\r\n";
    CHECK(decode(size_line + "hello\r\n0" + extension + "\r\n\r\n") ==
          Decoded{Event::done, "hello", "", ""});
  }
}

TEST_CASE("B8: malformed extensions are refused") {
  for (const char* extension :
       {";",      ";;a",         ";a;",      ";=b",     ";a=",        ";a=b=c",  ";bad[=x",
        ";a=\"b", ";a=\"b\"c",   ";a b",     ";a=b c",  ";a ",        ";a=b ",   ";a=\"b\" ",
        " a",     ";a=\"\x01\"", ";a=\"b\\", "; ",      ";a\xc3=b",   ";a=\x7f", ";a=\"\n\"",
        " \t",    ";a \t",       ";a= ",     ";a=b\t ", ";a=\"b\"\t "}) {
    INFO(extension);
    CHECK(decode(std::string{"5"} + extension + "\r\nhello\r\n0\r\n\r\n").end == Event::malformed);
    CHECK(decode(std::string{"5\r\nhello\r\n0"} + extension + "\r\n\r\n").end == Event::malformed);
  }
  CHECK(decode("5;a=\"\0\"\r\nhello\r\n0\r\n\r\n"sv).end == Event::malformed);
}

TEST_CASE("B8: extensions are bounded by an allowance and by the payload they come with") {
  const std::string name(ChunkedDecoder::extension_allowance - 1, 'a');
  CHECK(decode("1;" + name + "\r\nx\r\n0\r\n\r\n").end == Event::done);
  CHECK(decode("1;" + name + "a\r\nx\r\n0\r\n\r\n").end == Event::malformed);
  // white space and quoted text count, too
  const std::string blanks(ChunkedDecoder::extension_allowance - 2, ' ');
  CHECK(decode("1" + blanks + ";a\r\nx\r\n0\r\n\r\n").end == Event::done);
  CHECK(decode("1 " + blanks + ";a\r\nx\r\n0\r\n\r\n").end == Event::malformed);
  const std::string quoted = ";a=\"" + std::string(ChunkedDecoder::extension_allowance - 7, 'b');
  CHECK(decode("1" + quoted + "\\\"\"\r\nx\r\n0\r\n\r\n").end == Event::done);
  CHECK(decode("1" + quoted + "b\\\"\"\r\nx\r\n0\r\n\r\n").end == Event::malformed);
  // many small chunks, each with an extension as large as itself, are no more than a chatty client
  const std::string paired = "4;abc\r\nwxyz\r\n";
  const std::string greedy = "4;abcd\r\nwxyz\r\n";
  std::string all_paired;
  std::string all_greedy;
  for (std::uint64_t i = 0; i <= ChunkedDecoder::extension_allowance + 8; ++i) {
    all_paired += paired;
    all_greedy += greedy;
  }
  CHECK(decode(all_paired + "0\r\n\r\n").end == Event::done);
  CHECK(decode(all_greedy + "0\r\n\r\n").end == Event::malformed);
}

TEST_CASE("trailer fields are handed out in order") {
  CHECK(decode("1\r\nx\r\n0\r\nX-Checksum: abc\r\nx-b:\r\nc:\t d e \r\n\r\nrest") ==
        Decoded{Event::done, "x", "X-Checksum=abc;x-b=;c=d e;", "rest"});
  ChunkedDecoder decoder;
  CHECK(decoder.next("0\r\ncontent-LENGTH: 5\r\n\r\n").trailer.id == FieldId::content_length);
}

TEST_CASE("F1, F2 and F4: trailer fields follow the rules of fields") {
  for (const char* line : {"no colon", ": empty", "a b: c", "a : b", " a: b", "\ta: b", "a[: b",
                           "a: \x01", "a: b\x7f", "a: b\nc: d"}) {
    INFO(line);
    CHECK(decode(std::string{"0\r\n"} + line + "\r\n\r\n").end == Event::malformed);
  }
  CHECK(decode("0\r\na: b\r\n c\r\n\r\n").end == Event::malformed);
  CHECK(decode("0\r\na: b\rc: d\r\n\r\n").end == Event::malformed);
}

TEST_CASE("the trailer section is bounded, a line and altogether") {
  const auto line_of = [](std::size_t size) { return "a:" + std::string(size - 2, 'b'); };
  CHECK(decode("0\r\n" + line_of(ChunkedDecoder::trailer_line_limit) + "\r\n\r\n").end ==
        Event::done);
  CHECK(decode("0\r\n" + line_of(ChunkedDecoder::trailer_line_limit + 1) + "\r\n\r\n").end ==
        Event::malformed);
  CHECK(decode("0\r\n" + line_of(ChunkedDecoder::trailer_line_limit + 1)).end == Event::malformed);
  std::string lines;
  while (lines.size() + 102 <= ChunkedDecoder::trailer_limit)
    lines += line_of(100) + "\r\n";
  CHECK(decode("0\r\n" + lines + "\r\n").end == Event::done);
  const std::string longest = line_of(ChunkedDecoder::trailer_line_limit) + "\r\n";
  const std::size_t rest = ChunkedDecoder::trailer_limit - longest.size() - 2;  // CRLF
  CHECK(decode("0\r\n" + longest + line_of(rest) + "\r\n\r\n").end == Event::done);
  CHECK(decode("0\r\n" + longest + line_of(rest + 1) + "\r\n\r\n").end == Event::malformed);
  CHECK(decode("0\r\n" + lines + line_of(100) + "\r\n\r\n").end == Event::malformed);
}

TEST_CASE("no bytes are accepted after the end") {
  ChunkedDecoder finished;
  CHECK(finished.next("0\r\n\r\n").event == Event::done);
  CHECK(finished.next("5\r\n").event == Event::done);
  CHECK(finished.next("5\r\n").consumed == 0);
  ChunkedDecoder broken;
  CHECK(broken.next("x").event == Event::malformed);
  CHECK_FALSE(broken.fault().empty());
  CHECK(broken.next("0\r\n\r\n").event == Event::malformed);
}

const std::vector<std::string> bodies{
    "5\r\nhello\r\n0\r\n\r\nGET /",
    "3;a=\"b\\\"\"\r\nabc\r\n1 ; x\r\nd\r\n0;l\r\nT: v\r\nU:\r\n\r\nrest",
    "5\r\nhel\r\n\r\n0\r\nbroken :\r\n\r\n",
    "2\r\nab\r\nzz\r\n",
    "0\r\na: b\nc",
    "10\r\n0123456789abcdef\r\n0\r\n\r\n",
};

TEST_CASE("decoding is the same however the bytes arrive") {
  for (const std::string& body : bodies) {
    INFO(body);
    const std::string_view whole = body;
    const Decoded expected = decode(whole);
    for (std::size_t first = 0; first <= whole.size(); ++first) {
      for (std::size_t second = first; second <= whole.size(); ++second) {
        const Decoded split = decode(
            {whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)});
        REQUIRE(split.end == expected.end);
        REQUIRE(split.payload == expected.payload);
        REQUIRE(split.trailers == expected.trailers);
        if (expected.end == Event::done) REQUIRE(split.rest == expected.rest);
      }
    }
    std::vector<std::string_view> bytes;
    for (std::size_t at = 0; at < whole.size(); ++at)
      bytes.push_back(whole.substr(at, 1));
    CHECK(decode(bytes).payload == expected.payload);
    CHECK(decode(bytes).end == expected.end);
  }
}

std::vector<std::string_view> random_pieces(std::string_view whole, std::mt19937& random) {
  std::vector<std::string_view> pieces;
  while (!whole.empty()) {
    const std::size_t size = 1 + random() % std::min<std::size_t>(whole.size(), 1 + random() % 64);
    pieces.push_back(whole.substr(0, size));
    whole.remove_prefix(size);
  }
  return pieces;
}

TEST_CASE("encoded chunks are decoded to the same bytes") {
  const TestSeed seed;
  std::mt19937 random{seed};
  for (int i = 0; i < 300; ++i) {
    std::string payload(random() % 2000, '\0');
    for (char& c : payload)
      c = static_cast<char>(random());
    std::string encoded;
    for (const std::string_view chunk : random_pieces(payload, random)) {
      append_chunk(encoded, chunk);
    }
    append_last_chunk(encoded, {});
    REQUIRE(decode(random_pieces(encoded, random)) == Decoded{Event::done, payload, "", ""});
  }
}

TEST_CASE("chunk sizes are plain hexadecimal") {
  std::string out = "x";
  const std::string payload(0x1aF, 'p');
  append_chunk(out, payload);
  append_last_chunk(out, {{"T", "1"}});
  CHECK(out == "x1af\r\n" + payload + "\r\n0\r\nT: 1\r\n\r\n");
}

TEST_CASE("garbage is decoded the same however it arrives, and never past its end") {
  const TestSeed seed;
  std::mt19937 random{seed};
  constexpr std::string_view alphabet = "0125af;=\" \\\r\n\r\n\r\nx:\t";
  for (int i = 0; i < 20'000; ++i) {
    std::string garbage(random() % 40, '\0');
    for (char& c : garbage)
      c = alphabet[random() % alphabet.size()];
    const Decoded whole = decode(garbage);
    const Decoded split = decode(random_pieces(garbage, random));
    CAPTURE(garbage);
    if (!garbage.empty()) {
      REQUIRE(split.end == whole.end);
      REQUIRE(split.payload == whole.payload);
      REQUIRE(split.trailers == whole.trailers);
    }
  }
}

}  // namespace
}  // namespace weir::http
