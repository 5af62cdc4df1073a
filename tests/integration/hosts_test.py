"""Requests without a usable host, and bytes in a target that services read in different ways."""

from harness.asking import DECIDING
from harness.case import Case, configuration
from harness.wire import HOST, WireCase, get

LIMIT = [{"policy": "p", "key": "client"}]
POLICIES = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}


class Hosts(Case):
    def begin(self, *routes, **sections):
        self.up = self.upstream()
        self.weir = self.start(configuration(
            upstreams={"main": {"servers": [{"url": self.up.url}]}}, policies=POLICIES,
            routes=list(routes), **sections))
        self.client = self.connect(self.weir)

    def ask(self, head, client=None):
        client = client or self.connect(self.weir)
        client.send(head)
        return client.read()

    def test_without_a_host_no_request_gets_past_the_routes_of_hosts(self):
        for host in ("api.test", "*.test"):
            self.begin({"match": {"path": "/health"}, "respond": {"body": "fine"}},
                       {"match": {"host": host, "path": "/v1/**"}, "upstream": "main",
                        "limits": LIMIT},
                       {"match": {"path": "/**"}, "upstream": "main"})
            for head in (b"GET /v1/a HTTP/1.0\r\n\r\n", b"GET /v1/../v1/a HTTP/1.0\r\nX: y\r\n\r\n"):
                with self.subTest(host=host, head=head):
                    self.assert_problem(self.ask(head), 400, "Host")
            self.assertEqual(self.up.requests, [])
            # Earlier routes without a host serve it, and later ones if no route of a host matches.
            self.assertEqual(self.ask(b"GET /health HTTP/1.0\r\n\r\n").body, b"fine")
            self.assertEqual(self.ask(b"GET /v2 HTTP/1.0\r\n\r\n").status, 200)
            self.assertEqual(self.ask(b"GET http://a.api.test/v1/a HTTP/1.0\r\n\r\n").status, 200)
            self.assertEqual([request.target for request in self.up.requests], ["/v2", "/v1/a"])

    def test_a_route_of_a_host_that_does_not_match_otherwise_refuses_nothing(self):
        self.begin({"match": {"host": "api.test", "methods": ["POST"]}, "upstream": "main"},
                   {"match": {"host": "api.test", "headers": {"x-beta": "1"}}, "upstream": "main"},
                   {"match": {"path": "/**"}, "respond": {"body": "rest"}})
        self.assertEqual(self.ask(b"GET / HTTP/1.0\r\n\r\n").body, b"rest")
        self.assert_problem(self.ask(b"POST / HTTP/1.0\r\n\r\n"), 400, "Host")
        self.assert_problem(self.ask(b"GET / HTTP/1.0\r\nX-Beta: 1\r\n\r\n"), 400, "Host")

    def test_a_refused_request_is_not_charged(self):
        self.begin({"match": {"host": "api.test"}, "upstream": "main", "limits": LIMIT})
        for _ in range(3):
            self.assertEqual(self.ask(b"GET / HTTP/1.0\r\n\r\n").status, 400)
        self.assertEqual(self.client.get("/", {"Host": "api.test"}).status, 200)
        self.assertEqual(self.client.get("/", {"Host": "api.test"}).status, 429)

    def test_the_original_request_needs_a_host_too(self):
        decide = {"decide": True, "limits": LIMIT}
        self.begin({"match": {"host": "api.test", "path": "/v1/**"}, **decide},
                   {"match": {"path": "/**"}, "decide": True}, **DECIDING)
        about = b"GET /ask HTTP/1.0\r\nX-Original-URI: /v1/a\r\n"
        self.assert_problem(self.ask(about + b"\r\n"), 400, "Host")
        statuses = [self.ask(about + b"X-Forwarded-Host: api.test\r\n\r\n").status
                    for _ in range(2)]
        self.assertEqual(statuses, [200, 429])
        self.assertEqual(self.ask(b"GET /ask HTTP/1.0\r\nX-Original-URI: /v2\r\n\r\n").status, 200)

    def test_an_original_host_is_judged_alike(self):
        self.begin({"match": {"path": "/**"}, "decide": True}, **DECIDING)
        for host in ("a..b", "api.test,x", "api.test, other.test"):
            answer = self.client.get("/", {"X-Original-URI": "/", "X-Forwarded-Host": host})
            self.assert_problem(answer, 400, "original host")

    def test_one_dot_at_the_end_is_the_same_host(self):
        for name in ("api.example.com", "api.example.com."):
            self.begin({"match": {"host": name}, "respond": {"body": "api"}},
                       {"match": {"path": "/**"}, "respond": {"body": "rest"}})
            for host in ("api.example.com.", "API.example.com.:80", "api.example.com"):
                self.assertEqual(self.client.get("/", {"Host": host}).body, b"api", (name, host))


class RawBytes(WireCase):
    """By default bytes from 0x80 and the backslash are refused; percent-encoded they pass."""

    def test_they_are_refused(self):
        for target in (b"/caf\xe9", b"/..\\login"):
            with self.subTest(target=target):
                self.assert_refused(get(target=target))
        detail = self.through(get(target=b"/caf\xc3\xa9")).response.json()["detail"]
        self.assertIn("percent-encode", detail)

    def test_percent_encoded_they_pass(self):
        for target in (b"/caf%C3%A9?q=%ff", b"/a?%5C", b"/|\"<>^`{}"):
            self.assertEqual(self.assert_passed(get(target=target)).line.split()[1], target)


class RawBytesThatMayPass(WireCase):
    sections = {"downstream": {"raw_target_bytes": "pass"}}

    def test_they_reach_the_service_as_they_are(self):
        for target in (b"/\xc3\xa9?\xff|\"<>\\^`{}", b"/caf\xe9", b"/a\\b", b"/?\x80\\"):
            with self.subTest(target=target):
                seen = self.assert_passed(get(target=target))
                self.assertEqual(seen.line, b"GET " + target + b" HTTP/1.1")

    def test_what_is_never_in_a_target_stays_out(self):
        for target in (b"/a\x7fb", b"/a#b", b"/a\x01", b"\xc3\xa9", b"http://\xc3\xa9/"):
            self.assert_refused(get(target=target))


class RawBytesOfAnOriginalRequest(Case):
    def ask(self, target, **downstream):
        weir = self.start(configuration(
            routes=[{"match": {"path": "/**"}, "decide": True}], downstream=downstream, **DECIDING))
        return self.connect(weir).get("/ask", {"X-Original-URI": target.decode("latin-1")})

    def test_they_are_refused_unless_they_may_pass(self):
        for target in (b"/caf\xc3\xa9", b"/a\\b", b"/?\xff"):
            self.assert_problem(self.ask(target), 400, "percent-encode")
            self.assertEqual(self.ask(target, raw_target_bytes="pass").status, 200)


class TooLong(WireCase):
    def test_a_method_that_does_not_end_is_501(self):
        seen = self.through(b"M" * 100_000 + b" / HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assert_problem(seen.response, 501)
