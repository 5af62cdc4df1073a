#include "http/hop_by_hop.hpp"

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

/// Whether a field of that name goes on in a message with these Connection lines.
bool goes_on(std::string_view name, std::initializer_list<NameValue> connection,
             std::span<const std::string> kept = {}) {
  return !is_hop_by_hop(fields_of({{name, "1"}})[0],
                        connection_options(fields_of(connection), kept));
}

TEST_CASE("H1: what Connection names is removed, in any case and over several lines") {
  CHECK_FALSE(goes_on("X-A", {{"Connection", "x-a, close"}}));
  CHECK_FALSE(goes_on("x-b", {{"Connection", "x-a"}, {"connection", "close , X-B"}}));
  CHECK(goes_on("x-b", {{"Connection", "x-a"}}));
  CHECK(goes_on("x-aa", {{"Connection", "x-a"}}));
  CHECK_FALSE(goes_on("trailer", {{"Connection", "trailer"}}));
}

TEST_CASE("the options of one message do not stay for the next") {
  ConnectionOptions options;
  read_connection_options(fields_of({{"Connection", "close, upgrade, keep-alive, x-a"}}), {},
                          options);
  CHECK(options.name("x-a"));
  read_connection_options(fields_of({{"Connection", "x-b"}}), {}, options);
  CHECK_FALSE((options.close || options.upgrade || options.keep_alive || options.too_many));
  CHECK(options.name("x-b"));
  CHECK_FALSE(options.name("x-a"));
}

TEST_CASE("H3: fields of the hop are removed though not listed") {
  for (const char* name :
       {"Connection", "proxy-connection", "Keep-Alive", "TE", "Transfer-Encoding", "UPGRADE"}) {
    INFO(name);
    CHECK_FALSE(goes_on(name, {}));
  }
}

TEST_CASE("H4: a sender cannot strip identity or framing") {
  const std::vector<std::string> kept{"X-Api-Key", "x-tenant"};
  for (const char* name :
       {"host", "Content-Length", "authorization", "cookie", "forwarded", "X-Forwarded-For",
        "x-forwarded-proto", "x-forwarded-anything", "x-api-key", "X-TENANT"}) {
    INFO(name);
    CHECK(goes_on(name, {{"Connection", name}}, kept));
  }
  CHECK_FALSE(goes_on("x-api-key", {{"Connection", "x-api-key"}}));
  CHECK_FALSE(goes_on("transfer-encoding", {{"Connection", "close"}}));
}

TEST_CASE("H5: other fields go on") {
  for (const char* name :
       {"x-unknown", "Trailer", "Cache-Control", "Proxy-Authorization", "Via", "Expect"}) {
    INFO(name);
    CHECK(goes_on(name, {{"Connection", "close"}}));
  }
}

TEST_CASE("F5: empty elements of Connection are ignored") {
  const ConnectionOptions options =
      connection_options(fields_of({{"Connection", " ,,close, ,\t, x-a,"}, {"Connection", ""}}));
  CHECK(options.close);
  CHECK(options.name_count == 1);
  CHECK_FALSE(options.name(""));
}

TEST_CASE("the options with a meaning of their own are found") {
  const ConnectionOptions options =
      connection_options(fields_of({{"Connection", "Keep-Alive, UPGRADE"}}));
  CHECK(options.keep_alive);
  CHECK(options.upgrade);
  CHECK_FALSE(options.close);
  CHECK(options.name_count == 0);
}

TEST_CASE("a message that names more than sixteen fields is reported, repeated names count once") {
  const auto options_of = [](int count, int repeats) {
    std::string list;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (int i = 0; i < count; ++i)
        list += "x-" + std::to_string(i) + ",";
    }
    const auto fields = fields_of({{"Connection", list}});
    return connection_options(fields).too_many;
  };
  CHECK_FALSE(options_of(16, 3));
  CHECK(options_of(17, 1));
}

TEST_CASE("B12: persistence") {
  struct Row {
    std::uint8_t version_minor;
    const char* connection;
    bool closes;
  };
  const Row rows[] = {{1, "", false},     {1, "keep-alive", false},
                      {1, "close", true}, {1, "keep-alive, close", true},
                      {1, "x-a", false},  {0, "", true},
                      {0, "close", true}, {0, "Keep-Alive", false},
                      {0, "x-a", true},   {0, "keep-alive, close", true}};
  for (const Row& row : rows) {
    INFO(int{row.version_minor} << ' ' << row.connection);
    CHECK(wants_close(row.version_minor, connection_options(fields_of(
                                             {{"Connection", row.connection}}))) == row.closes);
  }
}

TEST_CASE("P7: trailers carry no framing, routing, authentication or content format") {
  for (const char* name : {"Content-Length", "transfer-encoding", "Host", "Authorization", "Cookie",
                           "Set-Cookie", "Content-Type", "TE", "X-Forwarded-For", "RateLimit",
                           "RateLimit-Policy", "If-Match", "Content_Length", "x_forwarded-for",
                           "X-Original-URL", "SSL-Client-Verify", "x_ssl.client_cert", "Proxy"}) {
    INFO(name);
    CHECK(is_forbidden_in_trailers(fields_of({{name, "1"}})[0]));
  }
  for (const char* name : {"X-Checksum", "ETag", "Server-Timing", "grpc-status", "Content-MD5",
                           "Hosts", "Te-", "Proxy-Status", "X-Host-Name", "SSL-Clients"}) {
    INFO(name);
    CHECK_FALSE(is_forbidden_in_trailers(fields_of({{name, "1"}})[0]));
  }
}

}  // namespace
}  // namespace weir::http
