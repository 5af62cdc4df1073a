#include "http/forwarded_head.hpp"

#include "catch.hpp"
#include "http/head_parser.hpp"
#include "unit/http/lines_of.hpp"

using namespace weir::http;
using weir::IpAddress;

namespace {

const FieldGuard forwarded_guard{{.client_field = "cf-connecting-ip"}};

/// A request whose head is `text`, ready to be forwarded.
struct Forwarded {
  explicit Forwarded(std::string text) : head(std::move(text)) {
    const auto line = parse_request_head(head, request.fields);
    REQUIRE(line.has_value());
    request.view.method = line->method;
    request.view.target = line->target;
    request.view.version_minor = static_cast<std::uint8_t>(line->version % 10);
    request.view.fields = request.fields;
    request.connection = connection_options(request.fields);
    client.keep_alive = !wants_close(request.view.version_minor, request.connection);
    client.version_minor = request.view.version_minor;
    const auto framing = request_framing(request.view);
    REQUIRE(framing.has_value());
    request.framing = *framing;
    request.is_framed = true;
    request.peer = IpAddress::v4({192, 0, 2, 7});
  }
  std::string to_upstream(bool trusted = false) {
    std::string out;
    request.peer_is_trusted = trusted;
    append_request_head(out, request,
                        {.guard = forwarded_guard,
                         .via = "weir-1",
                         .authority = "up.example",
                         .target = target,
                         .edits = edits,
                         .wants_identity_coding = wants_identity_coding});
    return out;
  }
  std::string to_client(const std::string& response, bool& chunk) {
    std::vector<FieldView> fields;
    const auto line = parse_response_head(response, fields);
    REQUIRE(line.has_value());
    const auto connection = connection_options(fields);
    const auto body = response_framing(request.view.method, line->status,
                                       static_cast<std::uint8_t>(line->version % 10), fields);
    REQUIRE(body.has_value());
    std::string out;
    append_response_head(
        out,
        {.line = *line, .fields = fields, .connection = connection, .body = *body, .edits = edits},
        client, "Sun, 06 Nov 1994 08:49:37 GMT");
    chunk = is_chunked_for(client, body->kind);
    return out;
  }

  std::string head;
  ReceivedRequest request;
  ClientHop client;
  std::string target;  ///< in place of that of the head
  const FieldEdits* edits = nullptr;
  bool wants_identity_coding = false;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("H1 H3: fields of this hop stay here, all others go on in their order") {
  Forwarded request(
      "POST /a//b/../c?%41=%zz HTTP/1.1\r\nHost: api.example:81\r\nConnection: X-A, close\r\nX-A: "
      "1\r\nX-B: 2\r\n"
      "Keep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\nUpgrade: h2c\r\nX-B: "
      "3\r\nContent-Length: 4\r\n\r\n");
  CHECK(request.to_upstream() ==
        "POST /a//b/../c?%41=%zz HTTP/1.1\r\nHost: api.example:81\r\nX-B: 2\r\nX-B: "
        "3\r\nContent-Length: 4\r\n"
        "Via: 1.1 weir-1\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: "
        "http\r\nX-Forwarded-Host: api.example:81\r\n\r\n");
}

TEST_CASE("the id of a request goes to both sides, and replaces what they sent") {
  Forwarded request("GET / HTTP/1.1\r\nHost: a\r\nx-request-id: theirs\r\nX-B: 1\r\n\r\n");
  request.request.id = "id-1";
  CHECK(request.to_upstream() ==
        "GET / HTTP/1.1\r\nHost: a\r\nX-B: 1\r\nVia: 1.1 weir-1\r\nX-Forwarded-For: "
        "192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\nX-Request-Id: "
        "id-1\r\n\r\n");
  request.client.request_id = "id-1";
  const FieldSection limit{{"RateLimit", "l"}};
  request.client.limit_fields = &limit;
  bool chunk = false;
  CHECK(request.to_client("HTTP/1.1 204 No Content\r\nDate: d\r\nX-REQUEST-ID: its own\r\n\r\n",
                          chunk) ==
        "HTTP/1.1 204 No Content\r\nDate: d\r\nRateLimit: l\r\nX-Request-Id: "
        "id-1\r\n\r\n");
}

TEST_CASE("a traceparent made here replaces the trace of the client, unless a route edits it") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nTraceParent: bad\r\ntracestate: a=b\r\n\r\n";
  Forwarded request(text);
  CHECK(contains(request.to_upstream(), "TraceParent: bad\r\ntracestate: a=b\r\n"));
  request.request.traceparent = "00-own-01";
  const std::string head = request.to_upstream();
  CHECK(contains(head, "traceparent: 00-own-01\r\n"));
  CHECK_FALSE(contains(head, "bad"));
  CHECK_FALSE(contains(head, "tracestate"));
  request.request.continues_trace = true;
  CHECK(contains(request.to_upstream(), "tracestate: a=b\r\n"));
  CHECK_FALSE(contains(request.to_upstream(), "bad"));
  const FieldEdits sets({{"traceparent", "fixed"}}, {}, {});
  request.edits = &sets;
  CHECK(contains(request.to_upstream(), "traceparent: fixed\r\n"));
  CHECK_FALSE(contains(request.to_upstream(), "00-own-01"));
  const FieldEdits removes({}, {}, {"traceparent"});
  request.edits = &removes;
  CHECK_FALSE(contains(request.to_upstream(), "traceparent"));
}

TEST_CASE("a route that sets X-Request-Id sends its own value") {
  const FieldEdits edits({{"x-request-id", "fixed"}}, {}, {});
  Forwarded request("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: theirs\r\n\r\n");
  request.request.id = "id-1";
  request.edits = &edits;
  const std::string head = request.to_upstream();
  CHECK(contains(head, "x-request-id: fixed\r\n"));
  CHECK_FALSE(contains(head, "id-1"));
  CHECK_FALSE(contains(head, "theirs"));
  request.client.request_id = "id-1";
  bool chunk = false;
  const std::string answer = request.to_client("HTTP/1.1 204 No Content\r\nDate: d\r\n\r\n", chunk);
  CHECK(contains(answer, "x-request-id: fixed\r\n"));
  CHECK_FALSE(contains(answer, "id-1"));
}

TEST_CASE("forwarding fields of an untrusted peer are dropped, those of a trusted one are kept") {
  Forwarded request(
      "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.1\r\nx-forwarded-for: "
      "10.0.0.2\r\nX-Forwarded-Proto: https\r\n"
      "X-Forwarded-Host: public.example\r\nForwarded: for=10.0.0.1\r\n\r\n");
  const std::string untrusted = request.to_upstream(false);
  CHECK(contains(untrusted, "X-Forwarded-For: 192.0.2.7\r\n"));
  CHECK(contains(untrusted, "X-Forwarded-Proto: http\r\n"));
  CHECK(contains(untrusted, "X-Forwarded-Host: a\r\n"));
  CHECK_FALSE(contains(untrusted, "10.0.0."));
  const std::string trusted = request.to_upstream(true);
  CHECK(contains(trusted, "X-Forwarded-For: 10.0.0.1, 10.0.0.2, 192.0.2.7\r\n"));
  CHECK(contains(trusted, "X-Forwarded-Proto: https\r\n"));
  CHECK(contains(trusted, "X-Forwarded-Host: public.example\r\n"));
  CHECK(contains(trusted, "Forwarded: for=10.0.0.1\r\n"));
}

TEST_CASE(
    "what only a trusted peer may say about another request or client is dropped if another says "
    "it") {
  for (const char* name :
       {"X-Forwarded-Port", "x-forwarded-uri", "X-Forwarded-Method", "X-Forwarded-Prefix",
        "X-Original-URI", "X-ORIGINAL-METHOD", "X-Real-IP", "CF-Connecting-IP"}) {
    INFO(name);
    const std::string line = std::string(name) + ": said\r\n";
    Forwarded request("GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n");
    CHECK_FALSE(contains(request.to_upstream(false), "said"));
    CHECK(contains(request.to_upstream(true), line));
  }
  Forwarded others(
      "GET / HTTP/1.1\r\nHost: a\r\nX-Forwardeds: 1\r\nX-Originals: 2\r\nX-Real: 3\r\n\r\n");
  CHECK(contains(others.to_upstream(false), "X-Forwardeds: 1\r\nX-Originals: 2\r\nX-Real: 3\r\n"));
}

TEST_CASE("H8 H16: Via names the version received, our own version goes out") {
  Forwarded request("GET / HTTP/1.0\r\nVia: 1.0 other\r\n\r\n");
  const std::string head = request.to_upstream();
  CHECK(contains(head, "GET / HTTP/1.1\r\nHost: up.example\r\n"));
  CHECK(contains(head, "Via: 1.0 other\r\nVia: 1.0 weir-1\r\n"));
}

TEST_CASE("a chunked request goes on chunked") {
  Forwarded request("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string head = request.to_upstream();
  CHECK(contains(head, "Transfer-Encoding: chunked\r\n\r\n"));
  CHECK(head.find("Transfer-Encoding") == head.rfind("Transfer-Encoding"));
}

TEST_CASE("H18: Max-Forwards of OPTIONS is one less") {
  const auto line = [](const std::string& method, const std::string& value) {
    const std::string head =
        Forwarded(method + " / HTTP/1.1\r\nHost: a\r\nMax-Forwards: " + value + "\r\n\r\n")
            .to_upstream();
    const auto at = head.find("Max-Forwards: ");
    return head.substr(at, head.find('\r', at) - at);
  };
  CHECK(line("OPTIONS", "3") == "Max-Forwards: 2");
  CHECK(line("GET", "3") == "Max-Forwards: 3");
}

TEST_CASE("P7: TE is sent if the client sent it for this hop") {
  const std::string both = "GET / HTTP/1.1\r\nHost: a\r\nTE: gzip, trailers\r\nConnection: te\r\n";
  CHECK(contains(Forwarded(both + "\r\n").to_upstream(), "TE: trailers\r\nConnection: TE\r\n"));
  CHECK_FALSE(contains(Forwarded("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n").to_upstream(),
                       "TE:"));
}

TEST_CASE("E1: an expectation of HTTP/1.0 is not passed on") {
  CHECK_FALSE(
      contains(Forwarded("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
                   .to_upstream(),
               "Expect"));
  CHECK(contains(
      Forwarded("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
          .to_upstream(),
      "Expect"));
}

TEST_CASE("H2 H6 H15: an answer keeps its lines, loses its hop and gains a Date and the limits") {
  Forwarded request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const FieldSection limit{{"RateLimit", "\"p\";r=1"}};
  request.client.limit_fields = &limit;
  bool chunk = true;
  CHECK(request.to_client("HTTP/1.0 200 Fine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: "
                          "x-h\r\nX-H: 1\r\nContent-Length: 3\r\n\r\n",
                          chunk) ==
        "HTTP/1.1 200 Fine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 3\r\nDate: Sun, 06 "
        "Nov 1994 08:49:37 GMT\r\n"
        "RateLimit: \"p\";r=1\r\n\r\n");
  CHECK_FALSE(chunk);
}

TEST_CASE("Weir's limit fields replace the upstream's of the same name") {
  const std::string response =
      "HTTP/1.1 200 OK\r\nDate: d\r\nRATELIMIT: \"up\";r=9\r\nRateLimit-Limit: 9\r\n"
      "X-RateLimit-Limit: 8\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
  Forwarded request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  bool chunk = false;
  CHECK(request.to_client(response, chunk) ==
        "HTTP/1.1 200 OK\r\nDate: d\r\nRATELIMIT: \"up\";r=9\r\nRateLimit-Limit: 9\r\n"
        "X-RateLimit-Limit: 8\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
  const FieldSection limit{{"RateLimit", "\"p\";r=1"}, {"RateLimit-Limit", "2"}};
  request.client.limit_fields = &limit;
  CHECK(request.to_client(response, chunk) ==
        "HTTP/1.1 200 OK\r\nDate: d\r\nX-RateLimit-Limit: 8\r\nRetry-After: 7\r\n"
        "Content-Length: 0\r\nRateLimit: \"p\";r=1\r\nRateLimit-Limit: 2\r\n\r\n");
}

TEST_CASE(
    "P5: a body without length is chunked for HTTP/1.1 and ends with the connection for HTTP/1.0") {
  const std::string until_close = "HTTP/1.1 200 OK\r\nDate: d\r\n\r\n";
  const std::string chunked = "HTTP/1.1 200 OK\r\nDate: d\r\nTransfer-Encoding: chunked\r\n\r\n";
  bool chunk = false;
  for (const auto& response : {until_close, chunked}) {
    Forwarded current("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(current.to_client(response, chunk) ==
          "HTTP/1.1 200 OK\r\nDate: d\r\nTransfer-Encoding: chunked\r\n\r\n");
    CHECK(chunk);
    Forwarded old("GET / HTTP/1.0\r\n\r\n");
    CHECK(old.to_client(response, chunk) ==
          "HTTP/1.1 200 OK\r\nDate: d\r\nConnection: close\r\n\r\n");
    CHECK_FALSE(chunk);
  }
}

TEST_CASE("P1: lengths of answers without a body") {
  bool chunk = true;
  Forwarded head("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(contains(head.to_client("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", chunk),
                 "Content-Length: 5\r\n"));
  CHECK_FALSE(chunk);
  Forwarded get("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(contains(get.to_client("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", chunk),
                 "Content-Length: 5\r\n"));
  CHECK_FALSE(contains(get.to_client("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", chunk),
                       "Content-Length"));
}

TEST_CASE("a route replaces the target, the Host and other fields of a request") {
  const FieldEdits edits({{"Host", "in.example"}, {"X-A", "set"}}, {{"x-b", "added"}}, {"x-c"});
  const std::string rest =
      "Host: in.example\r\nX-A: set\r\nx-b: added\r\nVia: 1.1 weir-1\r\nX-Forwarded-For: "
      "192.0.2.7\r\nX-Forwarded-Proto: http\r\n";
  Forwarded request(
      "GET /api/x?q HTTP/1.1\r\nHost: a\r\nx-a: 1\r\nX-A: 2\r\nX-B: own\r\nX-C: 3\r\n\r\n");
  request.edits = &edits;
  request.target = "/x?q";
  CHECK(request.to_upstream() ==
        "GET /x?q HTTP/1.1\r\nX-B: own\r\n" + rest + "X-Forwarded-Host: a\r\n\r\n");
  Forwarded old("GET / HTTP/1.0\r\n\r\n");
  old.edits = &edits;
  CHECK_FALSE(contains(old.to_upstream(), "up.example"));
  CHECK(contains(old.to_upstream(), "\r\nHost: in.example\r\n"));
}

TEST_CASE("a server of HTTP/2 gets the same fields, beside those about the connection") {
  Forwarded forwarded(
      "PUT /a?b HTTP/1.1\r\nHost: api.example\r\nX-One: 1\r\nConnection: te, x-hop\r\nTE: "
      "trailers\r\n"
      "X-Hop: 2\r\nX-Forwarded-For: 192.0.2.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  forwarded.request.id = "0198";
  const FieldEdits edits({{"Host", "inner.example"}}, {}, {});
  if (GENERATE(false, true)) forwarded.edits = &edits;
  std::string expected = forwarded.to_upstream(true);
  expected.erase(0, expected.find("\r\n") + 2);
  for (const char* const line :
       {"Connection: TE\r\n", "Transfer-Encoding: chunked\r\n", "\r\n\r\n"})
    expected.erase(expected.find(line), std::string_view(line).size());
  expected += "\r\n";
  FieldSection fields;
  const auto pseudo = add_request_fields(fields, forwarded.request,
                                         {.guard = forwarded_guard,
                                          .via = "weir-1",
                                          .authority = "up.example",
                                          .edits = forwarded.edits});
  CHECK(iequals(lines_of(fields), expected));
  CHECK(pseudo.method == "PUT");
  CHECK(pseudo.path == "/a?b");
  CHECK(pseudo.authority == (forwarded.edits == nullptr ? "api.example" : "inner.example"));
}

TEST_CASE("a response that is read is asked for without content coding") {
  Forwarded request(
      "GET / HTTP/1.1\r\nHost: a\r\naccept-encoding: gzip, br\r\nAccept: */*\r\n\r\n");
  CHECK(contains(request.to_upstream(), "\r\naccept-encoding: gzip, br\r\n"));
  request.wants_identity_coding = true;
  const std::string sent = request.to_upstream();
  CHECK(contains(sent, "\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"));
  CHECK_FALSE(contains(sent, "gzip"));
}

TEST_CASE("a route changes the fields of final, interim and switching responses") {
  const FieldEdits edits({{"X-A", "set"}}, {{"x-b", "added"}}, {"x-c"});
  Forwarded request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  request.edits = &edits;
  bool chunk = false;
  CHECK(request.to_client(
            "HTTP/1.1 304 Not Modified\r\nDate: d\r\nx-a: 1\r\nX-B: 2\r\nX-C: 3\r\n\r\n", chunk) ==
        "HTTP/1.1 304 Not Modified\r\nDate: d\r\nX-B: 2\r\nX-A: set\r\nx-b: added\r\n\r\n");
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nx-a: 1\r\nX-B: 2\r\nX-C: 3\r\n\r\n";
  std::vector<FieldView> fields;
  auto line = parse_response_head(interim, fields);
  REQUIRE(line.has_value());
  std::string out;
  append_interim_head(
      out, {.line = *line, .fields = fields, .connection = {}, .body = {}, .edits = &edits});
  CHECK(out == "HTTP/1.1 103 Early Hints\r\nX-B: 2\r\n\r\n");
  const std::string switching =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nx-a: "
      "1\r\nX-C: 3\r\n\r\n";
  line = parse_response_head(switching, fields);
  REQUIRE(line.has_value());
  out.clear();
  const FieldSection limit{{"RateLimit", "l"}};
  append_switching_head(out,
                        {.line = *line,
                         .fields = fields,
                         .connection = connection_options(fields),
                         .body = {},
                         .edits = &edits},
                        {.limit_fields = &limit});
  CHECK(out ==
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX-A: set\r\nx-b: "
        "added\r\nRateLimit: l\r\nConnection: upgrade\r\n\r\n");
}
