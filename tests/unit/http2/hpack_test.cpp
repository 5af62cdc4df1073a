// Heads in the representations of HPACK (RFC 7541): the examples of its appendix C, and blocks that
// cannot be decoded.
#include "http2/client_session.hpp"
#include "http2/session.hpp"
#include "unit/http2/reaction.hpp"
#include "unit/http2/scripted_server.hpp"

namespace weir::http2 {
namespace {

using namespace test;

std::string bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    if (hex[i] == ' ') ++i;
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

/// A head as lines.
std::string text_of(http::HeaderList& head) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) text.append(name).append(": ").append(value).append("\n");
  };
  add(":method", head.method());
  add(":scheme", head.scheme());
  add(":authority", head.authority());
  add(":path", head.path());
  add(":status", head.status());
  std::vector<http::FieldView> fields;
  head.finish(fields);
  for (const http::FieldView& field : fields)
    add(field.name, field.value);
  return text;
}

/// The heads of requests whose blocks share the table of a connection.
std::vector<std::string> requests_in(const std::vector<std::string>& blocks) {
  Server server;
  CHECK(server.session.receive(preface));
  std::vector<std::string> heads;
  for (const std::string& block : blocks) {
    const auto id = static_cast<std::uint32_t>(2 * heads.size() + 1);
    CHECK(server.session.receive(
        frame(NGHTTP2_HEADERS, end_headers | end_stream, id, bytes_of(block))));
    REQUIRE(server.streams.size() == heads.size() + 1);
    heads.push_back(text_of(server.streams.back()->head()));
  }
  return heads;
}

std::vector<std::string> responses_in(const std::vector<std::string>& blocks) {
  Client client;
  std::vector<std::string> heads;
  for (const std::string& block : blocks) {
    TestStream stream;
    REQUIRE(client.open(stream));
    client.sent();
    const auto id = static_cast<std::uint32_t>(2 * heads.size() + 1);
    CHECK(client.receive(frame(NGHTTP2_HEADERS, end_headers | end_stream, id, bytes_of(block))));
    heads.push_back(text_of(stream.head()));
  }
  return heads;
}

const std::string example_get = ":method: GET\n:scheme: http\n:authority: www.example.com\n";

TEST_CASE("the examples of requests, appendices C.3 and C.4") {
  const std::vector<std::string> expected{
      example_get + ":path: /\n", example_get + ":path: /\ncache-control: no-cache\n",
      ":method: GET\n:scheme: https\n:authority: www.example.com\n:path: /index.html\n"
      "custom-key: custom-value\n"};
  CHECK(requests_in({"828684410f7777772e6578616d706c652e636f6d", "828684be58086e6f2d6361636865",
                     "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565"}) == expected);
  CHECK(requests_in({"828684418cf1e3c2e5f23a6ba0ab90f4ff", "828684be5886a8eb10649cbf",
                     "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"}) == expected);
}

/// The table has 256 bytes, so that entries are evicted.
TEST_CASE("the examples of responses, appendices C.5 and C.6") {
  const std::string first =
      "cache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n"
      "location: https://www.example.com\n";
  const std::vector<std::string> expected{
      ":status: 302\n" + first, ":status: 307\n" + first,
      ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\n"
      "location: https://www.example.com\ncontent-encoding: gzip\n"
      "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"};
  const std::string size_of_table = "3fe101";
  CHECK(responses_in({size_of_table +
                          "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a"
                          "31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                      "4803333037c1c0bf",
                      "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a"
                      "69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d"
                      "61782d6167653d333630303b2076657273696f6e3d31"}) == expected);
  CHECK(responses_in({size_of_table +
                          "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e"
                          "919d29ad171863c78f0b97c8e9ae82ae43d3",
                      "4883640effc1c0bf",
                      "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821d"
                      "d7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b106"
                      "3d5007"}) == expected);
}

TEST_CASE("the same field in each representation") {
  const std::string get = "828684410f7777772e6578616d706c652e636f6d";
  const std::string field = "0a637573746f6d2d6b65790c637573746f6d2d76616c7565";
  const std::string expected = example_get + ":path: /\ncustom-key: custom-value\n";
  // With indexing, without it, never indexed, and by its index, after that of the authority.
  CHECK(requests_in({get + "40" + field, "828684bf00" + field, "828684bf10" + field,
                     "828684bfbe"}) == std::vector<std::string>(4, expected));
}

TEST_CASE("blocks that cannot be decoded") {
  const std::string get = "828684410161";
  const char* const rows[] = {
      "80",                        // index 0
      "bf",                        // beyond the table
      "7f8080808080808080808001",  // an index that has no end
      "ffffffffff0f",              // an index of more than 32 bits
      "400a6162",                  // a name that ends with the block
      "4001610a62",                // a value that does
      "40016184ffffffff",          // Huffman: the end of the string as a symbol
      "400161821fff",              // Huffman: more than 7 bits of padding
      "4001618118",                // Huffman: padding of zeros
      "20",                        // a size of the table after the first field
      "3fe21f",                    // the same, and beyond the size that was announced
  };
  for (const char* const row : rows) {
    CAPTURE(row);
    check_reaction("connection COMPRESSION_ERROR", {},
                   frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, bytes_of(get + row)));
  }
}

TEST_CASE("the table of a client") {
  struct Row {
    const char* expected;
    std::string first;
    std::string second;
  };
  // They add ":authority: a", which takes 43 bytes in the table, and "x: 1", which takes 34.
  const std::string authority = "828684410161";
  const std::string both = authority + "4001780131";
  const std::string indexed_x = "828684010161be";
  const Row rows[] = {
      {"none", both, "828684bfbe"},
      {"connection COMPRESSION_ERROR", both, "828684c0be"},
      // A table of 64 bytes has room for the newest entry, one of 31 for none.
      {"none", "3f21" + both, indexed_x},
      {"connection COMPRESSION_ERROR", "3f21" + both, "828684bf"},
      {"connection COMPRESSION_ERROR", "3f00" + both, indexed_x},
      // A smaller size evicts, and a larger one does not bring entries back.
      {"none", authority, "203fe11f" + authority},
      {"connection COMPRESSION_ERROR", authority, "203fe11f828684be"},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    const auto head = [](std::uint32_t id, const std::string& block) {
      return frame(NGHTTP2_HEADERS, end_headers | end_stream, id, bytes_of(block));
    };
    check_reaction(rows[i].expected, head(1, rows[i].first), head(3, rows[i].second));
  }
}

}  // namespace
}  // namespace weir::http2
